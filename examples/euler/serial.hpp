// The same solver on one core, to compare results with.
#pragma once
#include <vector>

#include "cells.hpp"

struct serial_result {
  std::vector<double> states;  // 4 a cell
  double time;
};

// Advances all cells, which start with the inflow at a Mach number, by some time steps.
serial_result solve_serially(const cells& c, double mach, double courant, std::size_t steps);
