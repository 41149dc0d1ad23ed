// The error of a program started by a launcher as one of several processes, if ferry was built without MPI.
#include <cstdio>

#include "ferry/core/error.hpp"
#include "processes/processes.hpp"

int main() {
  try {
    if (ferry::detail::processes::world()) return std::puts("there are processes"), 1;
  } catch (const ferry::not_supported& e) {
    return std::puts(e.what()), 0;
  }
  std::puts("alone");
}
