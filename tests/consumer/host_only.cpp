// C++ only, whatever ferry was built with.
#include <ferry/ferry.hpp>

int main() { return ferry::devices().empty() ? 1 : 0; }
