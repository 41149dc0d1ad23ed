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

// Any axes of distribution, and any grid of members over them.
inline fr::shard_options any_cut(dice& d, std::size_t rank, std::size_t members) {
  fr::shard_options o{d.below(rank)};
  while (o.axis.axes.size() < rank && d.flip()) {
    const auto axis = static_cast<std::ptrdiff_t>(d.below(rank));
    if (std::find(o.axis.axes.begin(), o.axis.axes.end(), axis) == o.axis.axes.end()) o.axis.axes.push_back(axis);
  }
  if (o.axis.axes.size() == 1 || d.below(3) == 0) return o;
  o.grid.members.assign(o.axis.axes.size(), 1);
  for (std::size_t n = 2; members > 1; ++n)
    for (; members % n == 0; members /= n)
      o.grid.members[d.below(o.grid.members.size())] *= static_cast<std::ptrdiff_t>(n);
  return o;
}

// True if no shard of such an array is narrower than a halo of one cell along axes of distribution.
template <std::size_t Rank>
bool can_have_halo(const fr::team& t, const fr::extents<Rank>& e, const fr::shard_options& o) {
  const fr::shard_layout<Rank> cut(t, e, o);
  bool can = true;
  for (std::size_t k = 0; k != Rank; ++k) can = can && e[k] >= cut.members_along(k);
  return can;
}

// Any shape, axes, grid, widths and periods that are valid on `t`; often with shards of one cell, or empty ones.
template <std::size_t Rank>
std::pair<fr::extents<Rank>, fr::shard_options> any_layout(dice& d, const fr::team& t) {
  fr::extents<Rank> e;
  for (std::size_t k = 0; k != Rank; ++k) e[k] = d.between(1, Rank == 3 ? 6 : 12);
  fr::shard_options o = any_cut(d, Rank, t.size());
  if (const std::size_t axis = o.axis.first(); d.flip()) e[axis] = d.between(1, 5 * t.size());
  const fr::shard_layout<Rank> cut(t, e, o);
  std::vector<std::ptrdiff_t> widths;
  std::vector<bool> periods;
  for (std::size_t k = 0; k != Rank; ++k) {
    const std::size_t narrowest = std::max<std::size_t>(1, e[k] / cut.members_along(k));  // non-empty shard
    const std::size_t most = std::min<std::size_t>(3, narrowest);
    widths.push_back(cut.is_cut(k) || d.below(3) == 0 ? static_cast<std::ptrdiff_t>(d.between(0, most)) : 0);
    periods.push_back(d.flip());
  }
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
