// The only way to submit: one guard around each submission, and one wait for each access of the CPU.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "ferry/core/detail/ordering/access_history.hpp"
#include "ferry/core/detail/ordering/allocation.hpp"

namespace ferry {

class capture_session;

// What the calling thread is in the middle of.
struct thread_state {
  bool submitting = false;
  capture_session* capture = nullptr;
  const timeline* last_timeline = nullptr;  // that was given work last; it may be gone by now
};
inline thread_local constinit thread_state this_thread_state;

// Throws invalid_argument when the calling thread is inside a submission (R14).
void refuse_inside_submission(std::string_view what);
// Throws invalid_argument when the calling thread is capturing.
void refuse_inside_capture(std::string_view what);

class stream_ref;
class admission;
enum class reach : std::uint8_t;
namespace detail {
admission admit(stream_ref s, std::span<access> uses, reach how);
}

// A submission that may be made: the gate (detail::admit, in operation.hpp) has checked its stream and its arrays.
class admission {
 public:
  // For submissions of ferry's own, which no call of the program makes: moves of pages, red zones. Nothing is checked.
  static admission unchecked(timeline& on, std::span<access> uses) { return {on, uses}; }
  timeline& on() const { return on_; }
  std::span<access> uses() const { return uses_; }

 private:
  friend admission detail::admit(stream_ref s, std::span<access> uses, reach how);
  admission(timeline& on, std::span<access> uses) : on_(on), uses_(uses) {}
  timeline& on_;
  std::span<access> uses_;
};

// Ordered behind all that the accesses must come after and logged when constructed; given to the stream before it is
// destroyed. Between the two, the calling thread submits exactly what the accesses describe, to on.stream(), and calls
// nothing else of ferry. No lock is held meanwhile: whoever finds the ticket in a log waits until it is given. The CPU
// never waits for a device here. Everything that can throw does so in the constructor, before anything is logged.
class access_guard {
 public:
  // May sort the uses by the address of their logs; the same log may appear several times.
  explicit access_guard(const admission& what) : access_guard(what.on(), what.uses()) {}
  ~access_guard();
  access_guard(const access_guard&) = delete;
  access_guard& operator=(const access_guard&) = delete;

 private:
  // In registers: an admission in memory is written in words and read wider, which the CPU does not forward (5 ns).
  access_guard(timeline& on, std::span<access> uses);
  timeline& on_;
  std::span<access> uses_;
  ticket at_ = 0;
  unsigned failures_ = 0;  // so many were known when the logs were last asked for what is lost
  bool mark_ = false;
  capture_session* capture_ = nullptr;
};

// For the submission to `on` that this thread is in: another device takes part in it (a node of a graph, a hop of a copy). What
// it writes is lost when that device fails before it is over (R19).
void takes_part(timeline& on, int device);

// One submission to several different streams, for operations that run jointly, as collectives do (R16).
class joint_guard {
 public:
  struct part {
    explicit part(const admission& what) : on(&what.on()), uses(what.uses()) {}
    timeline* on;
    std::span<access> uses;
    ticket at = 0;  // set by the guard
  };
  // May sort the parts, and the uses of each.
  explicit joint_guard(std::span<part> parts);
  ~joint_guard();
  joint_guard(const joint_guard&) = delete;
  joint_guard& operator=(const joint_guard&) = delete;

 private:
  std::span<part> parts_;
  bool mark_ = false;
};

// Logs an open use: from now on whatever is given to the stream counts as touching the bytes, until somebody else asks
// for them (R11). The CPU does not wait.
void escaped_pointer_use(const admission& what);

}  // namespace ferry
