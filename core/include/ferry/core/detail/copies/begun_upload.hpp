// Uploads in two steps: loops over batches begin one before the submission slot is free.
#pragma once
#include "ferry/core/detail/copies/copy_side.hpp"
#include "ferry/core/detail/support/internal.hpp"
#include "ferry/core/detail/support/owning_ptr.hpp"
#include "ferry/core/stream.hpp"
#include "ferry/version.hpp"

namespace ferry::inline FERRY_ABI::detail {

// An upload from host memory in two steps, so that reading one overlaps with the wait for another one's submission
// slot. Uploads to one stream serialize anyway. They wait for the staging buffers of enqueued uploads instead of
// allocating more.
class begun_upload {
 public:
  // Plans the copy, acquires its resources, and starts threads that read pageable memory. That memory must not change
  // before enqueue() returns; if is_read_later(), before wait_until_read() returns. May block for staging buffers.
  // Performs all steps that can throw.
  begun_upload(stream_ref s, const copy_side& to, const copy_side& from, const strided_shape& shape);
  // Waits for those threads. An upload that was never enqueued has no effect.
  ~begun_upload();
  begun_upload(begun_upload&&) noexcept;
  // Enqueues the copy as copy_elements does, but does not wait for it. Call once, from any thread.
  void enqueue();
  // True if the device may read the memory as late as the copy runs: always, unless threads read it.
  bool is_read_later() const;
  // Call after enqueue(). Blocks until the memory has been read.
  void wait_until_read();

 private:
  struct parts;
  owning_ptr<parts> parts_;
};

}  // namespace ferry::inline FERRY_ABI::detail
