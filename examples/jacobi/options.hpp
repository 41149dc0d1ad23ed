#pragma once
#include <cstddef>

struct options {
  std::size_t rows = 20480, columns = 20480, iterations = 1000, devices = 64, report = 100;
  bool check = false, threads = false, quiet = false;
};

// Exits with a message, and status 2, where the arguments do not parse; and after --help.
options parse_options(int argc, char** argv);
