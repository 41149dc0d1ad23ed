// The command line of the flood.
#pragma once
#include <cstddef>
#include <string>

struct options {
  std::string terrain, out = ".";
  std::size_t refine = 4, steps = 80, devices = 64;
  double rain = 150;  // mm, in the first half of the time
  bool check = true, quiet = false;
};

// Exits with a message and status 2 if the arguments are invalid. Also exits after --help.
options parse_options(int argc, char** argv);
