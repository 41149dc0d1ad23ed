#include "runtime/machine_registry.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace ferry {
namespace {

struct registry {
  std::mutex mutex;
  std::shared_ptr<machine> owner;
  std::vector<std::shared_ptr<machine>> kept;
  std::vector<std::pair<std::uint64_t, std::weak_ptr<machine>>> alive;  // by serial: those that were ever current
};

registry& all() {
  static auto* r = new registry;  // never destroyed: nothing calls CUDA after main
  return *r;
}

std::atomic<machine*> fast{nullptr};

// With the mutex held.
void enlist(registry& r, const std::shared_ptr<machine>& m) {
  std::erase_if(r.alive, [&](const auto& known) { return known.second.expired() || known.first == m->serial(); });
  r.alive.emplace_back(m->serial(), m);
}

}  // namespace

machine& machine::current() {
  if (machine* m = fast.load(std::memory_order_acquire)) return *m;
  std::lock_guard lock(all().mutex);
  if (!all().owner) {
    all().owner = machine_registry::make_chosen();
    enlist(all(), all().owner);
  }
  fast.store(all().owner.get(), std::memory_order_release);
  return *all().owner;
}

namespace machine_registry {

std::shared_ptr<machine> exchange(std::shared_ptr<machine> m) {
  std::lock_guard lock(all().mutex);
  if (m) enlist(all(), m);
  std::swap(all().owner, m);
  fast.store(all().owner.get(), std::memory_order_release);
  return m;
}

void keep_forever(std::shared_ptr<machine> m) {
  std::lock_guard lock(all().mutex);
  all().kept.push_back(std::move(m));
}

void if_alive(std::uint64_t serial, const std::function<void(machine&)>& f) {
  std::shared_ptr<machine> found;
  {
    std::lock_guard lock(all().mutex);
    for (const auto& [of, known] : all().alive)
      if (of == serial) found = known.lock();
  }
  if (found) f(*found);
}

}  // namespace machine_registry
}  // namespace ferry
