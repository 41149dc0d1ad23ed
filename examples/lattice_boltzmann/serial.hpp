// The same solver on one core, to compare results with.
#pragma once
#include <vector>

#include "channel.hpp"

// Returns the populations after some steps, as {9, rows, columns} in row-major order.
std::vector<double> solve_serially(const channel& c, std::size_t steps);
