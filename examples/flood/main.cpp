// Rain falls on real terrain, and water runs downhill: the pipe model on all devices, checked against the CPU.
// as: host
// test: --refine 2 --steps 15 --quiet
#include <algorithm>
#include <bit>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <ferry/core.hpp>
#include <ferry/core/npy.hpp>
#include <filesystem>
#include <optional>

#include "../../tools/progress_bar.hpp"
#include "options.hpp"
#include "picture.hpp"
#include "serial.hpp"
#include "simulation.hpp"

namespace fr = ferry;
namespace {

constexpr double row_spacing = 92, column_spacing = 74;  // of the elevations, m: examples/data/README.md

using clock_type = std::chrono::steady_clock;
double seconds_since(clock_type::time_point t) { return std::chrono::duration<double>(clock_type::now() - t).count(); }

terrain_points load_terrain(const std::string& file) {
  terrain_points points = fr::load_npy<std::int16_t, 2>(file);
  if (points.empty())
    throw fr::invalid_argument("the terrain '" + file + "' has no points: it is " + points.extents().text() +
                               "; it takes one row and one column at least");
  return points;
}

// Rain = water + outflow?
bool is_balanced(const flood& f, const storm& s, const model& m, std::FILE* report) {
  const double rain = s.rain * static_cast<double>(f.water.size());
  const double difference = std::abs(f.total_water + f.total_lost - rain);
  const double error = rain > 0 ? difference / rain : difference;
  if (report)
    std::fprintf(report, "balance   rain %.6e m3 = water %.6e + outflow %.6e; relative error %.1e\n", rain * m.area(),
                 f.total_water * m.area(), f.total_lost * m.area(), error);
  return error <= 1e-10;
}

bool is_equal(const flood& f, const std::vector<double>& reference, std::FILE* report) {
  const auto same = [](double a, double b) {
    return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b);
  };
  const auto [at, expected] = std::mismatch(f.water.cbegin(), f.water.cend(), reference.begin(), same);
  if (at == f.water.cend()) {
    if (report) std::fprintf(report, "check     equal to the serial run on the CPU, bit for bit\n");
    return true;
  }
  const auto i = static_cast<std::size_t>(at - f.water.cbegin()), columns = f.water.extent(1);
  std::fprintf(stderr, "flood: cell (%zu, %zu) has %.17g m of water, and %.17g in the serial run on the CPU\n",
               i / columns, i % columns, *at, *expected);
  return false;
}

int run(const options& o) {
  std::FILE* const report = o.quiet ? nullptr : stdout;
  const terrain_points points = load_terrain(o.terrain);
  const double refine = static_cast<double>(o.refine);
  const model m(row_spacing / refine, column_spacing / refine);
  const storm s{o.refine, o.steps, o.rain / 1000};
  std::filesystem::create_directories(o.out);

  std::optional<serial_run> reference;  // runs while the devices work
  if (o.check) reference.emplace(fr::host(points), m, s);

  std::ostream* const terminal = o.quiet ? nullptr : tools::progress_bar::terminal();
  tools::progress_bar bar("flood", terminal);
  const auto begin = clock_type::now();
  const flood f = simulate(points, m, s, o.devices, [&](std::size_t done) { bar.show(done, o.steps); });
  const double seconds = seconds_since(begin);
  if (report) {
    std::fprintf(report, "grid      %s cells of %.1f m x %.1f m\n", f.water.extents().text().c_str(), m.height,
                 m.width);
    std::fprintf(report, "devices   %zu (%s)\n", f.devices, fr::device(0).properties().name.c_str());
    std::fprintf(report, "steps     %zu of %.2f s, in %.2f s: %.3f ms each after the first\n", s.steps, m.time_step,
                 seconds, 1e3 * f.seconds_a_step);
  }
  bool good = is_balanced(f, s, m, report);
  if (!good) std::fprintf(stderr, "flood: the water balance is wrong by more than 1e-10\n");

  const auto folder = std::filesystem::path(o.out);
  write_picture(folder / "flood.png", fr::host(f.terrain), fr::host(f.water), {m.height, m.width, o.refine});
  fr::save_npy(folder / "flood.npy", f.water);
  if (reference) {
    tools::progress_bar checking("check", terminal);
    good = is_equal(f, reference->water([&](std::size_t done) { checking.show(done, o.steps); }), report) && good;
  }
  if (report)
    std::fprintf(report, "files     %s, %s\n", (folder / "flood.png").c_str(), (folder / "flood.npy").c_str());
  return good ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  const options o = parse_options(argc, argv);
  try {
    return run(o);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "flood: %s\n", e.what());
    return 1;
  }
}
