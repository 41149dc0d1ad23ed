/// @file
/// Streams. Work of one stream runs in order; ferry orders streams against each other by the arrays that their work
/// uses.
#pragma once
#include "ferry/core/detail/ordering/timeline.hpp"
#include "ferry/core/device.hpp"
#include "ferry/core/error.hpp"
#include "ferry/version.hpp"

namespace ferry::inline FERRY_ABI {

/// @addtogroup streams
/// @{

class event;

/// Non-owning reference to a stream.
class stream_ref {
 public:
  /// Reference to a stream of the runtime.
  explicit stream_ref(detail::timeline& t) : timeline_(&t) {}
  /// Refers to a stream that the program created (cudaStream_t), or to a default stream. Default streams are null,
  /// cudaStreamLegacy and cudaStreamPerThread; they support submissions but not raw pointers. Call release() before
  /// destroying the stream.
  /// @throws invalid_argument for a stream of another device than d, and for a default stream while another device than
  ///   d is the calling thread's current one
  static stream_ref from_native(device d, native_stream s);
  /// Stops tracking a stream of from_native. Records an event after its work; ferry never uses the handle again.
  void release();

  /// Device of the stream.
  device where() const { return device(timeline().device()); }
  /// Priority: 0, or negative for more urgent.
  int priority() const { return timeline().priority(); }
  /// Native handle, for work that ferry does not track. Orders nothing.
  native_stream native() const;
  /// Blocks until all work of the stream is complete, whether ferry tracks it or not.
  void synchronize() const;
  /// True if all work of the stream is complete. Never blocks.
  bool is_done() const { return timeline().is_done(); }
  /// Records an event after all work enqueued so far.
  event record() const;
  /// Makes later work of this stream wait for an event, or for all work enqueued so far on another stream. Never
  /// blocks.
  void wait(const event& e) const;
  /// @overload
  /// @throws device_error if the other stream's device failed: later work might read lost data
  void wait(stream_ref other) const;

  /// Timeline of the stream. This and the functions above throw invalid_argument for a moved-from stream.
  detail::timeline& timeline() const {
    if (!timeline_) [[unlikely]]
      detail::throw_moved_from("the stream");
    return *timeline_;
  }
  bool operator==(const stream_ref& o) const { return timeline_ == o.timeline_; }

 protected:
  detail::timeline* timeline_;
};

/// An owned stream from the runtime's cache. The destructor returns it; its work continues.
class stream : public stream_ref {
 public:
  /// @param d device of the stream
  /// @param priority 0, or negative for more urgent
  /// @note May block if the cache is empty.
  explicit stream(device d = default_device(), int priority = 0);
  stream(stream&& o) noexcept : stream_ref(o), serial_(o.serial_) { o.timeline_ = nullptr; }
  stream& operator=(stream&& o) noexcept;
  ~stream();

 private:
  std::uint64_t serial_;
};

/// Blocks until all work on all streams of all devices of the runtime is complete; not inside a capture. Call it at the
/// end of a program or simulation to detect failures that no other call waited for.
/// @throws device_error if a device has failed, even if thrown before; host_task_error if a function of host_task threw
void synchronize();

/// The calling thread's own stream of a device, created on first use.
stream_ref default_stream(device d);

/// A point in a stream, with its time.
class event {
 public:
  /// Records the event after all work enqueued to s so far.
  explicit event(stream_ref s);
  event(event&& o) noexcept;
  event& operator=(event&& o) noexcept;
  ~event();
  /// Blocks until the point is reached.
  void synchronize() const;
  /// True if the point is reached. Never blocks.
  bool is_done() const;
  /// Native handle.
  native_event native() const { return native_; }
  /// Native handle, checked to belong to the current runtime.
  /// @throws invalid_argument for a moved-from event, and for an event of another runtime
  native_event current() const;
  /// Milliseconds between two points of one device. Blocks until both are reached.
  friend double milliseconds_between(const event& from, const event& to);

 private:
  native_event native_;
  std::uint64_t serial_;
};

/// Milliseconds between two points of one device. Blocks until both are reached.
double milliseconds_between(const event& from, const event& to);

/// @}

}  // namespace ferry::inline FERRY_ABI
