// The command line of the Jacobi solver.
#pragma once
#include <cstddef>

struct options {
  std::size_t rows = 0, columns = 0;  // 0: chosen for the devices
  std::size_t iterations = 1000, devices = 64, report = 100;
  bool check = false, threads = false, quiet = false;
};

// Exits with a message and status 2 if the arguments are invalid. Also exits after --help.
options parse_options(int argc, char** argv);
