// The driver's pool by its own calls, on a stream of its own: what ferry's pools are measured against.
#pragma once
#include <stdexcept>

#include <ferry/core/pool_backend.hpp>

namespace benchmarks {

class driver_calls {
 public:
  explicit driver_calls(ferry::backend& verbs)
      : verbs_(verbs),
        pools_(*verbs.pools()),
        pool_(pools_.create_pool(ferry::memory_kind::device, 0, {})),
        stream_(verbs.create_stream(0, 0)) {}
  ~driver_calls() { verbs_.destroy_stream(stream_); }
  driver_calls(const driver_calls&) = delete;
  driver_calls& operator=(const driver_calls&) = delete;

  void* allocate(std::size_t bytes) { return pools_.allocate(pool_, bytes, stream_); }
  void free(void* p) { pools_.free(p, stream_); }
  std::size_t most_reserved() { return pools_.usage(pool_).most_reserved_bytes; }
  void trim() {
    verbs_.synchronize(stream_);
    pools_.trim(pool_, 0);
  }

 private:
  ferry::backend& verbs_;
  ferry::pool_backend& pools_;
  const ferry::native_pool pool_;
  const ferry::native_stream stream_;
};

}  // namespace benchmarks
