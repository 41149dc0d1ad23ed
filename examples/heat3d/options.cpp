// as: host
#include "options.hpp"

#include <CLI/CLI.hpp>
#include <cstdlib>

options parse_options(int argc, char** argv) {
  options o;
  CLI::App app("The heat equation in a block, on all devices.");
  app.option_defaults()->always_capture_default();
  app.add_option("--size", o.size, "Cells along each axis, such as 512x512x512")
      ->delimiter('x')
      ->expected(3)
      ->check(CLI::Range(2, 1 << 20))
      ->default_str("512x512x512, or 48x40x36 without GPUs");
  app.add_option("--axes", o.axes, "The block is cut along so many axes")->check(CLI::Range(1, 3));
  app.add_option("--grid", o.grid, "Devices along the first axes, such as 2x2")
      ->delimiter('x')
      ->expected(1, 3)
      ->check(CLI::Range(1, 1 << 20))
      ->default_str("chosen for the axes");
  app.add_option("--steps", o.steps, "How many")->check(CLI::Range(1, 1000000000));
  app.add_flag("--check", o.check, "Repeat the run serially on the CPU: all bits must be equal");
  app.add_flag("--quiet", o.quiet, "Print nothing unless something is wrong");
  try {
    app.parse(argc, argv);
    if (!o.grid.empty()) o.axes = o.grid.size();
  } catch (const CLI::ParseError& e) {
    std::exit(app.exit(e) == 0 ? 0 : 2);
  }
  return o;
}
