// Shared by the tests of sharded arrays: random ways to divide an array, and the same array in plain CPU memory.
#pragma once
#include <boost/test/unit_test.hpp>
#include <random>
#include <string>
#include <vector>

#include <ferry/multigpu.hpp>

#include "support/seeds.hpp"

namespace shards {

namespace fr = ferry;

using support::seeds;

// The simulated devices of a case: an eager schedule and many random ones, with and without peers.
inline std::string simulated_machine(std::size_t seed, std::size_t devices) {
  std::string s = "devices=" + std::to_string(devices);
  if (seed % 4 == 3) s += ";peers=none";
  if (seed % 5 != 0) s += ";schedule=random:" + std::to_string(seed);
  return s;
}

class dice {
 public:
  explicit dice(std::size_t seed) : random_(seed) {}
  std::size_t below(std::size_t n) { return std::uniform_int_distribution<std::size_t>(0, n - 1)(random_); }
  std::size_t between(std::size_t low, std::size_t high) { return low + below(high - low + 1); }
  bool flip() { return below(2) == 1; }

 private:
  std::mt19937_64 random_;
};

// Any shape, axis, widths and periods that are valid on `t`; often with shards of one cell, or empty ones.
template <std::size_t Rank>
std::pair<fr::extents<Rank>, fr::shard_options> any_layout(dice& d, const fr::team& t) {
  fr::extents<Rank> e;
  for (std::size_t k = 0; k != Rank; ++k) e[k] = d.between(1, Rank == 3 ? 6 : 12);
  const std::size_t axis = d.below(Rank);
  if (d.flip()) e[axis] = d.between(1, 5 * t.size());
  const std::size_t narrowest = std::max<std::size_t>(1, e[axis] / t.size());  // non-empty shard
  std::vector<std::ptrdiff_t> widths;
  std::vector<bool> periods;
  for (std::size_t k = 0; k != Rank; ++k) {
    const std::size_t most = std::min<std::size_t>(3, k == axis ? narrowest : e[k]);
    widths.push_back(k == axis || d.below(3) == 0 ? static_cast<std::ptrdiff_t>(d.between(0, most)) : 0);
    periods.push_back(d.flip());
  }
  fr::shard_options o{axis};
  o.halo.widths = widths, o.halo.one = false;
  o.periodic.axes = periods, o.periodic.one = false;
  o.exchange = static_cast<fr::halo_method>(d.below(3));
  return {e, o};
}

// Indices of a box, in row-major order.
template <std::size_t Rank, class F>
void for_each_index(const fr::box<Rank>& b, F f) {
  if (b.empty()) return;
  auto at = b.begin;
  for (;;) {
    f(at);
    std::size_t d = Rank;
    while (d-- > 0) {
      if (++at[d] < b.end[d]) break;
      at[d] = b.begin[d];
    }
    if (d == std::size_t(-1)) return;
  }
}

template <std::size_t Rank>
std::size_t offset(const fr::extents<Rank>& e, const std::array<std::ptrdiff_t, Rank>& at) {
  std::size_t o = 0;
  for (std::size_t d = 0; d != Rank; ++d) o = o * e[d] + static_cast<std::size_t>(at[d]);
  return o;
}

// The cell that a halo cell copies; false if there is none.
template <std::size_t Rank>
bool wrap(const fr::shard_layout<Rank>& l, std::array<std::ptrdiff_t, Rank>& at) {
  for (std::size_t d = 0; d != Rank; ++d) {
    const auto n = static_cast<std::ptrdiff_t>(l.extents()[d]);
    if (at[d] >= 0 && at[d] < n) continue;
    if (!l.periodic(d)) return false;
    at[d] += at[d] < 0 ? n : -n;
  }
  return true;
}

template <class T>
std::vector<T> random_values(dice& d, std::size_t n) {
  std::vector<T> v(n);
  for (T& x : v) x = static_cast<T>(d.below(1000));
  return v;
}

}  // namespace shards
