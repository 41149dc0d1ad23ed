#include "fork_guard.hpp"

#include <pthread.h>

#include <algorithm>
#include <vector>

namespace ferry::inline FERRY_ABI::detail::sim {
namespace {

struct guarded_mutexes {
  std::mutex mutex;
  std::vector<std::mutex*> all;

  void lock() {
    mutex.lock();
    for (std::mutex* m : all) m->lock();
  }
  void unlock() {
    for (std::mutex* m : all) m->unlock();
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

fork_guard::fork_guard(std::mutex& m) : mutex_(m) {
  guarded_mutexes& to = guarded();
  const std::lock_guard lock(to.mutex);
  to.all.push_back(&m);
}

fork_guard::~fork_guard() {
  guarded_mutexes& from = guarded();
  const std::lock_guard lock(from.mutex);
  from.all.erase(std::find(from.all.begin(), from.all.end(), &mutex_));
}

}  // namespace ferry::inline FERRY_ABI::detail::sim
