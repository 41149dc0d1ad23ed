// Loops and reductions of functors that have texts, over one device and over shards.
#include <ferry/ferry.hpp>

#include <vector>

namespace fr = ferry;
namespace {

FERRY_FUNCTOR(axpy, {
  float a;
  FERRY_HOST_DEVICE void operator()(std::size_t i, const float* x, float* y) const { y[i] += a * x[i]; }
});
FERRY_FUNCTOR(element, {
  FERRY_HOST_DEVICE float operator()(std::size_t i, const float* x) const { return x[i]; }
});
FERRY_FUNCTOR(mean_of_two, {
  FERRY_HOST_DEVICE void operator()(std::size_t i, fr::shard_span<const float, 1> u, fr::shard_span<float, 1> v) const {
    v(i) = (u(i - 1) + u(i + 1)) / 2;
  }
});

}  // namespace

int main() {
  const fr::device device = fr::devices()[0];
  auto x = fr::device_array<float>::from(std::vector<float>(100, 1.f), device);
  fr::device_array<float> y({100}, 2.f, device);
  fr::parallel_for(100, axpy{3.f}, fr::in(x), fr::inout(y));
  const float sum = fr::parallel_reduce(100, element{}, fr::plus{}, fr::in(y));

  const fr::team team(fr::devices());
  fr::sharded_array<float, 1> u(team, {100}, {.halo = 1, .periodic = true}, 1.f), v(team, {100}, {}, 0.f);
  fr::exchange_halos(u);
  fr::parallel_for(fr::owned(u), mean_of_two{}, fr::in(u), fr::out(v));
  return sum == 500 && fr::to_vector(v) == std::vector<float>(100, 1.f) ? 0 : 1;
}
