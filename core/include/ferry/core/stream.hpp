// Streams: work given to one runs in order; ferry orders streams against each other by what the work touches.
#pragma once
#include "ferry/core/detail/ordering/timeline.hpp"
#include "ferry/core/device.hpp"
#include "ferry/core/error.hpp"

namespace ferry {

class event;

// Names a stream that somebody else owns.
class stream_ref {
 public:
  explicit stream_ref(ferry::timeline& t) : timeline_(&t) {}
  // A stream that the program created (cudaStream_t), or a default stream (null, cudaStreamLegacy, cudaStreamPerThread:
  // usable for submissions, not for raw pointers). Call release() before destroying it. Throws invalid_argument for a stream
  // of another device than d, and for a default stream while another device than d is the calling thread's current one.
  static stream_ref from_native(device d, native_stream s);
  // Ends ferry's interest in a stream of from_native: what it was given is marked; it is never touched again.
  void release();

  device where() const { return device(timeline().device()); }
  int priority() const { return timeline().priority(); }
  // The native handle, for work that ferry does not see. Does not order anything.
  native_stream native() const;
  // Blocks until all work given to the stream is over, seen by ferry or not.
  void synchronize() const;
  // Whether the stream has nothing left to do. Never blocks.
  bool is_done() const { return timeline().is_done(); }
  // An event behind all work given so far.
  event record() const;
  // Orders all later work here behind an event, or behind all that another stream was given. The CPU does not wait.
  void wait(const event& e) const;
  // Throws device_error when the other stream's device failed: what comes later might read what is lost.
  void wait(stream_ref other) const;

  // Throws invalid_argument for a stream that was moved from, as all of the above.
  ferry::timeline& timeline() const {
    if (!timeline_) [[unlikely]]
      throw_moved_from("the stream");
    return *timeline_;
  }
  bool operator==(const stream_ref& o) const { return timeline_ == o.timeline_; }

 protected:
  ferry::timeline* timeline_;
};

// A stream of its own, out of the machine's stock. Destroying it returns it; its work goes on.
class stream : public stream_ref {
 public:
  // priority: 0, or negative for more urgent. May block when the stock is empty.
  explicit stream(device d = default_device(), int priority = 0);
  stream(stream&& o) noexcept : stream_ref(o), serial_(o.serial_) { o.timeline_ = nullptr; }
  stream& operator=(stream&& o) noexcept;
  ~stream();

 private:
  std::uint64_t serial_;
};

// Blocks until all work on all streams of the machine is over. Throws device_error if a device has failed, whether or not
// another call has thrown that: at the end of a program or simulation, the way to learn of a failure that no call waited for.
void synchronize();

// The calling thread's own stream of a device, made at first use.
stream_ref default_stream(device d);

// A point in a stream, with its time.
class event {
 public:
  explicit event(stream_ref s);
  event(event&& o) noexcept;
  event& operator=(event&& o) noexcept;
  ~event();
  // Blocks until the point is reached.
  void synchronize() const;
  // Whether the point is reached. Never blocks.
  bool is_done() const;
  native_event native() const { return native_; }
  // The same, of the current machine. Throws invalid_argument for an event that was moved from, and for another machine's.
  native_event current() const;
  // Milliseconds between two points of one device. Blocks until both are reached.
  friend double milliseconds_between(const event& from, const event& to);

 private:
  native_event native_;
  std::uint64_t serial_;
};

double milliseconds_between(const event& from, const event& to);

}  // namespace ferry
