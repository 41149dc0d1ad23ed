// Scopes that restore the calling thread's CUDA state.
#pragma once
#include "errors.hpp"
#include "ferry/version.hpp"

namespace ferry::inline FERRY_ABI::detail::cuda {

// Makes a device current in a scope. If it is current already, this costs one cudaGetDevice (25 ns).
class device_scope {
 public:
  device_scope(int device, std::string_view verb) {
    check(cudaGetDevice(&before_), verb, device);
    if (before_ == device) return;
    check(cudaSetDevice(device), verb, device);
    switched_ = true;
  }
  ~device_scope() {
    // cudaSetDevice repeats errors of earlier asynchronous work; the next backend call on that device reports them.
    if (switched_ && cudaSetDevice(before_) != cudaSuccess) clear_pending();
  }
  device_scope(const device_scope&) = delete;
  device_scope& operator=(const device_scope&) = delete;

 private:
  int before_ = 0;
  bool switched_ = false;
};

// Lets this thread make calls (allocation, queries) that CUDA refuses while the thread captures, or in global mode
// while any thread does. ferry's captures apply to the streams that it submits to, never to the thread.
class relaxed_scope {
 public:
  relaxed_scope() noexcept { static_cast<void>(cudaThreadExchangeStreamCaptureMode(&mode_)); }
  ~relaxed_scope() { static_cast<void>(cudaThreadExchangeStreamCaptureMode(&mode_)); }
  relaxed_scope(const relaxed_scope&) = delete;
  relaxed_scope& operator=(const relaxed_scope&) = delete;

 private:
  cudaStreamCaptureMode mode_ = cudaStreamCaptureModeRelaxed;
};

}  // namespace ferry::inline FERRY_ABI::detail::cuda
