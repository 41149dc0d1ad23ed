#include "ferry/core/detail/accounting/tag_booking.hpp"

#include <algorithm>

#include "ferry/core/detail/accounting/memory_ledger.hpp"

namespace ferry {

// Of allocations under the rule's tag that are under way; with admitting_ held.
std::size_t memory_ledger::coming_bytes(const limit_rule& r) const {
  std::size_t bytes = 0;
  for (const tag_booking* b = coming_; b; b = b->after_)
    if (b->tag_ == r.tag && r.scope.covers(b->kind_, b->device_)) bytes += b->bytes_;
  return bytes;
}

void memory_ledger::refuse_above_tag_limits(const memory_demand& d) const {
  const auto rules = limits_.all();
  for (const limit_rule& r : *rules) {
    if (r.tag != this_thread_tag || r.hard == limit_rule::none || !r.scope.covers(d.kind, d.device)) continue;
    const std::size_t used = used_bytes(r.scope) + coming_bytes(r);
    if (used > r.hard || d.bytes > r.hard - used) throw out_of_memory(r.left_text(used), d.bytes);
  }
}

bool memory_ledger::has_hard_limit(memory_label tag) const {
  const auto rules = limits_.all();
  return std::any_of(rules->begin(), rules->end(),
                     [&](const limit_rule& r) { return r.tag == tag && r.hard != limit_rule::none; });
}

tag_booking::tag_booking(memory_ledger& books, const memory_demand& d) : tag_booking() { books.book(*this, d); }

void tag_booking::end() noexcept {
  std::lock_guard one(books_->admitting_);
  books_->leave_list(*this);
}

void memory_ledger::book(tag_booking& b, const memory_demand& d) {
  labels_.expect(label_kind::tag, this_thread_tag);
  if (!limits_.any_on_tags() || !has_hard_limit(this_thread_tag)) return;
  const auto enter = [&] {
    std::lock_guard one(admitting_);
    refuse_above_tag_limits(d);
    b.tag_ = this_thread_tag;
    b.kind_ = d.kind;
    b.device_ = d.device;
    b.bytes_ = d.bytes;
    b.before_ = nullptr;
    b.after_ = coming_;
    if (coming_) coming_->before_ = &b;
    coming_ = &b;
    b.books_ = this;
  };
  try {
    enter();
  } catch (const out_of_memory& e) {
    climb(d, plain_what(e), enter);
  }
  look_for_pressure();
}

void memory_ledger::leave_list(tag_booking& b) noexcept {
  (b.before_ ? b.before_->after_ : coming_) = b.after_;
  if (b.after_) b.after_->before_ = b.before_;
  b.books_ = nullptr;
}

// What was booked becomes what is counted: nobody looks in between.
void memory_ledger::add_under_tag(const allocation& a, tag_booking& booked) noexcept {
  const auto add = [&] {
    const std::size_t i = index(a.kind, a.device);
    labels_.add(label_kind::tag, this_thread_tag, i, a.bytes);
    labels_.add_labelled(i, a.bytes);
  };
  if (!booked.books_) return add();
  std::lock_guard one(admitting_);
  add();
  leave_list(booked);
}

}  // namespace ferry
