// Structs of sharded arrays for tests, one step of them, and the same step on the CPU.
#pragma once
#include <array>
#include <boost/test/unit_test.hpp>
#include <cstddef>
#include <ferry/ferry.hpp>
#include <optional>
#include <random>
#include <vector>

#include "multigpu/shards.hpp"

namespace fr = ferry;

namespace sharded_structs {

template <template <class, std::size_t> class A>
struct layer {
  std::array<A<int, 2>, 2> w;
  int factor;
  FERRY_MEMBERS(w, factor);
};
template <template <class, std::size_t> class A>
struct state {
  A<int, 2> u;
  layer<A> inner;
  std::optional<A<int, 2>> marks;
  A<int, 3> parts;  // with components, as the last dimension
  int shift;
  FERRY_MEMBERS(u, inner, marks, parts, shift);
};
// Records have one element of each array, so all have one shape.
template <template <class, std::size_t> class A>
struct particle {
  A<float, 1> x;
  A<double, 1> v;
  A<int, 1> id;
  FERRY_MEMBERS(x, v, id);
};
using sharded_state = state<fr::device_sharded_array>;

// One step of all members, which reads neighbours along both axes.
struct step {
  template <class From, class To>
  FERRY_HOST_DEVICE static int run(std::size_t i, std::size_t j, const From& a, const To& b) {
    b.u(i, j) = (a.u(i - 1, j) + 3 * a.inner.w[1](i, j + 1) + a.shift) % 1009;
    b.inner.w[0](i, j) = (a.inner.w[1](i + 1, j) * a.inner.factor + a.parts(i, j - 1, 1)) % 1013;
    b.inner.w[1](i, j) = (a.inner.w[0](i, j) + a.u(i + 1, j + 1)) % 1019;
    if (a.marks && b.marks) (*b.marks)(i, j) = ((*a.marks)(i - 1, j - 1) + a.u(i, j)) % 997;
    for (std::size_t c = 0; c != 2; ++c) b.parts(i, j, c) = (a.parts(i, j + 1, 1 - c) + a.u(i, j)) % 991;
    return b.u(i, j);
  }
  FERRY_HOST_DEVICE int operator()(std::size_t i, std::size_t j, const state<fr::const_shard_span>& a,
                                   state<fr::shard_span> b) const {
    return run(i, j, a, b);
  }
};

// The same members in memory of the CPU, with indices that wrap around.
struct grid_view {
  int* data;
  std::size_t n, m, depth;
  FERRY_HOST_DEVICE int& operator()(std::size_t i, std::size_t j, std::size_t c = 0) const {
    return data[((i + n) % n * m + (j + m) % m) * depth + c];
  }
};
struct grid {
  std::vector<int> all;
  std::size_t n = 0, m = 0, depth = 1;
  grid_view view() { return {all.data(), n, m, depth}; }
};
template <class, std::size_t>
using grid_of = grid;
template <class, std::size_t>
using grid_view_of = grid_view;
using cpu_state = state<grid_of>;

inline state<grid_view_of> views(cpu_state& s) {
  state<grid_view_of> v{
      s.u.view(), {{s.inner.w[0].view(), s.inner.w[1].view()}, s.inner.factor}, {}, s.parts.view(), s.shift};
  if (s.marks) v.marks = s.marks->view();
  return v;
}

inline std::vector<int> numbers(std::mt19937& random, std::size_t count) {
  std::vector<int> v(count);
  for (int& x : v) x = static_cast<int>(random() % 900);
  return v;
}

struct random_state {
  std::size_t n, m;
  fr::shard_options cut, cut_parts;
  fr::team t = fr::team::all();
  cpu_state expected;
  random_state(std::mt19937& random, std::size_t devices) : n(devices + random() % 9), m(devices + random() % 9) {
    shards::dice d(random());
    cut = shards::any_cut(d, 2, t.size());
    cut_parts = cut;
    cut.halo = {1, 1}, cut.periodic = true;
    cut_parts.halo = {1, 1, 0}, cut_parts.periodic = true;
    const auto some = [&](std::size_t depth) { return grid{numbers(random, n * m * depth), n, m, depth}; };
    expected = {some(1), {{some(1), some(1)}, 7}, {}, some(2), 11};
    if (random() % 2 == 0) expected.marks = some(1);
  }
  sharded_state on_team() const {
    using cells = fr::device_sharded_array<int, 2>;
    sharded_state s{cells(t, {n, m}, cut),
                    {{cells(t, {n, m}, cut), cells(t, {n, m}, cut)}, 7},
                    {},
                    fr::device_sharded_array<int, 3>(t, {n, m, 2}, cut_parts),
                    11};
    if (expected.marks) s.marks.emplace(t, fr::extents<2>{n, m}, cut);
    return s;
  }
  sharded_state uploaded() const {
    sharded_state s = on_team();
    fr::copy(expected.u.all, s.u), fr::copy(expected.parts.all, s.parts);
    fr::copy(expected.inner.w[0].all, s.inner.w[0]), fr::copy(expected.inner.w[1].all, s.inner.w[1]);
    if (s.marks) fr::copy(expected.marks->all, *s.marks);
    return s;
  }
  long advance() {
    cpu_state next = expected;
    const auto from = views(expected), to = views(next);
    long sum = 0;
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j < m; ++j) sum += step::run(i, j, from, to);
    expected = next;
    return sum;
  }
  void compare(const sharded_state& s) const {
    BOOST_TEST(fr::to_vector(s.u) == expected.u.all);
    BOOST_TEST(fr::to_vector(s.inner.w[0]) == expected.inner.w[0].all);
    BOOST_TEST(fr::to_vector(s.inner.w[1]) == expected.inner.w[1].all);
    BOOST_TEST(fr::to_vector(s.parts) == expected.parts.all);
    BOOST_TEST(s.marks.has_value() == expected.marks.has_value());
    if (s.marks) BOOST_TEST(fr::to_vector(*s.marks) == expected.marks->all);
  }
};

inline void each_machine(auto run) {
  for (std::size_t seed = 0; seed <= support::seeds(30); ++seed) BOOST_TEST_CONTEXT("seed " << seed) {
      std::mt19937 random(static_cast<unsigned>(seed));
      const std::size_t devices = 1 + random() % 4;
      const fr::simulation sim(shards::simulated_machine(seed, devices) + ";check=on");
      run(random, devices);
    }
}

struct push {
  FERRY_HOST_DEVICE void operator()(std::size_t i, particle<fr::const_shard_span> from,
                                    particle<fr::shard_span> to) const {
    to.x(i) = from.x(i - 1), to.v(i) = from.v(i + 1), to.id(i) = from.id(i);
  }
};

}  // namespace sharded_structs
