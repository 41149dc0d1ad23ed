// expect: declare the parameter as S<ferry::mdspan>
// lines: 10
// with: core
#undef FERRY_HAS_CUDA  // as in a build without CUDA
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

void call(state<ferry::unified_array>& s, [[maybe_unused]] fixed& f) {
  ferry::parallel_for(s.x.size(), move{}, ferry::inout(s));
  ferry::parallel_for(s.x.size(), move_pointer{}, f.x);
  ferry::parallel_for(s.x.size(), read_state{}, s);
#ifdef FERRY_WRONG
  ferry::parallel_for(s.x.size(), move_pointer{}, ferry::inout(s));
#endif
}
