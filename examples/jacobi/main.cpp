// Laplace's equation on all devices. Boundary rows are computed first, so that the halo exchange overlaps with the
// interior. The norm of the change is read one iteration late, so no device waits for it.
// test: --rows 70 --columns 64 --iterations 120 --check --quiet
#include <chrono>
#include <cmath>
#include <cstdio>
#include <optional>
#include <vector>

#include "jacobi.hpp"
#include "options.hpp"
#include "serial.hpp"

namespace fr = ferry;
namespace {

using clock_type = std::chrono::steady_clock;

fr::team first_devices(std::size_t most) {
  const auto all = fr::devices();
  if (most >= all.size()) return fr::team::world();  // of all processes, under mpirun
  return fr::team(all.subspan(0, std::min(most, all.size())));
}

// Compares this process's cells with the serial result.
bool is_like_serial(const options& o, const fr::sharded_array<float, 2>& a, const std::vector<double>& norms) {
  const serial_result expected = solve_serially(o.rows, o.columns, o.iterations);
  std::vector<float> found = expected.field;
  fr::copy(a, std::span<float>(found));
  double field_error = 0, norm_error = 0;
  for (std::size_t i = 0; i < found.size(); ++i)
    field_error = std::max(field_error, std::abs(double{found[i]} - double{expected.field[i]}));
  for (std::size_t i = 0; i < norms.size(); ++i)
    norm_error = std::max(norm_error, std::abs(norms[i] / expected.norms[i] - 1));
  const bool good = field_error <= 1e-8 && norm_error <= 1e-4;
  if (!o.quiet || !good)
    std::fprintf(good ? stdout : stderr,
                 "serial    the field differs by at most %.1e, the norms by %.1e of their size\n", field_error,
                 norm_error);
  return good;
}

// Simulated devices are CPU cores, which are about a thousand times slower.
void choose_size(options& o) {
  const bool simulated = fr::runtime::current().is_simulated();
  if (simulated && !o.quiet && (!o.rows || !o.columns))
    std::printf("simulated devices: a small field; --rows and --columns set another\n");
  for (std::size_t* n : {&o.rows, &o.columns})
    if (!*n) *n = simulated ? 512 : 20480;
}

int run(options o) {
  fr::team gpus = first_devices(o.devices);
  o.quiet = o.quiet || gpus.first_local() > 0;  // one process prints for all
  choose_size(o);
  if (o.threads) gpus.submit(fr::submission::by_threads);
  auto a = jacobi::make_field(gpus, o.rows, o.columns), next = jacobi::make_field(gpus, o.rows, o.columns);
  fr::parallel_for(fr::sweep(a), jacobi::first_guess{}, fr::out(a));
  fr::parallel_for(fr::sweep(next), jacobi::first_guess{}, fr::out(next));
  gpus.synchronize();  // only for the time measurement

  std::vector<double> norms;
  std::optional<fr::team_scalar<double>> before;  // the previous iteration's norm, complete at this point
  const auto read = [&] {
    norms.push_back(std::sqrt(before->value()));
    if (!o.quiet && (norms.size() - 1) % o.report == 0) std::printf("%9zu %.6f\n", norms.size() - 1, norms.back());
  };
  const auto begin = clock_type::now();
  for (std::size_t k = 0; k < o.iterations; ++k) {
    auto norm = jacobi::step(a, next);
    if (before) read();
    before = std::move(norm);
    swap(a, next);
  }
  read();
  gpus.synchronize();
  const double seconds = std::chrono::duration<double>(clock_type::now() - begin).count();
  if (!o.quiet)
    std::printf("devices   %zu (%s)\nfield     %zu x %zu\ntime      %.4f ms an iteration\n", gpus.size(),
                fr::device(0).properties().name.c_str(), o.rows, o.columns,
                1e3 * seconds / static_cast<double>(o.iterations));
  return !o.check || is_like_serial(o, a, norms) ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  const options o = parse_options(argc, argv);
  try {
    return run(o);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "jacobi: %s\n", e.what());
    return 1;
  }
}
