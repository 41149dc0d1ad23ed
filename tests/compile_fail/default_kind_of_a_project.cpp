// with: core
// What must compile: one line flips a port from unified to device memory, and the rest stays as it is.
#undef FERRY_HAS_CUDA  // as in a build without CUDA
#define FERRY_DEFAULT_KIND device
#include <ferry/core.hpp>

namespace fr = ferry;

namespace {
struct scale {
  FERRY_HOST_DEVICE void operator()(std::size_t i, fr::mdspan<const double, 1> x, double* y) const { y[i] = 2 * x[i]; }
};
}  // namespace

static_assert(std::is_same_v<fr::array<double, 2>, fr::device_array<double, 2>>);
static_assert(std::is_same_v<decltype(fr::zeros<int, 1>({5})), fr::device_array<int>>);

double call(const std::vector<double>& v) {
  const auto x = fr::array<double>::from(v);
  fr::array<double> y(x.extents()), z({v.size()}), filled({v.size()}, 1.0);
  fr::parallel_for(v.size(), scale{}, x, fr::out(y));
  fr::copy(y, z);
  fr::copy(v, filled);
  fr::copy(z.slice({0, 1}), filled.slice({1, 2}));
  const fr::array_view<const double, 1, fr::memory_kind::device> read = z;
  return fr::to_vector(read).at(0) + fr::to_unified(z.clone())[0];
}
