// One submission as the rest of ferry writes it: what is touched, on which stream, and the call that submits.
#pragma once
#include <array>
#include <span>

#include "ferry/core/detail/ordering/access_guard.hpp"
#include "ferry/core/error.hpp"
#include "ferry/core/runtime.hpp"
#include "ferry/core/stream.hpp"

namespace ferry {

// How the work reaches memory of other devices, and what the machine's policy is told of it.
enum class reach : std::uint8_t {
  by_kernel,   // peers must be granted; an access
  by_library,  // the driver, a library or mirrors find a way; an access
  by_copy,     // the driver finds a way; a copy, which finds pages wherever they are
  of_pages     // the same; moves pages and changes no contents: the policy's own, which is told nothing
};

namespace detail {

// The gate: each submission that a call of the program makes goes through this function, and guards take nothing else.
// Checks that the stream and the arrays are of the current machine. Grants the peers that a kernel needs. Tests links on
// which pages of unified memory may travel, on first use (may block). Tells the machine's policy, which refuses what
// conflicts with a host_guard. Freed arrays were refused where the uses were listed (allocation_ref::get).
// Throws invalid_argument, peer_access_error; out_of_memory for the test of a link.
admission admit(stream_ref s, std::span<access> uses, reach how);
// Its first part, for calls that prepare a submission, submit no uses, or submit nothing at all.
void need_current(stream_ref s);
void need_current(const allocation& a);
void need_current(stream_ref s, std::span<const access> uses);

// Makes a device current for the calling thread, for a scope.
class current_device_scope {
 public:
  current_device_scope(runtime& m, int device) : runtime_(m), before_(m.backend().exchange_current_device(device)) {}
  ~current_device_scope() {
    try {
      runtime_.backend().exchange_current_device(before_);
    } catch (const error&) {  // a device that broke meanwhile: the call that finds out reports it
    }
  }
  current_device_scope(const current_device_scope&) = delete;
  current_device_scope& operator=(const current_device_scope&) = delete;

 private:
  runtime& runtime_;
  int before_;
};

// The usual way to submit: what submit(native_stream) gives to the stream comes after all that `uses` must come after.
template <class Submit>
void submit_ordered(stream_ref s, std::span<access> uses, reach how, Submit submit) {
  access_guard guard(admit(s, uses, how));
  submit(s.timeline().stream());
}

// A short list of accesses without allocation.
template <std::size_t Most>
class access_list {
 public:
  void add(const allocation_ref& owner, byte_range where, bool write, bool whole = false, source_line at = {}) {
    if (where.begin != where.end) uses_[count_++] = {&owner.get(at), where, write, whole, at};
  }
  std::span<access> get() { return {uses_.data(), count_}; }

 private:
  std::array<access, Most == 0 ? 1 : Most> uses_;
  std::size_t count_ = 0;
};

}  // namespace detail
}  // namespace ferry
