// with: core
// expect: a device array cannot be touched by the CPU
// One element type is switched from unified to device memory; arrays of other types stay, and remaining CPU accesses
// are errors.
#undef FERRY_HAS_CUDA  // as in a build without CUDA
#include <ferry/core.hpp>

namespace fr = ferry;

struct particle {
  double x, v;
};
template <>
inline constexpr fr::memory_kind ferry::default_memory_kind<particle> = fr::memory_kind::device;

static_assert(std::is_same_v<fr::array<particle, 2>, fr::device_array<particle, 2>>);
static_assert(std::is_same_v<decltype(fr::full<particle, 1>({5}, {})), fr::device_array<particle>>);
static_assert(std::is_same_v<fr::array<double, 2>, fr::unified_array<double, 2>>);
static_assert(std::is_same_v<decltype(fr::zeros<double, 1>({5})), fr::unified_array<double>>);
static_assert(std::is_same_v<decltype(fr::load_npy<float, 1>("")), fr::unified_array<float>>);

template <class T, std::size_t Rank>
std::size_t size_of(const fr::array<T, Rank>& a) {  // deduces the element type
  return a.size();
}

double energy(const std::vector<particle>& given) {
  const auto p = fr::array<particle>::from(given);
  fr::array<double> e({size_of(p)}, 0.0);
#ifdef FERRY_WRONG
  for (std::size_t i = 0; i < p.size(); ++i) e[i] = p[i].v * p[i].v;
#else
  const std::vector<particle> back = fr::to_vector(p);
  for (std::size_t i = 0; i < p.size(); ++i) e[i] = back[i].v * back[i].v;
#endif
  return e[0];
}
