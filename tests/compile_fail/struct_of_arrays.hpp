// A struct of arrays, functors that take it, and a struct whose arrays are fixed.
#pragma once
#include <ferry/core.hpp>

namespace {
template <template <class, std::size_t> class A>
struct state {
  A<float, 1> x, y;
  int n;
  FERRY_MEMBERS(x, y, n);
};
struct move {
  FERRY_HOST_DEVICE void operator()(std::size_t i, state<ferry::mdspan> s) const { s.x(i) += s.y(i); }
};
struct move_pointer {
  FERRY_HOST_DEVICE void operator()(std::size_t i, float* x) const { x[i] += 1; }
};
struct read_state {
  FERRY_HOST_DEVICE void operator()(std::size_t, state<ferry::const_mdspan>) const {}
};
struct fixed {
  ferry::unified_array<float> x;
  FERRY_MEMBERS(x);
};
}  // namespace
