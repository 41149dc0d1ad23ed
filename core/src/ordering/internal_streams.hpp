// Internal streams of one owner: one for each device, created on first use, returned by the destructor.
#pragma once
#include <cstddef>
#include <vector>

#include "ferry/core/detail/ordering/timelines.hpp"

namespace ferry::inline FERRY_ABI::detail {

// Not thread-safe: the caller holds a lock.
class internal_streams {
 public:
  internal_streams(timelines& all, std::size_t devices) : all_(all), by_device_(devices, nullptr) {}
  ~internal_streams() {
    for (timeline* t : by_device_)
      if (t) all_.give_back(*t);
  }
  internal_streams(const internal_streams&) = delete;
  internal_streams& operator=(const internal_streams&) = delete;

  // Taking a stream may block.
  timeline& of(int device) {
    timeline*& t = by_device_[static_cast<std::size_t>(device)];
    if (!t) t = &all_.take(device, 0);
    return *t;
  }

 private:
  timelines& all_;
  std::vector<timeline*> by_device_;
};

}  // namespace ferry::inline FERRY_ABI::detail
