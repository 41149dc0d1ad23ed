#include "support/fork_guard.hpp"

#include <pthread.h>

#include <algorithm>
#include <mutex>
#include <vector>

namespace ferry::inline FERRY_ABI::detail {
namespace {

struct guarded_mutexes {
  std::mutex mutex;
  std::vector<fork_guard::any_mutex> all;

  void lock() {
    mutex.lock();
    for (const auto& m : all) m.lock(m.mutex);
  }
  void unlock() {
    for (const auto& m : all) m.unlock(m.mutex);
    mutex.unlock();
  }
};
// Never destroyed: programs may fork at their end.
guarded_mutexes& guarded() {
  static auto* const mutexes = [] {
    ::pthread_atfork([] { guarded().lock(); }, [] { guarded().unlock(); }, [] { guarded().unlock(); });
    return new guarded_mutexes();
  }();
  return *mutexes;
}

}  // namespace

fork_guard::fork_guard(any_mutex m) : mutex_(m.mutex) {
  guarded_mutexes& to = guarded();
  const std::lock_guard lock(to.mutex);
  to.all.push_back(m);
}

fork_guard::~fork_guard() {
  guarded_mutexes& from = guarded();
  const std::lock_guard lock(from.mutex);
  from.all.erase(std::find_if(from.all.begin(), from.all.end(), [&](const auto& m) { return m.mutex == mutex_; }));
}

}  // namespace ferry::inline FERRY_ABI::detail
