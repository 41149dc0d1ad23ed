// A kernel so small that only its launch costs time: through ferry, and hand-written.
#pragma once
#include <ferry/core.hpp>
#if defined(__CUDACC__)
#include <cuda_runtime.h>
#endif

#include "../support/on_stream.hpp"

namespace benchmarks {

struct add {
  FERRY_HOST_DEVICE void operator()(std::size_t i, const float* x, const float* y, float* z) const {
    z[i] = x[i] + y[i];
  }
};

#if defined(__CUDACC__)
inline namespace FERRY_UNIT {
template <class T>
__global__ void add_by_hand(std::size_t n, const T* x, const T* y, T* z) {
  const std::size_t i = blockIdx.x * std::size_t{blockDim.x} + threadIdx.x;
  if (i < n) z[i] = x[i] + y[i];
}
template <class T>
__global__ void keep_busy(T cycles) {
  for (const T begin = clock64(); clock64() - begin < cycles;) {
  }
}
}  // namespace FERRY_UNIT
#endif

// z = x + y on a stream; another thread may share x.
class small_kernel {
 public:
  static constexpr std::size_t size = 256;
  small_kernel(ferry::device d, const ferry::device_array<float>& x)
      : stream_(d),
        x_(&x),
        y_({size}, 2.f, d),
        z_({size}, 0.f, d) {
    stream_.synchronize();
  }
  void by_ferry() { ferry::parallel_for(stream_, size, add{}, ferry::in(*x_), ferry::in(y_), ferry::out(z_)); }
  // With one contended access history: an event is recorded after every launch.
  void by_ferry_marked() {
    if (since_shared_++ % ferry::detail::access_history::contended_uses == 0) share();
    by_ferry();
  }
#if defined(__CUDACC__)
  void by_hand() {
    add_by_hand<<<1, size, 0, native()>>>(size, x_->unsynchronized_data(), y_.unsynchronized_data(),
                                          z_.unsynchronized_data());
    if (cudaGetLastError() != cudaSuccess) std::abort();
  }
  // The minimal cost of a launch followed by an event record.
  void by_hand_marked() {
    by_hand();
    if (!mark_ && cudaEventCreateWithFlags(&mark_, cudaEventDisableTiming) != cudaSuccess) std::abort();
    if (cudaEventRecord(mark_, native()) != cudaSuccess) std::abort();
  }
  // Keeps the device busy for about 2 ms.
  void gate() { keep_busy<<<1, 1, 0, native()>>>(3'000'000ll); }
#endif
  void drain() { stream_.synchronize(); }
  ferry::stream_ref on() const { return stream_; }
  const ferry::device_array<float>& result() const { return z_; }

 private:
  // Looks up the array's hazards as another stream would, so that its history counts as contended. Does not wait.
  void share() {
    ferry::detail::access_history& log = z_.owner().get().history;
    log.lock();
    log.each_hazard(nullptr, z_.bytes(), true, [](ferry::detail::timeline&, ferry::detail::ticket, bool) {});
    log.unlock();
  }
#if defined(__CUDACC__)
  cudaEvent_t mark_ = nullptr;  // never destroyed
  cudaStream_t native() const { return static_cast<cudaStream_t>(raw_handle(stream_)); }
#endif
  ferry::stream stream_;
  const ferry::device_array<float>* x_;
  ferry::device_array<float> y_, z_;
  int since_shared_ = 0;
};

}  // namespace benchmarks
