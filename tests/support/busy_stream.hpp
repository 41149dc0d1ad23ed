// A stream of simulated devices that is busy for as long as a test wants: proof that something does not wait for it.
#pragma once
#include <atomic>
#include <chrono>
#include <thread>

#include <ferry/core.hpp>

namespace support {

// From construction to release(), or for ten seconds, so that what waits for it fails and does not hang. Simulated work is
// run by whoever waits: here a thread of its own. What others give to the stream comes behind.
class busy_stream {
 public:
  // The schedule must be random: the eager one makes whoever gives work wait.
  explicit busy_stream(ferry::stream_ref s) {
    const ferry::native_stream native = s.timeline().stream();
    ferry::backend& backend = ferry::runtime::current().backend();
    worker_ = std::jthread([this, &backend, native] {
      backend.run_on_host(native, [this] {
        const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(10);
        is_busy_ = begun_ = true;
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
  // The stream goes on with what else it was given.
  void release() { released_ = true; }

 private:
  std::atomic<bool> begun_{false}, is_busy_{false}, released_{false};
  std::jthread worker_;  // joined first
};

}  // namespace support
