#include "ferry/core/detail/accounting/tag_reservation.hpp"

#include <algorithm>

#include "accounting/above_memory_limit.hpp"
#include "ferry/core/detail/accounting/memory_accounting.hpp"

namespace ferry::inline FERRY_ABI::detail {

// Returns the bytes reserved by unfinished allocations under the rule's tag. The caller holds admitting_.
std::size_t memory_accounting::coming_bytes(const limit_rule& r) const {
  std::size_t bytes = 0;
  for (const tag_reservation* b = coming_; b; b = b->after_)
    if (b->tag_ == r.tag && r.scope.covers(b->kind_, b->device_)) bytes += b->bytes_;
  return bytes;
}

void memory_accounting::refuse_above_tag_limits(const memory_demand& d) const {
  const auto rules = limits_.all();
  for (const limit_rule& r : *rules) {
    if (r.tag != this_thread_state.tag || r.hard == limit_rule::none || !r.scope.covers(d.kind, d.device)) continue;
    const std::size_t used = used_bytes(r.scope) + coming_bytes(r);
    if (used > r.hard || d.bytes > r.hard - used) throw above_memory_limit(r.left_text(used), d.bytes);
  }
}

bool memory_accounting::has_hard_limit(memory_label tag) const {
  const auto rules = limits_.all();
  return std::any_of(rules->begin(), rules->end(),
                     [&](const limit_rule& r) { return r.tag == tag && r.hard != limit_rule::none; });
}

tag_reservation::tag_reservation(memory_accounting& accounting, const memory_demand& d) : tag_reservation() {
  accounting.reserve_under_tag(*this, d);
}

void tag_reservation::end() noexcept {
  std::lock_guard one(accounting_->admitting_);
  accounting_->leave_list(*this);
}

void memory_accounting::reserve_under_tag(tag_reservation& b, const memory_demand& d) {
  labels_.expect(label_kind::tag, this_thread_state.tag);
  if (!limits_.any_on_tags() || !has_hard_limit(this_thread_state.tag)) return;
  const auto enter = [&] {
    std::lock_guard one(admitting_);
    refuse_above_tag_limits(d);
    b.tag_ = this_thread_state.tag;
    b.kind_ = d.kind;
    b.device_ = d.device;
    b.bytes_ = d.bytes;
    b.before_ = nullptr;
    b.after_ = coming_;
    if (coming_) coming_->before_ = &b;
    coming_ = &b;
    b.accounting_ = this;
  };
  try {
    enter();
  } catch (const out_of_memory& e) {
    run_handlers(d, e, enter);
  }
  look_for_pressure();
}

void memory_accounting::leave_list(tag_reservation& b) noexcept {
  (b.before_ ? b.before_->after_ : coming_) = b.after_;
  if (b.after_) b.after_->before_ = b.before_;
  b.accounting_ = nullptr;
}

// Converts the reservation into a charge atomically with respect to other reservations.
void memory_accounting::add_under_tag(const allocation& a, tag_reservation& reserved) noexcept {
  const auto add = [&] {
    const std::size_t i = index(a.kind, a.device);
    labels_.add(label_kind::tag, this_thread_state.tag, i, a.bytes);
    labels_.add_labelled(i, a.bytes);
  };
  if (!reserved.accounting_) return add();
  std::lock_guard one(admitting_);
  add();
  leave_list(reserved);
}

}  // namespace ferry::inline FERRY_ABI::detail
