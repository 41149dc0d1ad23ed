// Functions of the program that a stream runs on the CPU: what they must not do, and what they threw.
#pragma once
#include <atomic>
#include <exception>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>

#include "ferry/core/detail/support/internal.hpp"
#include "ferry/core/detail/support/mutex.hpp"
#include "ferry/core/detail/support/thread_context.hpp"
#include "ferry/core/source_line.hpp"

namespace ferry::inline FERRY_ABI::detail {

// While it lives, calls of ferry by this thread that submit, wait or allocate throw invalid_argument. The thread may be
// one of the driver, or one that waits for the device and holds locks.
class host_task_scope {
 public:
  host_task_scope()
      : submitting_(std::exchange(this_thread_state.submitting, true)),
        in_host_task_(std::exchange(this_thread_state.in_host_task, true)) {}
  ~host_task_scope() {
    this_thread_state.submitting = submitting_;
    this_thread_state.in_host_task = in_host_task_;
  }
  host_task_scope(const host_task_scope&) = delete;
  host_task_scope& operator=(const host_task_scope&) = delete;

 private:
  const bool submitting_, in_host_task_;
};

// Throws invalid_argument inside a host task, for calls that may be made inside other submissions.
void refuse_inside_host_task(std::string_view what);

// The exceptions of the host tasks of a runtime, until a call that waits throws them. Thread-safe.
class host_task_failures {
 public:
  // Called by the thread that ran the task. Does not allocate. at: line of the call of host_task.
  void add(source_line at, std::exception_ptr what) noexcept;
  // True if a task threw that raise() has not reported.
  bool any() const { return count_.load(std::memory_order_acquire) != 0; }
  // If any(): throws host_task_error for the tasks that threw until now, with the text of the first one. use: the array
  // that the caller waited for, as use_text() describes it; or "".
  void raise(const std::string& use);

 private:
  std::atomic<unsigned> count_{0};
  mutex mutex_;
  source_line first_at_ FERRY_GUARDED_BY(mutex_);
  std::exception_ptr first_ FERRY_GUARDED_BY(mutex_);
};

}  // namespace ferry::inline FERRY_ABI::detail
