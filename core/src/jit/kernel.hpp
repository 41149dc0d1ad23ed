// A kernel that is compiled at run time, and its state since its first request.
#pragma once
#include <atomic>
#include <cstdint>
#include <string>
#include <utility>

#include "ferry/version.hpp"
#include "jit/kernel_source.hpp"

namespace ferry::inline FERRY_ABI::detail::jit {

enum class kernel_state : std::uint8_t { requested, ready, failed };
enum class kernel_origin : std::uint8_t { none, compiled, disk };

// A kernel for one device. The thread that compiles writes `origin`, `milliseconds` and `failure`, and publishes them
// by `state`.
class kernel {
 public:
  kernel(int on, kernel_source from) : device(on), source(std::move(from)) {}
  kernel(const kernel&) = delete;
  kernel& operator=(const kernel&) = delete;

  // The driver's function; null until the kernel is ready.
  void* function() const noexcept { return function_.load(std::memory_order_acquire); }
  kernel_state state() const noexcept { return state_.load(std::memory_order_acquire); }
  bool is_pending() const noexcept { return state() == kernel_state::requested; }
  void set_ready(void* function) noexcept {
    function_.store(function, std::memory_order_release);
    state_.store(kernel_state::ready, std::memory_order_release);
  }
  void set_failed(std::string why) {
    failure = std::move(why);
    state_.store(kernel_state::failed, std::memory_order_release);
  }
  // Returns the state as text: "compiled in 45.1 ms", "from disk", "being compiled", or why there is no code.
  std::string text() const;

  const int device;
  const kernel_source source;
  // Valid unless is_pending().
  kernel_origin origin = kernel_origin::none;
  double milliseconds = 0;  // from the start of work on it until it was loaded
  std::string failure = {};

 private:
  std::atomic<void*> function_{nullptr};
  std::atomic<kernel_state> state_{kernel_state::requested};
};

}  // namespace ferry::inline FERRY_ABI::detail::jit
