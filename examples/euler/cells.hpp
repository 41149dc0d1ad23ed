// The tables of the solver: neighbours, normals and areas of the cells of a mesh.
#pragma once
#include <span>
#include <vector>

#include "mesh.hpp"

struct cells {
  std::vector<int> neighbours;  // 3 a cell: another cell, or a kind of boundary
  std::vector<double> normals;  // 6 a cell: x and y of each side's normal, as long as the side
  std::vector<double> areas;
  std::size_t size() const { return areas.size(); }
};

// Cell i is triangle order[i] of the mesh.
cells cells_of(const mesh& m, std::span<const int> order);
