#include "ferry/core/pool.hpp"

#include <array>
#include <atomic>
#include <utility>

#include "ferry/core/error.hpp"
#include "ferry/core/machine.hpp"
#include "machine_registry.hpp"

namespace ferry {

struct pool::made_pools {
  std::array<std::atomic<memory_pool*>, 3> by_kind{};
};

pool::pool(ferry::device d, const pool_options& options)
    : where_(d),
      options_(resolved(options, machine::current().default_pool_kind())),
      serial_(machine::current().serial()),
      made_(std::make_unique<made_pools>()) {
  (void)d.properties();
}

pool pool::default_of(ferry::device d) {
  (void)d.properties();
  return pool(d, {.kind = pool_kind::driver, .shared = true});
}

pool::pool(pool&& o) noexcept : where_(o.where_), options_(o.options_), serial_(o.serial_), made_(std::move(o.made_)) {}

pool& pool::operator=(pool&& o) noexcept {
  std::swap(where_, o.where_);
  std::swap(options_, o.options_);
  std::swap(serial_, o.serial_);
  std::swap(made_, o.made_);
  return *this;
}

pool::~pool() {
  if (!made_) return;
  machine_registry::if_alive(serial_, [&](machine& m) {
    for (auto& p : made_->by_kind)
      if (p) m.give_back_pool(*p);
  });
}

machine& pool::home() const {
  machine& m = machine::current();
  if (m.serial() != serial_)
    throw invalid_argument(
        "the pool belongs to another machine (another backend or simulation) than the current one: make it "
        "inside the same ferry::simulation");
  return m;
}

memory_pool& pool::of(memory_kind kind) {
  machine& m = home();
  std::atomic<memory_pool*>& made = made_->by_kind[static_cast<std::size_t>(kind)];
  if (memory_pool* p = made.load(std::memory_order_acquire)) return *p;
  memory_pool* fresh = &m.take_pool(kind, where_.index(), options_);
  if (memory_pool* other = nullptr; !made.compare_exchange_strong(other, fresh)) {  // another thread was first
    m.give_back_pool(*fresh);
    return *other;
  }
  return *fresh;
}

std::size_t pool::trim() {
  (void)home();
  std::size_t bytes = 0;
  for (auto& p : made_->by_kind)
    if (p) bytes += p.load()->trim();
  return bytes;
}

pool_statistics pool::statistics() const {
  (void)home();
  pool_statistics all;
  for (auto& p : made_->by_kind)
    if (p) all += p.load()->statistics();
  return all;
}

}  // namespace ferry
