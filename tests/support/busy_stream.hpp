// Keeps a simulated stream busy until released, to prove that an operation does not wait for it.
#pragma once
#include <atomic>
#include <chrono>
#include <thread>

#include <ferry/core.hpp>

namespace support {

// Blocks the stream from construction to release(), at most ten seconds: an operation that waits for it fails the test
// instead of hanging. Waiting threads run the simulated work, so this class has a waiting thread. Work that others
// enqueue on the stream runs after it.
class busy_stream {
 public:
  // Requires a random schedule: on an eager one, enqueueing waits for the work.
  explicit busy_stream(ferry::stream_ref s) {
    const ferry::native_stream native = s.timeline().stream();
    ferry::detail::backend& backend = ferry::runtime::current().backend();
    worker_ = std::jthread([this, &backend, native] {
      backend.run_on_host(native, [this] {
        const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(10);
        is_busy_ = true;
        begun_ = true;
        while (!released_ && std::chrono::steady_clock::now() < end) std::this_thread::yield();
        is_busy_ = false;
      });
      backend.synchronize(native);
    });
    while (!begun_) std::this_thread::yield();
  }
  busy_stream(const busy_stream&) = delete;
  busy_stream& operator=(const busy_stream&) = delete;
  ~busy_stream() { release(); }

  bool is_busy() const { return is_busy_; }
  // Lets the stream continue with its other work.
  void release() { released_ = true; }

 private:
  std::atomic<bool> begun_{false}, is_busy_{false}, released_{false};
  std::jthread worker_;  // joined first
};

}  // namespace support
