// A user's smallest program.
#include <ferry/ferry.hpp>

int main() { return ferry::devices().empty() ? 1 : 0; }
