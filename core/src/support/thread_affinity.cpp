#include "ferry/core/detail/support/thread_affinity.hpp"

#include <algorithm>
#include <thread>

#if defined(__linux__)
#include <sched.h>
#include <unistd.h>
#endif

namespace ferry::inline FERRY_ABI::detail {
namespace {

// Returns the cores of a thread: 0 is the calling one; the main thread has the number of the process.
std::vector<int> cores_of([[maybe_unused]] int thread) {
  std::vector<int> cores;
#if defined(__linux__)
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(thread, sizeof set, &set) == 0)
    for (int c = 0; c < CPU_SETSIZE; ++c)
      if (CPU_ISSET(static_cast<std::size_t>(c), &set)) cores.push_back(c);
#endif
  if (cores.empty())
    for (unsigned c = 0; c < std::max(1u, std::thread::hardware_concurrency()); ++c)
      cores.push_back(static_cast<int>(c));
  return cores;
}

}  // namespace

std::vector<int> usable_cores() { return cores_of(0); }

const std::vector<int>& process_cores() {
#if defined(__linux__)
  static const auto* all = new std::vector<int>(cores_of(getpid()));
#else
  static const auto* all = new std::vector<int>(cores_of(0));
#endif
  return *all;
}

void run_this_thread_on([[maybe_unused]] const std::vector<int>& cores) {
#if defined(__linux__)
  cpu_set_t set;
  CPU_ZERO(&set);
  const std::vector<int>& usable = process_cores();
  for (const int c : cores)
    if (c < CPU_SETSIZE && std::find(usable.begin(), usable.end(), c) != usable.end())
      CPU_SET(static_cast<std::size_t>(c), &set);
  if (CPU_COUNT(&set) > 0) sched_setaffinity(0, sizeof set, &set);  // on failure the thread is only slower
#endif
}

cores_scope::cores_scope(const std::vector<int>& cores) {
  if (cores.empty()) return;
  before_ = usable_cores();
  run_this_thread_on(cores);
}

cores_scope::~cores_scope() {
  if (before_.empty()) return;
#if defined(__linux__)
  cpu_set_t set;
  CPU_ZERO(&set);
  for (const int c : before_) CPU_SET(static_cast<std::size_t>(c), &set);
  sched_setaffinity(0, sizeof set, &set);
#endif
}

}  // namespace ferry::inline FERRY_ABI::detail
