// as: host
#include "options.hpp"

#include <CLI/CLI.hpp>
#include <cstdlib>

options parse_options(int argc, char** argv) {
  options o;
  CLI::App app("Laplace's equation by Jacobi's method on all devices, with the norm of the change at every iteration.");
  app.option_defaults()->always_capture_default();
  const char* suiting = "20480, or 512 on simulated devices";
  app.add_option("--rows", o.rows, "Cells from top to bottom")->check(CLI::Range(2, 1 << 20))->default_str(suiting);
  app.add_option("--columns", o.columns, "Cells from left to right")
      ->check(CLI::Range(2, 1 << 20))
      ->default_str(suiting);
  app.add_option("--iterations", o.iterations, "How many")->check(CLI::Range(1, 1000000000));
  app.add_option("--devices", o.devices, "Use at most so many")->check(CLI::Range(1, 1024));
  app.add_option("--report", o.report, "Print the norm every so many iterations")->check(CLI::Range(1, 1000000000));
  app.add_flag("--check", o.check, "Repeat the run serially on the CPU, and compare the fields");
  app.add_flag("--threads", o.threads, "Give work to each device by a thread of its own");
  app.add_flag("--quiet", o.quiet, "Print nothing unless something is wrong");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    std::exit(app.exit(e) == 0 ? 0 : 2);
  }
  return o;
}
