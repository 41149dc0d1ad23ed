// memory_peak_meter: the greatest number of bytes in arrays within a scope.
#include "ferry/core/detail/accounting/memory_accounting.hpp"
#include "ferry/core/detail/ordering/allocation.hpp"
#include "ferry/core/memory_status.hpp"
#include "ferry/core/runtime.hpp"
#include "runtime/runtime_registry.hpp"

namespace ferry::inline FERRY_ABI {

using namespace detail;

memory_peak_meter::memory_peak_meter(memory_scope scope) : scope_(std::move(scope)), tag_(intern_tag(scope_.tag)) {
  runtime& m = runtime::current();
  runtime_ = m.serial();
  if (scope_.on) (void)m.properties(scope_.on->index());
  for (const device d : m.devices())
    for (const memory_kind k : {memory_kind::device, memory_kind::unified, memory_kind::host})
      if (scope_.covers(k, d.index())) now_ += m.memory().arrays().bytes(k, d.index(), tag_);
  reset();
  m.memory().observers().add(*this);
}

memory_peak_meter::~memory_peak_meter() {
  runtime_registry::if_alive(runtime_, [&](runtime& m) { m.memory().observers().remove(*this); });
}

bool memory_peak_meter::covers(const allocation& a) const noexcept {
  return (tag_ == 0 || labels_of(a).tag == tag_) && scope_.covers(a.kind, a.device);
}

void memory_peak_meter::on_allocate(allocation& a) noexcept {
  if (!covers(a)) return;
  const std::size_t now = now_ += a.bytes;
  std::size_t peak = peak_.load();
  while (peak < now && !peak_.compare_exchange_weak(peak, now)) {
  }
}

void memory_peak_meter::on_free(allocation& a) noexcept {
  if (covers(a)) now_ -= a.bytes;
}

}  // namespace ferry::inline FERRY_ABI
