// as: host
#include "options.hpp"

#include <CLI/CLI.hpp>
#include <cstdlib>

options parse_options(int argc, char** argv) {
  options o;
  CLI::App app("The flow through a channel with round obstacles, by the lattice Boltzmann method on all devices.");
  app.option_defaults()->always_capture_default();
  const auto size = CLI::Range(8, 1 << 20);
  app.add_option("--rows", o.rows, "Cells across the channel")->check(size)->default_str("4096, or 180 without GPUs");
  app.add_option("--columns", o.columns, "Cells along it")->check(size)->default_str("twice as many, or 480");
  app.add_option("--grid", o.grid, "Devices across the channel and along it, such as 2x2")
      ->delimiter('x')
      ->expected(2)
      ->check(CLI::Range(1, 1 << 20))
      ->default_str("all across it");
  app.add_option("--steps", o.steps, "How many")->check(CLI::Range(1, 1000000000));
  app.add_option("--picture", o.picture, "Write the vorticity after the last step to this PNG file");
  app.add_flag("--check", o.check, "Repeat the run serially on the CPU: all bits must be equal");
  app.add_flag("--quiet", o.quiet, "Print nothing unless something is wrong");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    std::exit(app.exit(e) == 0 ? 0 : 2);
  }
  return o;
}
