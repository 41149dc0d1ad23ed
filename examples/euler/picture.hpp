// A picture of a value of each triangle of a mesh.
#pragma once
#include <span>
#include <string>

#include "mesh.hpp"

// Writes a PNG file: the least value is violet, the greatest one yellow, what is outside of the mesh grey. Value i is
// that of triangle order[i]. Throws ferry::error if the file cannot be written.
void write_picture(const std::string& file, const mesh& m, std::span<const int> order, std::span<const double> values);
