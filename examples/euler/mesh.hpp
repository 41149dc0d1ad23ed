// A mesh of triangles, with the names of its boundary.
#pragma once
#include <array>
#include <string>
#include <vector>

struct mesh {
  struct point {
    double x, y;
  };
  struct side {
    std::array<int, 2> ends;
    int kind;  // as in euler::boundary
  };
  using triangle = std::array<int, 3>;  // points, counter-clockwise

  std::vector<point> points;
  std::vector<triangle> triangles;
  std::vector<side> boundary;
  // For each triangle what is behind its three sides: another triangle, or a kind of boundary. Side k is from corner k
  // to the next one.
  std::vector<triangle> neighbours;
};

// Reads a file in Gmsh's ASCII format 2.2. Sides at the boundary are lines with the physical names inflow, outflow and
// wall. Throws ferry::invalid_argument, with the file's name, if it is no such mesh.
mesh read_mesh(const std::string& file);

// Divides each triangle into four of the same shape.
mesh refined(const mesh& coarse);

// The numbers of the triangles, 0, 1, ...
std::vector<int> file_order(const mesh& m);

// The triangles in the order of a Hilbert curve through their centres: parts of it are compact, and have few
// neighbours.
std::vector<int> hilbert_order(const mesh& m);

// Finds the neighbours of all triangles, from the points and the boundary. Throws ferry::invalid_argument if more than
// two triangles share a side, or if a side has neither a second triangle nor a kind of boundary. For read_mesh and
// refined.
void connect(mesh& m);
