#include "ferry/core/detail/support/cpu_workers.hpp"

#include <unistd.h>

#include <algorithm>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "ferry/core/detail/support/spin.hpp"
#include "ferry/core/detail/support/thread_affinity.hpp"

namespace ferry::inline FERRY_ABI::detail {

struct cpu_workers::team {
  // A thread's parts of a job. Jobs of the same number of parts give it the same ones, whose data are then in its cache
  // and near it.
  struct alignas(64) share {
    // Takes the next part of a job, of `all`. Returns `all` if none is left.
    std::uint32_t take(std::uint32_t of_job, std::uint32_t all) {
      std::uint64_t was = taken.load(std::memory_order_relaxed);
      for (;;) {
        const auto next = was >> 32 == of_job ? static_cast<std::uint32_t>(was) : 0;
        if (next >= all) return all;
        if (taken.compare_exchange_weak(was, std::uint64_t{of_job} << 32 | (next + 1), std::memory_order_relaxed))
          return next;
      }
    }
    // The number of the latest job in which a part was taken, and how many of it: a new job needs no write.
    std::atomic<std::uint64_t> taken{0};
  };

  void run_part(std::size_t k) {
    try {
      (*part)(k);
    } catch (...) {
      const std::lock_guard lock(mutex);
      if (error && failed < k) return;
      error = std::current_exception();
      failed = k;
    }
  }

  // Does the thread's own parts, then those that other threads have not begun.
  void work(std::size_t thread) {
    for (std::size_t n = 0, of = thread; n != shares.size(); ++n, of = of + 1 == shares.size() ? 0 : of + 1) {
      const std::size_t first = part_begin(parts, of, shares.size());
      const auto all = static_cast<std::uint32_t>(part_begin(parts, of + 1, shares.size()) - first);
      for (std::uint32_t k; (k = shares[of].take(number, all)) != all;) run_part(first + k);
    }
  }

  // Waits for a job other than `seen`. Returns false at the end.
  bool wait_for_job(std::uint32_t& seen) {
    for (int k = 0; k < spins_before_sleep && job.load(std::memory_order_relaxed) == seen; ++k) relax_cpu();
    if (job.load() == seen) {
      std::unique_lock lock(mutex);
      sleeping.fetch_add(1);
      while (job.load() == seen) wake.wait(lock);
      sleeping.fetch_sub(1);
    }
    seen = job.load(std::memory_order_acquire);
    return !is_ending.load(std::memory_order_relaxed);
  }

  void serve(std::size_t thread) {
    for (std::uint32_t seen = 0; wait_for_job(seen);) {
      std::uint32_t now = inside.load(std::memory_order_relaxed);
      while (now < closed && !inside.compare_exchange_weak(now, now + 1, std::memory_order_acquire)) {
      }
      if (now >= closed) continue;
      work(thread);
      inside.fetch_sub(1, std::memory_order_release);
    }
  }

  void announce() {
    job.fetch_add(1);
    if (sleeping.load() == 0) return;
    const std::lock_guard lock(mutex);
    wake.notify_all();
  }

  static constexpr std::uint32_t closed = 1u << 31;

  std::mutex running;  // one job at a time
  // The job: written while no thread is inside.
  const function_ref<void(std::size_t)>* part = nullptr;
  std::size_t parts = 0;
  std::uint32_t number = 0;   // differs from that of the job before
  std::vector<share> shares;  // by thread; the first is that of the thread that submits a job
  alignas(64) std::atomic<std::uint32_t> inside{closed};  // threads in the job; at least `closed`: none may enter
  alignas(64) std::atomic<std::uint32_t> job{0};          // its number
  std::atomic<int> sleeping{0};
  std::atomic<bool> is_ending{false};
  std::mutex mutex;
  std::condition_variable wake;
  std::exception_ptr error;  // of part `failed`
  std::size_t failed = 0;
  std::vector<std::thread> others;
  const pid_t process = ::getpid();
};

cpu_workers::cpu_workers(unsigned threads, const std::vector<int>& cores) : team_(make_owning<team>()) {
  team_->shares = std::vector<team::share>(threads);
  try {
    for (; threads_ < threads; ++threads_)
      team_->others.emplace_back([t = team_.get(), thread = threads_, cores] {
        if (!cores.empty()) run_this_thread_on(cores);
        t->serve(thread);
      });
  } catch (const std::system_error&) {  // the system allows no more threads
  }
}

cpu_workers::~cpu_workers() {
  // After fork(), the child process does not have the threads: it can neither join nor detach them.
  if (::getpid() != team_->process) {
    static_cast<void>(team_.release());
    return;
  }
  team_->is_ending = true;
  team_->announce();
  for (std::thread& t : team_->others) t.join();
}

void cpu_workers::run(std::size_t n, function_ref<void(std::size_t)> part) {
  const worker_scope alone(nullptr);
  team& t = *team_;
  const std::unique_lock mine(t.running, std::try_to_lock);
  // After fork(), the threads are gone, and one of them may have held the mutex.
  if (n < 2 || threads_ == 1 || !mine.owns_lock() || ::getpid() != t.process) {
    for (std::size_t k = 0; k < n; ++k) part(k);
    return;
  }
  t.part = &part, t.parts = n, ++t.number;
  t.inside.store(0, std::memory_order_release);
  t.announce();
  t.work(0);
  t.inside.fetch_or(team::closed, std::memory_order_acquire);
  for (int k = 0; t.inside.load(std::memory_order_acquire) != team::closed; ++k)
    k < spins_before_sleep ? relax_cpu() : std::this_thread::yield();
  if (t.error) std::rethrow_exception(std::exchange(t.error, nullptr));
}

void over_parts(std::size_t all, std::size_t least, function_ref<void(std::size_t begin, std::size_t end)> range) {
  constexpr std::size_t parts_of_a_thread = 4;  // a thread that the system delays holds up little
  cpu_workers* const workers = workers_of_this_thread();
  const std::size_t parts = workers ? std::min(all / least, parts_of_a_thread * workers->threads()) : 1;
  if (parts < 2) return range(0, all);
  workers->run(parts, [&](std::size_t n) { range(part_begin(all, n, parts), part_begin(all, n + 1, parts)); });
}

}  // namespace ferry::inline FERRY_ABI::detail
