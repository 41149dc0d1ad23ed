// C++ only, however ferry was built.
#include <ferry/ferry.hpp>

int main() { return ferry::devices().empty() ? 1 : 0; }
