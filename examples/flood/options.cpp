// as: host
#include "options.hpp"

#include <CLI/CLI.hpp>
#include <cstdlib>

options parse_options(int argc, char** argv) {
  options o;
  const char* data = std::getenv("FERRY_EXAMPLES_DATA");
  o.terrain = std::string(data ? data : "examples/data") + "/jacksboro_elevation.npy";

  CLI::App app("Rain falls on real terrain and runs downhill, on all devices. Writes flood.png and flood.npy.");
  app.option_defaults()->always_capture_default();
  app.add_option("--refine", o.refine, "Times as many points in each direction")->check(CLI::Range(1, 256));
  app.add_option("--steps", o.steps, "Time steps; it rains in the first half")->check(CLI::Range(1, 1000000000));
  app.add_option("--devices", o.devices, "Use at most so many")->check(CLI::Range(1, 1024));
  app.add_option("--rain", o.rain, "Millimetres of rain in all")->check(CLI::Range(0.0, 1e5));
  app.add_option("--terrain", o.terrain, "Elevations in metres, a .npy file of int16, rows from north to south");
  app.add_option("--out", o.out, "Folder for the results, which is made if need be");
  app.add_flag("!--no-check", o.check, "Do not repeat the run serially on the CPU");
  app.add_flag("--quiet", o.quiet, "Print nothing unless something is wrong");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    std::exit(app.exit(e) == 0 ? 0 : 2);
  }
  return o;
}
