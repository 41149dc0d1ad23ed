#pragma once
#include <cstddef>

struct options {
  std::size_t rows = 0, columns = 0;  // 0: what suits the devices
  std::size_t iterations = 1000, devices = 64, report = 100;
  bool check = false, threads = false, quiet = false;
};

// Exits with a message, and status 2, where the arguments do not parse; and after --help.
options parse_options(int argc, char** argv);
