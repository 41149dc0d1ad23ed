// A small user program: one functor kernel, compiled as CUDA if ferry was built with CUDA.
#include <ferry/ferry.hpp>

#include <vector>

namespace {

struct axpy {
  float a;
  FERRY_HOST_DEVICE void operator()(std::size_t i, const float* x, float* y) const { y[i] += a * x[i]; }
};

}  // namespace

int main() {
  const ferry::device device = ferry::devices()[0];
  ferry::stream stream{device};
  auto x = ferry::device_array<float>::from(std::vector<float>(100, 1.f), device);
  ferry::device_array<float> y({100}, 2.f, device);
  ferry::parallel_for(stream, 100, axpy{3.f}, ferry::in(x), ferry::inout(y));
  return ferry::to_vector(y) == std::vector<float>(100, 5.f) ? 0 : 1;
}
