#include "ferry/core/detail/pools/runtime_pools.hpp"

#include <algorithm>
#include <cstdio>

#include "ferry/core/detail/support/environment.hpp"

namespace ferry::inline FERRY_ABI::detail {

namespace {

// Pinned at once for cache lines: 4096 of them.
constexpr std::size_t bytes_of_lines = std::size_t{256} << 10;

// FERRY_POOL replaces pool_kind::automatic.
pool_kind chosen_kind(pool_kind asked) {
  if (asked != pool_kind::automatic) return asked;
  const auto text = environment("FERRY_POOL");
  return text ? parse_pool_kind(*text) : pool_kind::split;
}

}  // namespace

runtime_pools::runtime_pools(memory_accounting& accounting, timelines& streams, const pool_options& options)
    : accounting_(accounting),
      streams_(streams),
      devices_(static_cast<std::size_t>(accounting.backend().device_count())),
      default_kind_(chosen_kind(options.kind)) {
  const pool_options of_all = resolved(options, default_kind_);
  for (const memory_kind kind : all_memory_kinds)
    for (int d = 0; d < accounting.backend().device_count(); ++d) {
      usual_.push_back(make_pool(accounting_, streams_, kind, d, usable(kind, d, of_all)));
      accounting_.pools().add(*usual_.back());
    }
  // Memory checkers see each array separately.
  if (default_kind_ == pool_kind::none || of_all.granularity <= cache_line) return;
  pool_options of_lines = instead(of_all, pool_kind::split);
  of_lines.granularity = cache_line;
  of_lines.small_segment = std::min(of_lines.small_segment, bytes_of_lines);
  for (int d = 0; d < accounting.backend().device_count(); ++d) {
    lines_.push_back(make_pool(accounting_, streams_, memory_kind::host, d, of_lines));
    accounting_.pools().add(*lines_.back());
  }
}

runtime_pools::~runtime_pools() {
  for (auto& p : usual_) accounting_.pools().remove(*p);
  for (auto& p : lines_) accounting_.pools().remove(*p);
  for (auto& p : extra_) accounting_.pools().remove(*p);
}

// Options for a pool of this device: the driver may lack pools of this kind of memory.
pool_options runtime_pools::usable(memory_kind kind, int device, const pool_options& options) const {
  backend& below = accounting_.backend();
  const pool_options o = options_for(kind, options, below.quirks());
  pool_backend* const driver = below.pools();
  if (o.kind != pool_kind::driver || (driver && driver->has_pools(kind, device))) return o;
  std::fprintf(stderr, "ferry: the driver has no pools of %s memory on device %d: using a split pool there\n",
               kind_name(kind), device);
  return instead(o, pool_kind::split);
}

memory_pool& runtime_pools::take(memory_kind kind, int device, const pool_options& given) {
  const pool_options options = options_for(kind, given, accounting_.backend().quirks());
  lock_guard lock(mutex_);
  for (memory_pool*& p : unused_)
    if (p->kind() == kind && p->device() == device && p->options() == options) {
      memory_pool& taken = *p;
      p = unused_.back();
      unused_.pop_back();
      return taken;
    }
  unused_.reserve(extra_.size() + 1);  // give_back() must not fail
  extra_.push_back(make_pool(accounting_, streams_, kind, device, options));
  accounting_.pools().add(*extra_.back());
  return *extra_.back();
}

void runtime_pools::give_back(memory_pool& p) noexcept {
  lock_guard lock(mutex_);
  unused_.push_back(&p);
}

pool_statistics runtime_pools::statistics() const {
  pool_statistics all;
  for (const auto& p : usual_) all += p->statistics();
  for (const auto& p : lines_) all += p->statistics();
  lock_guard lock(mutex_);
  for (const auto& p : extra_) all += p->statistics();
  return all;
}

peer_memory runtime_pools::peer_class(int device) const {
  return of(memory_kind::device, device).options().kind == pool_kind::driver ? peer_memory::pooled : peer_memory::plain;
}

}  // namespace ferry::inline FERRY_ABI::detail
