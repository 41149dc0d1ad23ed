// as: host
#include "options.hpp"

#include <CLI/CLI.hpp>
#include <cstdlib>

options parse_options(int argc, char** argv) {
  options o;
  const char* data = std::getenv("FERRY_EXAMPLES_DATA");
  o.mesh = std::string(data ? data : "examples/data") + "/wedge.msh";

  CLI::App app("The flow of a gas on a mesh of triangles, by the Euler equations, on all devices.");
  app.option_defaults()->always_capture_default();
  app.add_option("--mesh", o.mesh, "Triangles, a file of Gmsh's ASCII format 2.2");
  app.add_option("--refine", o.refine, "How often each triangle is divided into four")
      ->check(CLI::Range(0, 8))
      ->default_str("4, or 0 without GPUs");
  app.add_option("--order", o.order, "Of the cells: along a Hilbert curve, or that of the file")
      ->check(CLI::IsMember({"hilbert", "file"}));
  app.add_option("--steps", o.steps, "How many")->check(CLI::Range(1, 1000000000));
  app.add_option("--mach", o.mach, "Velocity of the inflow, in its speeds of sound")->check(CLI::Range(0.0, 20.0));
  app.add_option("--courant", o.courant, "Time step, as a part of the time in which waves cross a cell")
      ->check(CLI::Range(1e-3, 1.0));
  app.add_option("--picture", o.picture, "Write the density after the last step to this PNG file");
  app.add_option("--values", o.values, "Write x, y and density of each cell after the last step to this file");
  app.add_flag("--check", o.check, "Repeat the run serially on the CPU: all bits must be equal");
  app.add_flag("--quiet", o.quiet, "Print nothing unless something is wrong");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    std::exit(app.exit(e) == 0 ? 0 : 2);
  }
  return o;
}
