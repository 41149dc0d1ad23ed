// Properties of the streams that ferry created. They are stored, because cudaStreamGetDevice and cudaStreamGetId fail
// on a stream that is being captured. They even invalidate the capture (seen with CUDA 13.0, driver 580).
#pragma once
#include <cstdint>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <unordered_map>

#include <cuda_runtime_api.h>

#include "ferry/version.hpp"

namespace ferry::inline FERRY_ABI::detail::cuda {

class stream_table {
 public:
  struct entry {
    int device = 0;
    std::uint64_t id = 0;
  };
  void add(cudaStream_t s, entry e) {
    const std::unique_lock lock(mutex_);
    entries_.insert_or_assign(s, e);
  }
  void remove(cudaStream_t s) {
    const std::unique_lock lock(mutex_);
    entries_.erase(s);
  }
  // Empty for a foreign stream.
  std::optional<entry> find(cudaStream_t s) const {
    const std::shared_lock lock(mutex_);
    const auto found = entries_.find(s);
    if (found == entries_.end()) return std::nullopt;
    return found->second;
  }

 private:
  mutable std::shared_mutex mutex_;
  std::unordered_map<cudaStream_t, entry> entries_;
};

}  // namespace ferry::inline FERRY_ABI::detail::cuda
