// The driver's pool by its own calls, on a stream of its own: what ferry's pools are measured against.
#pragma once
#include <cstddef>

#include <ferry/core/detail/backend/pool_backend.hpp>

namespace benchmarks {

// The pool is made by ferry, with its options, and is that of device 0 meanwhile; cudaMallocAsync and cudaFreeAsync are
// called with nothing around them.
class driver_calls {
 public:
  explicit driver_calls(ferry::backend& backend);
  ~driver_calls();
  driver_calls(const driver_calls&) = delete;
  driver_calls& operator=(const driver_calls&) = delete;

  // Throws out_of_memory, or what the driver says.
  void* allocate(std::size_t bytes);
  void free(void* p);
  std::size_t most_reserved() { return pools_.usage(pool_).most_reserved_bytes; }
  void trim() {
    backend_.synchronize(stream_);
    pools_.trim(pool_, 0);
  }

 private:
  ferry::backend& backend_;
  ferry::pool_backend& pools_;
  const ferry::native_pool pool_;
  const ferry::native_stream stream_;
  [[maybe_unused]] void* before_ = nullptr;  // the pool of the device before
};

}  // namespace benchmarks
