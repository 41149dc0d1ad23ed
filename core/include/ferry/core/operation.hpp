// One submission as the rest of ferry writes it: what is touched, on which stream, and the call that submits.
#pragma once
#include <array>
#include <span>

#include "ferry/core/access_guard.hpp"
#include "ferry/core/error.hpp"
#include "ferry/core/machine.hpp"
#include "ferry/core/stream.hpp"

namespace ferry {

// How the work reaches memory of other devices.
enum class reach : std::uint8_t {
  by_kernel,  // peers must be granted
  by_copy     // the driver finds a way
};

namespace detail {

// Whether the work can be given to s: stream and arrays are of the current machine, and a kernel reaches the memory, for
// which peers are granted; links that pages of unified memory may travel on are tested, on first use (may block). Tells the
// machine's policy of what kernels touch. Throws invalid_argument, peer_access_error, out_of_memory for the test of a link.
void need_access(stream_ref s, std::span<const access> uses, reach how);
void announce_to(access_policy& p, timeline& on, std::span<const access> uses);
// Tells it of what a copy touches.
void announce_copy(stream_ref s, std::span<const access> uses);

// Tells the machine's policy, if there is one, what a submission is going to touch.
inline void announce(machine& m, timeline& on, std::span<const access> uses) {
  if (access_policy* p = m.policy()) [[unlikely]]
    announce_to(*p, on, uses);
}

// Makes a device current for the calling thread, for a scope.
class current_device_scope {
 public:
  current_device_scope(machine& m, int device) : machine_(m), before_(m.verbs().exchange_current_device(device)) {}
  ~current_device_scope() {
    try {
      machine_.verbs().exchange_current_device(before_);
    } catch (const error&) {  // a device that broke meanwhile: the call that finds out reports it
    }
  }
  current_device_scope(const current_device_scope&) = delete;
  current_device_scope& operator=(const current_device_scope&) = delete;

 private:
  machine& machine_;
  int before_;
};

// The one way to submit: what submit(native_stream) gives to the stream comes after all that `uses` must come after.
template <class Submit>
void submit_ordered(stream_ref s, std::span<access> uses, reach how, Submit submit) {
  need_access(s, uses, how);
  access_guard guard(s.line(), uses);
  submit(s.line().stream());
}

// A short list of accesses without allocation.
template <std::size_t Most>
class access_list {
 public:
  void add(const allocation_ref& owner, byte_range where, bool write, bool whole = false, source_line at = {}) {
    if (owner && where.begin != where.end) uses_[count_++] = {&owner.get(at), where, write, whole, at};
  }
  std::span<access> get() { return {uses_.data(), count_}; }

 private:
  std::array<access, Most == 0 ? 1 : Most> uses_;
  std::size_t count_ = 0;
};

}  // namespace detail
}  // namespace ferry
