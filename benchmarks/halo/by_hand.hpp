// A halo exchange as a program without ferry writes it: two copies a device, and an event that its neighbours wait for.
#pragma once
#include <cstddef>
#include <vector>

#include <ferry/core.hpp>
#if defined(__CUDACC__)
#include <cuda_runtime.h>
#endif

namespace benchmarks {

#if defined(__CUDACC__)

// Rows of devices 0 to n - 1, which form a ring. Needs GPUs with peer access, which it enables.
class exchange_by_hand {
 public:
  exchange_by_hand(std::size_t n, std::size_t bytes) : bytes_(bytes), devices_(n) {
    each([&](std::size_t d, member& m) {
      for (const std::size_t other : {before(d), after(d)})
        if (cudaDeviceEnablePeerAccess(static_cast<int>(other), 0) != cudaSuccess) cudaGetLastError();
      cudaMalloc(&m.rows, 4 * bytes_);  // halo, first own row, last own row, halo
      cudaStreamCreateWithFlags(&m.stream, cudaStreamNonBlocking);
      cudaEventCreateWithFlags(&m.done, cudaEventDisableTiming);
      cudaEventRecord(m.done, m.stream);
    });
  }
  ~exchange_by_hand() {
    each([](std::size_t, member& m) {
      cudaFree(m.rows);
      cudaStreamDestroy(m.stream);
      cudaEventDestroy(m.done);
    });
  }
  exchange_by_hand(const exchange_by_hand&) = delete;
  exchange_by_hand& operator=(const exchange_by_hand&) = delete;

  void run() {
    each([&](std::size_t d, member& m) {
      send(m, d, 1, before(d), 3);
      send(m, d, 2, after(d), 0);
      cudaEventRecord(m.done, m.stream);
    });
    each([&](std::size_t d, member& m) {
      cudaStreamWaitEvent(m.stream, devices_[before(d)].done, 0);
      if (after(d) != before(d)) cudaStreamWaitEvent(m.stream, devices_[after(d)].done, 0);
    });
  }
  void synchronize() {
    each([](std::size_t, member& m) { cudaStreamSynchronize(m.stream); });
  }
  // An error of any call before: then no time counts.
  static bool has_failed() { return cudaGetLastError() != cudaSuccess; }

 private:
  struct member {
    char* rows = nullptr;
    cudaStream_t stream = nullptr;
    cudaEvent_t done = nullptr;
  };
  std::size_t before(std::size_t d) const { return (d + devices_.size() - 1) % devices_.size(); }
  std::size_t after(std::size_t d) const { return (d + 1) % devices_.size(); }
  void send(member& m, std::size_t d, std::size_t row, std::size_t to, std::size_t to_row) {
    cudaMemcpyPeerAsync(devices_[to].rows + to_row * bytes_, static_cast<int>(to), m.rows + row * bytes_,
                        static_cast<int>(d), bytes_, m.stream);
  }
  template <class F>
  void each(F f) {
    int current = 0;
    cudaGetDevice(&current);
    for (std::size_t d = 0; d != devices_.size(); ++d) {
      cudaSetDevice(static_cast<int>(d));
      f(d, devices_[d]);
    }
    cudaSetDevice(current);
  }

  std::size_t bytes_;
  std::vector<member> devices_;
};

#else

class exchange_by_hand {
 public:
  exchange_by_hand(std::size_t, std::size_t) {}
  void run() {}
  void synchronize() {}
  static bool has_failed() { return true; }
};

#endif

}  // namespace benchmarks
