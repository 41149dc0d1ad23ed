#include "ferry/core/detail/ordering/host_tasks.hpp"

#include "ferry/core/detail/support/concat.hpp"
#include "ferry/core/error.hpp"

namespace ferry::inline FERRY_ABI::detail {
namespace {

std::string text_of(const std::exception_ptr& what) {
  try {
    std::rethrow_exception(what);
  } catch (const std::exception& e) {
    return plain_what(e);
  } catch (...) {
    return "an exception that is no std::exception";
  }
}

}  // namespace

void refuse_inside_host_task(std::string_view what) {
  if (this_thread_state.in_host_task)
    throw invalid_argument(
        concat("ferry was called (", what,
               ") from inside a function that a stream runs on the CPU, where waits would deadlock: call it before or "
               "after host_task or submit, and pass the arrays that the function uses as arguments"));
}

void host_task_failures::add(source_line at, std::exception_ptr what) noexcept {
  lock_guard lock(mutex_);
  if (count_.load(std::memory_order_relaxed) == 0) first_at_ = at, first_ = std::move(what);
  count_.fetch_add(1, std::memory_order_release);
}

void host_task_failures::raise(const std::string& use) {
  source_line at;
  std::exception_ptr what;
  unsigned count = 0;
  {
    lock_guard lock(mutex_);
    count = count_.exchange(0);
    at = first_at_, what = std::exchange(first_, nullptr);
  }
  if (count == 0) return;  // another thread has reported them
  std::string text = "the function passed to host_task" + in_line(at) + " threw: " + text_of(what) + ".";
  if (!use.empty()) text += " Found by the wait for " + use + ".";
  if (count > 1) text += concat(" Later, ", count - 1, count > 2 ? " further tasks" : " further task", " threw.");
  throw host_task_error(text +
                            " Later work of its stream ran all the same, on what the task left in its arrays: write "
                            "them again, or catch exceptions inside the function",
                        std::move(what));
}

}  // namespace ferry::inline FERRY_ABI::detail
