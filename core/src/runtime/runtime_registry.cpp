#include "runtime/runtime_registry.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "ferry/core/detail/support/mutex.hpp"

namespace ferry::inline FERRY_ABI::detail {
namespace {

struct registry {
  detail::mutex mutex;
  std::shared_ptr<runtime> owner FERRY_GUARDED_BY(mutex);
  std::vector<std::shared_ptr<runtime>> kept FERRY_GUARDED_BY(mutex);
  // by serial: those that were ever current
  std::vector<std::pair<std::uint64_t, std::weak_ptr<runtime>>> alive FERRY_GUARDED_BY(mutex);
};

registry& all() {
  static auto* r = new registry;  // never destroyed: nothing calls CUDA after main
  return *r;
}

std::atomic<runtime*> fast{nullptr};

void enlist(registry& r, const std::shared_ptr<runtime>& m) FERRY_LOCKED(r.mutex) {
  std::erase_if(r.alive, [&](const auto& known) { return known.second.expired() || known.first == m->serial(); });
  r.alive.emplace_back(m->serial(), m);
}

}  // namespace

namespace runtime_registry {

std::shared_ptr<runtime> exchange(std::shared_ptr<runtime> m) {
  lock_guard lock(all().mutex);
  if (m) enlist(all(), m);
  std::swap(all().owner, m);
  fast.store(all().owner.get(), std::memory_order_release);
  return m;
}

void keep_forever(std::shared_ptr<runtime> m) {
  lock_guard lock(all().mutex);
  all().kept.push_back(std::move(m));
}

void if_alive(std::uint64_t serial, const std::function<void(runtime&)>& f) {
  std::shared_ptr<runtime> found;
  {
    lock_guard lock(all().mutex);
    for (const auto& [of, known] : all().alive)
      if (of == serial) found = known.lock();
  }
  if (found) f(*found);
}

}  // namespace runtime_registry
}  // namespace ferry::inline FERRY_ABI::detail

namespace ferry::inline FERRY_ABI {

runtime& runtime::current() {
  if (runtime* m = detail::fast.load(std::memory_order_acquire)) return *m;
  detail::lock_guard lock(detail::all().mutex);
  if (!detail::all().owner) {
    detail::all().owner = detail::runtime_registry::make_chosen();
    detail::enlist(detail::all(), detail::all().owner);
  }
  detail::fast.store(detail::all().owner.get(), std::memory_order_release);
  return *detail::all().owner;
}

}  // namespace ferry::inline FERRY_ABI
