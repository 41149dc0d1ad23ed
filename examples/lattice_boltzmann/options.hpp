// The command line of the lattice Boltzmann solver.
#pragma once
#include <cstddef>
#include <string>
#include <vector>

struct options {
  std::size_t rows = 0, columns = 0;  // 0: chosen for the devices
  std::vector<std::ptrdiff_t> grid;   // devices along rows and columns; empty: all along the rows
  std::size_t steps = 1000;
  std::string picture;
  bool check = false, quiet = false;
};

// Exits with a message and status 2 if the arguments are invalid. Also exits after --help.
options parse_options(int argc, char** argv);
