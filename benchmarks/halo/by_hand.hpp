// A halo exchange as a program without ferry writes it: two copies a device, and events before and behind them.
#pragma once
#include <cstddef>
#include <vector>

#include <ferry/core.hpp>
#if defined(__CUDACC__)
#include <cuda_runtime.h>
#endif

namespace benchmarks {

#if defined(__CUDACC__)

// Rows of devices 0 to n - 1, which form a ring. Needs GPUs that are peers.
class exchange_by_hand {
 public:
  exchange_by_hand(std::size_t n, std::size_t bytes) : bytes_(bytes), devices_(n) {
    each([&](std::size_t d, member& m) {
      for (const std::size_t other : {before(d), after(d)}) {
        const cudaError_t e = cudaDeviceEnablePeerAccess(static_cast<int>(other), 0);
        if (e == cudaErrorPeerAccessAlreadyEnabled)
          cudaGetLastError();
        else
          check(e);
      }
      check(cudaMalloc(&m.rows, 4 * bytes_));  // halo, first own row, last own row, halo
      check(cudaStreamCreateWithFlags(&m.stream, cudaStreamNonBlocking));
      for (cudaEvent_t* e : {&m.ready, &m.done}) check(cudaEventCreateWithFlags(e, cudaEventDisableTiming));
      check(cudaMemset(m.rows, 0, 4 * bytes_));
      for (const std::size_t row : {std::size_t{1}, std::size_t{2}})
        check(cudaMemset(m.rows + row * bytes_, value(d, row), bytes_));
    });
  }
  ~exchange_by_hand() {
    each([](std::size_t, member& m) {
      cudaFree(m.rows);
      cudaStreamDestroy(m.stream);
      cudaEventDestroy(m.ready);
      cudaEventDestroy(m.done);
    });
  }
  exchange_by_hand(const exchange_by_hand&) = delete;
  exchange_by_hand& operator=(const exchange_by_hand&) = delete;

  // A row is sent when the receiver no longer uses the last one. What the receiver does next waits for both rows.
  void run() {
    for (member& m : devices_) check(cudaEventRecord(m.ready, m.stream));
    for (std::size_t d = 0; d != devices_.size(); ++d) {
      const cudaStream_t s = devices_[d].stream;
      wait_for_neighbours(d, [](const member& m) { return m.ready; });
      send(d, 1, before(d), 3);
      send(d, 2, after(d), 0);
      check(cudaEventRecord(devices_[d].done, s));
    }
    for (std::size_t d = 0; d != devices_.size(); ++d) wait_for_neighbours(d, [](const member& m) { return m.done; });
  }
  void synchronize() {
    for (member& m : devices_) check(cudaStreamSynchronize(m.stream));
  }
  // True if no call failed so far, and each halo equals the neighbour's row.
  bool is_right() {
    synchronize();
    std::vector<unsigned char> row(bytes_);
    const auto holds = [&](std::size_t d, std::size_t at, std::size_t from, std::size_t from_row) {
      check(cudaMemcpy(row.data(), devices_[d].rows + at * bytes_, bytes_, cudaMemcpyDefault));
      for (const unsigned char c : row) is_good_ = is_good_ && c == value(from, from_row);
    };
    for (std::size_t d = 0; d != devices_.size(); ++d) holds(d, 0, before(d), 2), holds(d, 3, after(d), 1);
    return is_good_;
  }

 private:
  struct member {
    char* rows = nullptr;
    cudaStream_t stream = nullptr;
    cudaEvent_t ready = nullptr, done = nullptr;
  };
  static int value(std::size_t device, std::size_t row) { return static_cast<int>(10 * device + row + 1); }
  std::size_t before(std::size_t d) const { return (d + devices_.size() - 1) % devices_.size(); }
  std::size_t after(std::size_t d) const { return (d + 1) % devices_.size(); }
  void check(cudaError_t e) { is_good_ = is_good_ && e == cudaSuccess; }
  void send(std::size_t d, std::size_t row, std::size_t to, std::size_t to_row) {
    check(cudaMemcpyPeerAsync(devices_[to].rows + to_row * bytes_, static_cast<int>(to),
                              devices_[d].rows + row * bytes_, static_cast<int>(d), bytes_, devices_[d].stream));
  }
  template <class Event>
  void wait_for_neighbours(std::size_t d, Event event) {
    check(cudaStreamWaitEvent(devices_[d].stream, event(devices_[before(d)]), 0));
    if (after(d) != before(d)) check(cudaStreamWaitEvent(devices_[d].stream, event(devices_[after(d)]), 0));
  }
  // Calls f with each device as the current one.
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
  bool is_good_ = true;
};

#else

class exchange_by_hand {
 public:
  exchange_by_hand(std::size_t, std::size_t) {}
  void run() {}
  void synchronize() {}
  bool is_right() { return false; }
};

#endif

}  // namespace benchmarks
