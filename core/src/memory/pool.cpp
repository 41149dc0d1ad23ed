#include "ferry/core/pool.hpp"

#include <array>
#include <atomic>
#include <utility>

#include "ferry/core/detail/pools/memory_pool.hpp"
#include "ferry/core/detail/pools/runtime_pools.hpp"
#include "ferry/core/error.hpp"
#include "ferry/core/runtime.hpp"
#include "runtime/other_runtime.hpp"
#include "runtime/runtime_registry.hpp"

namespace ferry::inline FERRY_ABI {

using namespace detail;

struct pool::state {
  ferry::device where;
  pool_options options;
  std::uint64_t serial;
  std::array<std::atomic<memory_pool*>, 3> by_kind{};
  ~state() {
    runtime_registry::if_alive(serial, [&](runtime& m) {
      for (auto& p : by_kind)
        if (p) m.pools().give_back(*p);
    });
  }
};

pool::pool(ferry::device d, const pool_options& options) {
  runtime& m = runtime::current();
  (void)d.properties();
  state_.reset(new state{d, resolved(options, m.pools().default_kind()), m.serial()});
}

pool pool::default_of(ferry::device d) {
  (void)d.properties();
  return pool(d, {.kind = pool_kind::driver, .shared = true});
}

pool pool::named(const pool& p) {
  (void)p.held();
  return pool(p.state_);
}

pool::state& pool::held() const {
  if (!state_) throw_moved_from("the pool");
  return *state_;
}

pool::state& pool::at_home() const {
  state& s = held();
  if (runtime::current().serial() != s.serial) throw_other_runtime("the pool");
  return s;
}

ferry::device pool::where() const { return held().where; }
pool_kind pool::kind() const { return held().options.kind; }
allocation_ref pool::allocate(std::size_t bytes, memory_kind kind) { return of(kind).allocate(bytes); }

memory_pool& pool::of(memory_kind kind) {
  state& s = at_home();
  runtime& m = runtime::current();
  std::atomic<memory_pool*>& made = s.by_kind[static_cast<std::size_t>(kind)];
  if (memory_pool* p = made.load(std::memory_order_acquire)) return *p;
  memory_pool* fresh = &m.pools().take(kind, s.where.index(), s.options);
  if (memory_pool* other = nullptr; !made.compare_exchange_strong(other, fresh)) {  // another thread was first
    m.pools().give_back(*fresh);
    return *other;
  }
  return *fresh;
}

std::size_t pool::trim() {
  std::size_t bytes = 0;
  for (auto& p : at_home().by_kind)
    if (p) bytes += p.load()->trim();
  return bytes;
}

pool_statistics pool::statistics() const {
  pool_statistics all;
  for (auto& p : at_home().by_kind)
    if (p) all += p.load()->statistics();
  return all;
}

}  // namespace ferry::inline FERRY_ABI
