// expect: declare the elements of each array const in both functions or in neither
// lines: 10
// with: core
#include <ferry/core.hpp>

void call(ferry::stream& s, ferry::device_array<float>& x) {
  const auto cuda = [](ferry::native_stream, float*) {};
  const auto reads = [](const float*) {};
  ferry::submit(s, ferry::cuda_or_simulated(cuda, [](ferry::mdspan<float, 1>) {}), x);
  ferry::submit(s, ferry::cuda_or_simulated(cuda, [](float*) {}), ferry::inout(x));
#ifdef FERRY_WRONG
  ferry::submit(s, ferry::cuda_or_simulated(cuda, reads), x);
#endif
  (void)reads;
}
