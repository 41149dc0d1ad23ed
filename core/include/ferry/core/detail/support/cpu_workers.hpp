// Threads of the CPU that run the kernels of simulated devices together.
#pragma once
#include <algorithm>
#include <cstddef>
#include <memory>
#include <vector>

#include "ferry/core/detail/support/internal.hpp"
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
  template <class Part>
  void run(std::size_t n, const Part& part) {
    run(
        n, [](const void* p, std::size_t k) { (*static_cast<const Part*>(p))(k); }, &part);
  }

 private:
  using call = void (*)(const void*, std::size_t);
  struct team;
  void run(std::size_t n, call part, const void* argument);

  std::unique_ptr<team> team_;
  unsigned threads_ = 1;
};

// The first element of part n when `all` elements are divided into equal parts.
constexpr std::size_t part_begin(std::size_t all, std::size_t n, std::size_t parts) {
  return all / parts * n + (n < all % parts ? n : all % parts);
}

// The workers for the kernel that this thread runs; null: it runs alone. Kernels within parts run alone.
inline cpu_workers* workers_of_this_thread() noexcept { return this_thread_state.workers; }

// Calls range(begin, end) for [0, all), or on workers for parts of it that have at least `least` elements each.
template <class Range>
void over_parts(std::size_t all, std::size_t least, const Range& range) {
  constexpr std::size_t parts_of_a_thread = 4;  // a thread that the system delays holds up little
  cpu_workers* const workers = workers_of_this_thread();
  const std::size_t parts = workers ? std::min(all / least, parts_of_a_thread * workers->threads()) : 1;
  if (parts < 2) return range(std::size_t{0}, all);
  workers->run(parts, [&](std::size_t n) { range(part_begin(all, n, parts), part_begin(all, n + 1, parts)); });
}

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
