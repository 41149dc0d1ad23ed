// Do expressions over shards run at one device's rate times the number of devices, and as fast as loops? Under mpirun,
// on the devices of all processes; otherwise on 1, 2, 4, ... devices.
#include <benchmark/benchmark.h>

#include <cmath>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "../support/on_stream.hpp"
#include "../support/suite.hpp"
#include "../support/teams.hpp"

namespace fr = ferry;
namespace bm = benchmarks;
namespace {

using field = fr::sharded_array<float, 2>;

struct relax {
  FERRY_HOST_DEVICE void operator()(std::size_t i, std::size_t j, fr::shard_span<const float, 2> u,
                                    fr::shard_span<float, 2> v) const {
    v(i, j) = 0.25f * (u(i - 1, j) + u(i + 1, j) + u(i, j - 1) + u(i, j + 1));
  }
};

auto mean_around(const field& u) {
  return 0.25f * (fr::shift(u, {-1, 0}) + fr::shift(u, {1, 0}) + fr::shift(u, {0, -1}) + fr::shift(u, {0, 1}));
}
// Small numbers, different everywhere; those from a row on.
auto values(int seed, std::size_t row = 0) {
  return fr::cast<float>(((fr::index(0) + row) * 7 + fr::index(1) + seed) % 97);
}

// What is timed is compiled before.
template <class E>
void prepare(const E& e) {
  if (!fr::precompile(e)) std::puts("an expression cannot be compiled: it is interpreted");
}

// Rows of 16384 cells: the same number for each member, and for one device.
struct rows_of_members {
  rows_of_members(const fr::team& t, std::size_t rows, std::size_t columns)
      : a(t, {rows * t.size(), columns}),
        b(t, {rows * t.size(), columns}),
        y(t, {rows * t.size(), columns}),
        one_a({rows, columns}, t.device(t.first_local())),
        one_b({rows, columns}, t.device(t.first_local())),
        one_y({rows, columns}, t.device(t.first_local())),
        sums(t, {columns}),
        one_sums({columns}, t.device(t.first_local())) {
    a = values(3), b = values(5);
    const std::size_t row = t.first_local() * rows;
    one_a = values(3, row), one_b = values(5, row);
  }
  bool are_right() {
    y = b + 2 * fr::sin(a);
    one_y = one_b + 2 * fr::sin(one_a);
    sums = fr::sum(a, fr::axes{0});
    const std::vector<float> of_member = fr::to_vector(std::as_const(y).shard(y.team().first_local())),
                             of_one = fr::to_vector(one_y);
    const auto n = static_cast<double>(y.size());
    const double mean = fr::sum(fr::cast<double>(a)).value() / n;
    const std::vector<float> columns = fr::to_vector(sums);
    const double by_column = columns[columns.size() / 2] / static_cast<double>(y.extent(0));
    return of_member == of_one && std::abs(mean - 48) < 2 && std::abs(by_column - 48) < 4;
  }
  field a, b, y;
  fr::device_array<float, 2> one_a, one_b, one_y;
  fr::replicated_array<float, 1> sums;
  fr::device_array<float, 1> one_sums;
  std::optional<fr::team_scalar<float>> sum;
  std::optional<fr::scalar<float>> one_sum;
};

// Two fields that are periodic along the axis of distribution.
struct plate {
  plate(const fr::team& t, std::size_t side) : u(t, {side, side}, how(), 0.f), v(t, {side, side}, how(), 0.f) {
    u = values(0);
  }
  static fr::shard_options how() { return {.axis = 0, .halo = {1, 1}, .periodic = {true, false}}; }
  void by_shift() { v = mean_around(u), swap(u, v); }
  void by_loop() { fr::parallel_for(fr::sweep(v), relax{}, fr::in(u), fr::out(v)), swap(u, v); }
  field u, v;
};

bool are_equal_steps(const fr::team& t, std::size_t side) {
  plate shifted(t, side), looped(t, side);
  fr::exchange_halos(looped.u);
  for (int k = 0; k < 3; ++k) shifted.by_shift(), looped.by_loop();
  return fr::max(fr::abs(shifted.u - looped.u)).value() <= 1e-4f;
}

}  // namespace

int main(int argc, char** argv) {
  bm::suite s(argc, argv, {.rounds = 15, .milliseconds = 40});
  const bool simulated = fr::runtime::current().is_simulated();
  const std::size_t columns = simulated ? 64 : 16384, rows = simulated ? 20 : 16384, side = simulated ? 64 : 20480;
  const double floats = static_cast<double>(rows * columns * sizeof(float));
  const fr::team world = fr::team::world();
  const bool by_processes = world.local_size() != world.size();
  const std::string of_processes =
      by_processes ? " of " + std::to_string(world.size() / world.local_size()) + " processes" : "";
  if (world.first_local() != 0) s.be_quiet();
  std::vector<fr::team> teams;
  if (by_processes) teams.push_back(world);
  if (!by_processes)
    for (const std::size_t n : bm::team_sizes())
      teams.push_back(bm::first_devices(n, n == 1 ? fr::submission::by_caller : fr::submission::by_threads));
  std::vector<std::unique_ptr<rows_of_members>> all;
  std::vector<std::unique_ptr<plate>> plates;
  for (const fr::team& t : teams) {
    const std::size_t n = t.size();
    const fr::team one = bm::alone(t);
    all.push_back(std::make_unique<rows_of_members>(t, rows, columns));
    rows_of_members& m = *all.back();
    if (!m.are_right() || !are_equal_steps(t, simulated ? 64 : 2048))
      return std::printf("wrong results on %zu devices: nothing was timed\n", n), 1;
    if (simulated) continue;

    prepare(m.b + 2 * fr::sin(m.a)), prepare(m.one_b + 2 * fr::sin(m.one_a));
    const std::string of = ", " + bm::of_devices(n) + of_processes;
    const auto times = [t](const fr::team& on, auto body) {
      return bm::of_slowest(t, bm::team_steps(on, [body](std::size_t k) mutable {
                              for (std::size_t i = 0; i < k; ++i) body();
                            }));
    };
    const fr::stream_ref first = one.stream(0);
    const auto whole = bm::bound::ratio_at_least(0.95);
    s.add({"b + 2 sin(a) over shards of 1 GiB, rate of each" + of, "GB/s",
           times(t, [&m] { m.y = m.b + 2 * fr::sin(m.a); }), "one device",
           times(one, [&m, first] { fr::assign(first, m.one_y, m.one_b + 2 * fr::sin(m.one_a)); }), whole, 3 * floats});
    s.add({"sum(a b) over shards of 1 GiB, rate of each" + of, "GB/s", times(t, [&m] { m.sum = fr::sum(m.a * m.b); }),
           "one device",
           times(one,
                 [&m, first] {
                   m.one_sum.emplace(first.where());
                   fr::assign(first, m.one_sum->as_array(), fr::sum(m.one_a * m.one_b));
                 }),
           whole, 2 * floats});
    s.add({"sum(a, axes{0}) over shards of 1 GiB, rate of each" + of, "GB/s",
           times(t, [&m] { m.sums = fr::sum(m.a, fr::axes{0}); }), "one device",
           times(one, [&m, first] { fr::assign(first, m.one_sums, fr::sum(m.one_a, fr::axes{0})); }), whole, floats});

    plates.push_back(std::make_unique<plate>(t, side));
    plate& p = *plates.back();
    fr::exchange_halos(p.u), fr::exchange_halos(p.v);
    prepare(mean_around(p.u));
    s.add({"Jacobi by shift, 20480^2" + of, "ms", times(t, [&p] { p.by_shift(); }), "a loop",
           times(t, [&p] { p.by_loop(); }), bm::bound::ratio_at_most(1.10)});
  }
  if (!bm::has_gpu()) return 0;
  return s.run();
}
