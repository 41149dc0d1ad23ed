// The only ways to submit: access_guard, joint_guard and escaped_pointer_use.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "ferry/core/detail/ordering/access_history.hpp"
#include "ferry/core/detail/ordering/allocation.hpp"
#include "ferry/core/detail/support/internal.hpp"
#include "ferry/core/detail/support/thread_context.hpp"

namespace ferry::inline FERRY_ABI {
class stream_ref;
}  // namespace ferry::inline FERRY_ABI

namespace ferry::inline FERRY_ABI::detail {

class capture_session;

// Throws invalid_argument inside a submission of the calling thread (R14).
void refuse_inside_submission(std::string_view what);
// Throws invalid_argument inside a capture of the calling thread.
void refuse_inside_capture(std::string_view what);

class admission;
enum class reach : std::uint8_t;
admission admit(stream_ref s, std::span<access> uses, reach how);

// Permission to submit: detail::admit (in submission.hpp) has checked the stream and the arrays.
class admission {
 public:
  // For ferry's internal submissions: page migration, red zones. Checks nothing.
  static admission unchecked(timeline& on, std::span<access> uses) { return {on, uses}; }
  timeline& on() const { return on_; }
  std::span<access> uses() const { return uses_; }

 private:
  friend admission admit(stream_ref s, std::span<access> uses, reach how);
  admission(timeline& on, std::span<access> uses) : on_(on), uses_(uses) {}
  timeline& on_;
  std::span<access> uses_;
};

// The constructor makes the stream wait for all conflicting accesses and records the new ones in the access histories.
// The caller must enqueue the work before the guard is destroyed. In between, the calling thread enqueues exactly the
// work of the accesses, to on.stream(), and calls nothing else of ferry. The guard holds no lock: a thread that finds
// its ticket in a history waits until the ticket is submitted. The guard never blocks on device work. Only the
// constructor throws, before it records anything.
class access_guard {
 public:
  // May sort the accesses by the address of their histories; a history may appear several times.
  explicit access_guard(const admission& what) : access_guard(what.on(), what.uses()) {}
  ~access_guard();
  access_guard(const access_guard&) = delete;
  access_guard& operator=(const access_guard&) = delete;

 private:
  // Separate arguments stay in registers. An admission in memory is written in words and read wider, which the CPU's
  // store forwarding does not support (5 ns).
  access_guard(timeline& on, std::span<access> uses);
  timeline& on_;
  std::span<access> uses_;
  ticket at_ = 0;
  unsigned failures_ = 0;  // number of known failures when the histories were last searched for lost bytes
  bool mark_ = false;
  capture_session* capture_ = nullptr;
};

// Adds a device to the current submission of this thread to `on`, such as for a graph node or one hop of a copy. The
// results are lost if that device fails before they are complete (R19).
void takes_part(timeline& on, int device);

// One submission to several different streams, for joint operations such as collectives (R16).
class joint_guard {
 public:
  struct part {
    explicit part(const admission& what) : on(&what.on()), uses(what.uses()) {}
    timeline* on;
    std::span<access> uses;
    ticket at = 0;  // the constructor of the guard sets it
  };
  // May sort the parts, and the accesses of each.
  explicit joint_guard(std::span<part> parts);
  ~joint_guard();
  joint_guard(const joint_guard&) = delete;
  joint_guard& operator=(const joint_guard&) = delete;

 private:
  std::span<part> parts_;
  bool mark_ = false;
};

// Records an unbounded access: all later work of the stream counts as access to the bytes, until another stream or the
// CPU accesses them (R11). Never blocks on device work.
void escaped_pointer_use(const admission& what);

}  // namespace ferry::inline FERRY_ABI::detail
