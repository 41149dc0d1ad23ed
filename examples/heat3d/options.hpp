// The command line of the heat equation.
#pragma once
#include <cstddef>
#include <vector>

struct options {
  std::vector<std::size_t> size;     // cells along each axis; empty: chosen for the devices
  std::size_t axes = 1;              // the block is cut along the first ones
  std::vector<std::ptrdiff_t> grid;  // devices along each of them; empty: chosen
  std::size_t steps = 200;
  bool check = false, quiet = false;
};

// Exits with a message and status 2 if the arguments are invalid. Also exits after --help.
options parse_options(int argc, char** argv);
