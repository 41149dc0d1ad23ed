// Threads of the CPU that run the kernels of simulated devices together.
#pragma once
#include <cstddef>
#include <vector>

#include "ferry/core/detail/support/function_ref.hpp"
#include "ferry/core/detail/support/internal.hpp"
#include "ferry/core/detail/support/owning_ptr.hpp"
#include "ferry/core/detail/support/thread_context.hpp"

namespace ferry::inline FERRY_ABI::detail {

// The threads sleep while there is no work. Work never waits for a thread that has not begun with it, so it is also
// done if the threads are gone, as after fork().
class cpu_workers {
 public:
  // threads: at least 1, with the calling one. There are fewer if the system allows no more. The others run on `cores`
  // only, unless that is empty.
  explicit cpu_workers(unsigned threads, const std::vector<int>& cores = {});
  ~cpu_workers();
  cpu_workers(const cpu_workers&) = delete;
  cpu_workers& operator=(const cpu_workers&) = delete;

  unsigned threads() const noexcept { return threads_; }
  // Calls part(k) for all k below n, on the calling thread and the others, in any order. Returns when all calls have
  // ended. Rethrows the exception of the lowest k. A second thread that calls this meanwhile does its work alone.
  void run(std::size_t n, function_ref<void(std::size_t)> part);

 private:
  struct team;

  owning_ptr<team> team_;
  unsigned threads_ = 1;
};

// The first element of part n when `all` elements are divided into equal parts.
constexpr std::size_t part_begin(std::size_t all, std::size_t n, std::size_t parts) {
  return all / parts * n + (n < all % parts ? n : all % parts);
}

// The workers for the kernel that this thread runs; null: it runs alone. Kernels within parts run alone.
inline cpu_workers* workers_of_this_thread() noexcept { return this_thread_state.workers; }

// Calls range(begin, end) for [0, all), or on workers for parts of it that have at least `least` elements each.
void over_parts(std::size_t all, std::size_t least, function_ref<void(std::size_t begin, std::size_t end)> range);

// While it exists, kernels on this thread use the workers, and check indices as told.
class worker_scope {
 public:
  explicit worker_scope(cpu_workers* w, index_checks indices = index_checks::simulated) noexcept
      : before_(this_thread_state.workers),
        indices_before_(this_thread_state.indices) {
    this_thread_state.workers = w;
    this_thread_state.indices = indices;
  }
  ~worker_scope() {
    this_thread_state.workers = before_;
    this_thread_state.indices = indices_before_;
  }
  worker_scope(const worker_scope&) = delete;
  worker_scope& operator=(const worker_scope&) = delete;

 private:
  cpu_workers* const before_;
  const index_checks indices_before_;
};

}  // namespace ferry::inline FERRY_ABI::detail
