#include "machine_registry.hpp"

#include <vector>

#include "backend_choice.hpp"

namespace ferry {
namespace {

struct registry {
  std::mutex mutex;
  std::shared_ptr<machine> owner;
  std::vector<std::shared_ptr<machine>> kept;
};

registry& all() {
  static auto* r = new registry;  // never destroyed: nothing calls CUDA after main
  return *r;
}

std::atomic<machine*> fast{nullptr};

}  // namespace

machine& machine::current() {
  if (machine* m = fast.load(std::memory_order_acquire)) return *m;
  std::lock_guard lock(all().mutex);
  if (!all().owner) all().owner = std::make_shared<machine>(choose_backend());
  fast.store(all().owner.get(), std::memory_order_release);
  return *all().owner;
}

namespace machine_registry {

std::shared_ptr<machine> exchange(std::shared_ptr<machine> m) {
  std::lock_guard lock(all().mutex);
  std::swap(all().owner, m);
  fast.store(all().owner.get(), std::memory_order_release);
  return m;
}

void keep_forever(std::shared_ptr<machine> m) {
  std::lock_guard lock(all().mutex);
  all().kept.push_back(std::move(m));
}

void if_current(std::uint64_t serial, const std::function<void(machine&)>& f) {
  std::shared_ptr<machine> m;
  {
    std::lock_guard lock(all().mutex);
    m = all().owner;
  }
  if (m && m->serial() == serial) f(*m);
}

}  // namespace machine_registry
}  // namespace ferry
