// Scopes that put the calling thread's CUDA state back as they found it.
#pragma once
#include "errors.hpp"

namespace ferry::cuda {

// Makes a device current for a while. When it already is, this costs one cudaGetDevice (25 ns).
class device_scope {
 public:
  device_scope(int device, std::string_view verb) {
    check(cudaGetDevice(&before_), verb, device);
    if (before_ == device) return;
    check(cudaSetDevice(device), verb, device);
    switched_ = true;
  }
  ~device_scope() {
    // cudaSetDevice repeats errors of earlier asynchronous work; the next verb of that device reports them.
    if (switched_ && cudaSetDevice(before_) != cudaSuccess) clear_pending();
  }
  device_scope(const device_scope&) = delete;
  device_scope& operator=(const device_scope&) = delete;

 private:
  int before_ = 0;
  bool switched_ = false;
};

// Lets this thread make calls (allocation, queries) that CUDA refuses while the thread, or under the global mode any
// thread, captures: ferry's captures are about the streams it submits to, never about the thread.
class relaxed_scope {
 public:
  relaxed_scope() noexcept { static_cast<void>(cudaThreadExchangeStreamCaptureMode(&mode_)); }
  ~relaxed_scope() { static_cast<void>(cudaThreadExchangeStreamCaptureMode(&mode_)); }
  relaxed_scope(const relaxed_scope&) = delete;
  relaxed_scope& operator=(const relaxed_scope&) = delete;

 private:
  cudaStreamCaptureMode mode_ = cudaStreamCaptureModeRelaxed;
};

}  // namespace ferry::cuda
