// Direct calls to the driver's pool, on its own stream: the baseline for ferry's pools.
#pragma once
#include <cstddef>

#include <ferry/core/detail/backend/pool_backend.hpp>

namespace benchmarks {

// ferry creates the pool with its options, and it is device 0's current pool during the object's lifetime.
// cudaMallocAsync and cudaFreeAsync are called directly.
class driver_calls {
 public:
  explicit driver_calls(ferry::detail::backend& backend);
  ~driver_calls();
  driver_calls(const driver_calls&) = delete;
  driver_calls& operator=(const driver_calls&) = delete;

  // Throws out_of_memory, or the driver's error.
  void* allocate(std::size_t bytes);
  void free(void* p);
  std::size_t most_reserved() { return pools_.usage(pool_).most_reserved_bytes; }
  void trim() {
    backend_.synchronize(stream_);
    pools_.trim(pool_, 0);
  }

 private:
  ferry::detail::backend& backend_;
  ferry::detail::pool_backend& pools_;
  const ferry::detail::native_pool pool_;
  const ferry::native_stream stream_;
  [[maybe_unused]] void* before_ = nullptr;  // the device's previous pool
};

}  // namespace benchmarks
