// The command line of the Euler solver.
#pragma once
#include <cstddef>
#include <string>

struct options {
  std::string mesh;
  int refine = -1;  // -1: chosen for the devices
  std::size_t steps = 1000;
  double mach = 3, courant = 0.5;
  std::string order = "hilbert", picture, values;
  bool check = false, quiet = false;
};

// Exits with a message and status 2 if the arguments are invalid. Also exits after --help.
options parse_options(int argc, char** argv);
