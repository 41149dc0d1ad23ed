// One unified array shared by all devices without hints, compared with a device array on each.
#pragma once
#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include "../support/suite.hpp"
#include "../support/teams.hpp"
#include "cases.hpp"

namespace benchmarks {

struct smooth_rows {  // v from u and the rows above and below; the first and last row of the array are fixed
  FERRY_HOST_DEVICE void operator()(std::size_t i, std::size_t j, fr::shard_span<const float, 2> u,
                                    fr::shard_span<float, 2> v) const {
    v(i, j) = i == 0 || i + 1 == u.extent(0) ? u(i, j) : 0.25f * (u(i - 1, j) + 2 * u(i, j) + u(i + 1, j));
  }
};

inline void wait_for_all() {
  for (const fr::device d : fr::devices()) fr::default_stream(d).synchronize();
}

// The number of times that arrays of these names moved back to a device after the report was reset, and other traffic
// in MiB.
struct moves {
  double bounces = 0, mib = 0;
};
inline moves moves_of(const std::string& name) {
  moves m;
  for (const fr::migration_entry& e : fr::report_migration().entries) {
    if (!e.array.starts_with(name)) continue;
    m.bounces += static_cast<double>(e.bounces);
    for (const fr::moved_bytes& way : {e.to_devices, e.to_cpu, e.between_devices})
      m.mib += static_cast<double>(way.by_prefetch + way.by_fault) / (1 << 20);
  }
  return m;
}

// Two fields that are computed from each other alternately, distributed over all devices. Array is a type of sharded
// array.
template <class Array>
class sharded_sweeps {
 public:
  sharded_sweeps(const fr::team& t, std::size_t rows, std::size_t columns, const std::string& name)
      : team_(t),
        a_(t, {rows, columns}, {.halo = 1}),
        b_(t, {rows, columns}, {.halo = 1}) {
    std::vector<float> start(rows * columns);
    for (std::size_t i = 0; i < start.size(); ++i) start[i] = static_cast<float>(i % 97);
    fr::copy(std::span<const float>(start), a_);
    fr::exchange_halos(a_);
    a_.name(name + " a"), b_.name(name + " b");
    for (int i = 0; i < 4; ++i) twice();
    team_.synchronize();
  }
  void twice() {
    for (int i = 0; i < 2; ++i) {
      fr::parallel_for(fr::owned(b_), smooth_rows{}, fr::in(a_), fr::out(b_));
      fr::exchange_halos(b_);
      swap(a_, b_);
    }
  }
  timed steps() {
    return team_steps(team_, [this](std::size_t n) {
      for (std::size_t i = 0; i < n; ++i) twice();
    });
  }
  std::vector<float> values() const { return fr::to_vector(a_); }

 private:
  fr::team team_;
  Array a_, b_;
};

// Page traffic per repetition when all pages are in place: no ping-pong, and no other transfers. `body` is repeated
// often.
template <class F>
void state_moves(suite& s, const std::string& what, const std::string& name, F body) {
  fr::reset_migration_report();
  for (int i = 0; i < 100; ++i) body();
  const moves m = moves_of(name);
  const auto none = [&](const std::string& of, const char* unit, double count) {
    result r;
    r.name = what + of, r.unit = unit, r.value = count, r.limit = bound::value_at_most(0, unit);
    s.state(std::move(r));
  };
  none(", bounces in 100 steps", "bounces", m.bounces);
  none(", moved in 100 steps", "MiB", m.mib);
}

// One allocation in strips that the program divides itself, with one element of the neighbours on either side.
class strips {
 public:
  explicit strips(std::size_t n) : n_(n), a_({n}), b_({n}) {
    a_.name("strips a"), b_.name("strips b");
    for (std::size_t i = 0; i < n; ++i) a_[i] = b_[i] = static_cast<float>(i % 97);
    each_part([&](fr::stream_ref on, std::size_t lo, std::size_t hi) {
      for (auto* parts : {&from_, &to_}) {
        parts->emplace_back(fr::extents<1>{hi - lo + 2}, on.where());
        fr::copy(std::as_const(a_).slice({lo - 1, hi + 1}), parts->back());
      }
    });
  }
  void unified() { unified(b_, a_), unified(a_, b_), wait_for_all(); }
  void device() { device(to_, from_), device(from_, to_), wait_for_all(); }
  void without_neighbours() { alone(to_, from_), alone(from_, to_), wait_for_all(); }
  bool is_same() const {
    for (std::size_t d = 0, at = 1; d < devices_; at += from_[d++].size() - 2) {
      const auto shard = fr::to_vector(from_[d]);
      if (!std::equal(shard.begin() + 1, shard.end() - 1, a_.begin() + static_cast<long>(at))) return false;
    }
    return true;
  }

 private:
  using shards = std::vector<fr::device_array<float>>;
  // Calls f(stream, begin, end) for each device's part.
  template <class F>
  void each_part(F f) const {
    for (std::size_t d = 0; d < devices_; ++d)
      f(fr::default_stream(fr::devices()[d]), 1 + (n_ - 2) * d / devices_, 1 + (n_ - 2) * (d + 1) / devices_);
  }
  void unified(fr::unified_array<float>& v, const fr::unified_array<float>& x) {
    each_part([&](fr::stream_ref on, std::size_t lo, std::size_t hi) {
      fr::parallel_for(on, hi - lo, smooth{}, fr::out(v.slice({lo, hi})), fr::in(x.slice({lo - 1, hi + 1})));
    });
  }
  void device(shards& v, const shards& x) {
    each_part([&](fr::stream_ref on, std::size_t lo, std::size_t hi) {
      const auto d = static_cast<std::size_t>(on.where().index());
      const std::size_t n = hi - lo;
      const auto left = d == 0 ? x[d].slice({0, 1}) : x[d - 1].slice({x[d - 1].size() - 2, x[d - 1].size() - 1});
      const auto right = d + 1 == devices_ ? x[d].slice({n + 1, n + 2}) : x[d + 1].slice({1, 2});
      fr::parallel_for(on, n, smooth_between{n}, fr::out(v[d].slice({1, n + 1})), fr::in(x[d]), fr::in(left),
                       fr::in(right));
    });
  }
  void alone(shards& v, const shards& x) {
    each_part([&](fr::stream_ref on, std::size_t lo, std::size_t hi) {
      const auto d = static_cast<std::size_t>(on.where().index());
      fr::parallel_for(on, hi - lo, smooth{}, fr::out(v[d].slice({1, hi - lo + 1})), fr::in(x[d]));
    });
  }
  std::size_t n_, devices_ = fr::devices().size();
  fr::unified_array<float> a_, b_;
  shards from_, to_;  // the same elements, shard by shard
};

}  // namespace benchmarks
