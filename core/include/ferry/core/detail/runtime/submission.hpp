// Submission as the rest of ferry uses it: the accesses, the stream, and the call that enqueues.
#pragma once
#include <span>

#include "ferry/core/detail/ordering/access_guard.hpp"
#include "ferry/core/detail/support/internal.hpp"
#include "ferry/core/error.hpp"
#include "ferry/core/runtime.hpp"
#include "ferry/core/stream.hpp"

namespace ferry::inline FERRY_ABI::detail {

// How the work reaches memory of other devices, and how the runtime's policy is notified.
enum class reach : std::uint8_t {
  by_kernel,   // requires peer access; notified as an access
  by_library,  // the driver, a library or staging copies reach it; notified as an access
  by_copy,     // the driver reaches it; notified as a copy, which reaches pages at any location
  of_pages     // as by_copy, but moves pages without changing contents: by the policy itself, not notified
};

// Every submission of a user call passes this function, because guards accept only its result. Checks that the stream
// and the arrays belong to the current runtime. Enables the peer access that a kernel needs. On first use, tests links
// on which pages of unified memory may travel (may block). Notifies the runtime's policy, which refuses conflicts with
// a host_guard. Freed arrays are refused before, when the accesses are listed (allocation_ref::get). Throws
// invalid_argument and peer_access_error; out_of_memory for the test of a link.
admission admit(stream_ref s, std::span<access> uses, reach how);
// The stream check of admit(), for calls that prepare a submission, submit no accesses, or submit nothing.
void need_current(stream_ref s);
void need_current(const allocation& a);
void need_current(stream_ref s, std::span<const access> uses);

// Makes a device current for the calling thread within the scope.
class current_device_scope {
 public:
  current_device_scope(runtime& m, int device) : runtime_(m), before_(m.backend().exchange_current_device(device)) {}
  ~current_device_scope() {
    try {
      runtime_.backend().exchange_current_device(before_);
    } catch (const error&) {  // the device failed meanwhile; the next call that uses it reports that
    }
  }
  current_device_scope(const current_device_scope&) = delete;
  current_device_scope& operator=(const current_device_scope&) = delete;

 private:
  runtime& runtime_;
  int before_;
};

// The usual way to submit: the work that submit(native_stream) enqueues is ordered after all hazards of `uses`.
template <class Submit>
void submit_ordered(stream_ref s, std::span<access> uses, reach how, Submit submit) {
  access_guard guard(admit(s, uses, how));
  submit(s.timeline().stream());
}

// The accesses of one submission; access_list has the memory.
class access_collector {
 public:
  access_collector(const access_collector&) = delete;
  access_collector& operator=(const access_collector&) = delete;
  void add(const allocation_ref& owner, byte_range where, bool write, bool whole = false, source_line at = {}) {
    if (where.begin != where.end) begin_[count_++] = {&owner.get(at), where, write, whole, at};
  }
  std::span<access> get() { return {begin_, count_}; }

 protected:
  explicit access_collector(access* begin) : begin_(begin) {}
  ~access_collector() = default;

 private:
  access* const begin_;
  std::size_t count_ = 0;
};
// A short list of accesses without allocation.
template <std::size_t Most>
class access_list : public access_collector {
 public:
  access_list() : access_collector(uses_) {}

 private:
  access uses_[Most == 0 ? 1 : Most];
};

}  // namespace ferry::inline FERRY_ABI::detail
