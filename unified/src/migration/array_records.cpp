#include "migration/array_records.hpp"

#include <array>

#include "ferry/core/error.hpp"

namespace ferry::inline FERRY_ABI::detail {
namespace {

bool is_managed_by(backend& backend, byte_range bytes) {
  try {
    const pointer_attributes found = backend.attributes(bytes.begin);
    return found.is_known && found.kind == memory_kind::unified;
  } catch (const error&) {
    return false;
  }
}

}  // namespace

// Allocation nodes are few and immortal, and so are their records: each thread caches some.
array_record& array_records::find(allocation& a) {
  struct remembered {
    std::uint64_t runtime = 0;
    const allocation* what = nullptr;
    array_record* its = nullptr;
  };
  static thread_local std::array<remembered, 16> recent;
  remembered& slot = recent[reinterpret_cast<std::uintptr_t>(&a) / sizeof(allocation) % recent.size()];
  if (slot.what != &a || slot.runtime != runtime_.serial()) {
    lock_guard lock(mutex_);
    std::unique_ptr<array_record>& r = records_[&a];
    if (!r) r = std::make_unique<array_record>(a);
    slot = {runtime_.serial(), &a, r.get()};
  }
  return *slot.its;
}

array_record& array_records::find_and_lock(allocation& a) {
  array_record& r = find(a);
  r.lock.lock();
  const std::uint64_t generation = a.state.load(std::memory_order_relaxed) >> 32;
  if (r.generation != generation) {
    r.generation = generation;
    r.discardable.clear();
    r.mode.reset();
    r.policy.reset(), r.has_own_policy = false, r.policies_asked = 0, r.name_asked.clear();
    r.advice.clear();
    r.touches.clear();
    r.arriving.reset();
    r.scopes.clear();
    r.is_borrowed = a.resource->accounting() == nullptr;
    r.has_grown = false;
    const byte_range all = range_now(a);
    r.is_managed = is_managed_by(runtime_.backend(), all);
    r.pages.reset(all);
  } else if (r.is_borrowed) [[unlikely]] {
    if (const byte_range all = range_now(a); !r.pages.all().covers(all)) {
      r.pages.extend(all);
      r.has_grown = r.policy.has_value();
    }
  }
  return r;
}

std::vector<array_record*> array_records::all() const {
  std::vector<array_record*> known;
  lock_guard lock(mutex_);
  for (const auto& [node, r] : records_) known.push_back(r.get());
  return known;
}

std::vector<page_run> array_records::runs(allocation& a, byte_range where) {
  std::vector<page_run> result;
  const locked_record r = lock(a);
  r->pages.each(where, [&](page_run& g) { result.push_back(g); });
  return result;
}

void array_records::sent(allocation& a, byte_range where, memory_location to) {
  const locked_record r = lock(a);
  mark_used(*r);
  r->pages.each(where, [&](page_run& g) {
    g.where = to.is_host() ? on_the_cpu : to.device;
    g.migration_disabled = false, g.flips = 0, g.before = unknown_location;
  });
}

// Faults on discarded pages are slow: as their location is unknown, they are prefetched for the next use.
void array_records::forget(allocation& a, byte_range where) {
  lock(a)->pages.each(where, [](page_run& g) { g.where = unknown_location; });
}

void array_records::restore_pages(allocation& a, const page_map& before) {
  const locked_record r = lock(a);
  for (const page_run& b : before.runs())
    r->pages.each(b.range(), [&](page_run& g) {
      page_run to = b;
      to.begin = g.begin, to.end = g.end;
      to.mapped = g.mapped, to.duplicated = g.duplicated, to.has_a_place = g.has_a_place;
      g = to;
    });
}

}  // namespace ferry::inline FERRY_ABI::detail
