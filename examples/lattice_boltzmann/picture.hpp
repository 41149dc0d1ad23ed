// A picture of the vorticity of a flow.
#pragma once
#include <string>
#include <vector>

#include "channel.hpp"

// Writes a PNG file: red turns to the left, blue to the right, obstacles are grey. velocity: {2, rows, columns}, to the
// right and down. Throws ferry::error if the file cannot be written.
void write_vorticity(const std::string& file, const channel& c, const std::vector<double>& velocity);
