#include "ferry/core/detail/accounting/limit_enforcer.hpp"

#include <algorithm>
#include <utility>

#include "accounting/above_memory_limit.hpp"
#include "ferry/core/detail/support/concat.hpp"
#include "ferry/core/memory_handlers.hpp"
#include "support/memory_sizes.hpp"

namespace ferry::inline FERRY_ABI::detail {
namespace {

// Checked before anything is counted, so that no sum of reserved bytes overflows.
void refuse_impossible(std::size_t bytes) {
  if (bytes > most_bytes_at_once) refuse_above_addresses(bytes);
}

}  // namespace

std::size_t limit_enforcer::used_bytes(const memory_scope& scope) const {
  const memory_label tag = intern_tag(scope.tag);
  std::size_t bytes = tag == 0 && !scope.on && scope.kind == memory_kind::host ? pools_.pinned_bytes() : 0;
  for (const memory_kind k : all_memory_kinds)
    for (int d = 0; d < static_cast<int>(pools_.devices()); ++d)
      if (scope.covers(k, d)) bytes += tag ? arrays_.bytes(k, d, tag) : pools_.reserved_bytes(k, d);
  return bytes;
}

std::vector<memory_pressure> limit_enforcer::crossed() const {
  std::vector<memory_pressure> found;
  const auto rules = all();
  for (const limit_rule& r : *rules) {
    if (r.soft == limit_rule::none) continue;
    const std::size_t used = used_bytes(r.scope);
    if (used <= r.soft) continue;
    std::size_t end = r.hard;
    if (end == limit_rule::none && pools_.capacity_of(r.scope) != 0) end = pools_.capacity_of(r.scope);
    found.push_back({r.scope, used, r.soft, end});
  }
  return found;
}

void limit_enforcer::reserve(const memory_source& asker, std::size_t bytes) {
  refuse_impossible(bytes);
  const memory_demand d{asker.kind(), asker.device(), bytes};
  if (d.kind == memory_kind::device && !any()) return pools_.add_reserved(d.kind, d.device, bytes);
  lock_guard one(admitting_);
  pools_.add_reserved(d.kind, d.device, bytes);
  try {
    refuse_above_limits(d);
  } catch (...) {
    unreserve(asker, bytes);
    throw;
  }
}

void limit_enforcer::reserve_pinned(std::size_t bytes) {
  constexpr int none = -1;  // a limit on a device covers only allocations for that device
  refuse_impossible(bytes);
  lock_guard one(admitting_);
  pools_.add_pinned(bytes);
  try {
    refuse_above_limits({memory_kind::host, none, bytes});
  } catch (...) {
    pools_.remove_pinned(bytes);
    throw;
  }
}

// The system grants unified and pinned memory beyond its RAM, and the program fails at the first access. So both are
// checked against the RAM here. Of unified memory, only the bytes count for which its device has no room.
void limit_enforcer::refuse_above_limits(const memory_demand& d) const {
  const auto rules = all();
  for (const limit_rule& r : *rules) {
    if (r.tag != 0 || r.hard == limit_rule::none || !r.scope.covers(d.kind, d.device)) continue;
    if (const std::size_t used = used_bytes(r.scope); used > r.hard)
      throw above_memory_limit(r.left_text(used - d.bytes), d.bytes);
  }
  if (d.kind == memory_kind::device) return;
  const std::size_t used = pools_.bytes_in_system(), ram = system_memory_bytes();
  if (used > ram)
    throw out_of_memory("pinned memory, and unified memory beyond its devices, would be " + bytes_text(used) +
                            ": more than the system's RAM of " + bytes_text(ram),
                        d.bytes);
}

bool limit_enforcer::limits_tag() const {
  if (!table_.any_on_tags()) return false;
  const auto rules = all();
  return std::any_of(rules->begin(), rules->end(),
                     [&](const limit_rule& r) { return r.tag == this_thread_state.tag && r.hard != limit_rule::none; });
}

void limit_enforcer::enter(tag_reservation& b, const memory_demand& d) {
  lock_guard one(admitting_);
  refuse_above_tag_limits(d);
  b.tag_ = this_thread_state.tag;
  b.kind_ = d.kind;
  b.device_ = d.device;
  b.bytes_ = d.bytes;
  b.before_ = nullptr;
  b.after_ = coming_;
  if (coming_) coming_->before_ = &b;
  coming_ = &b;
  b.limits_ = this;
}

void limit_enforcer::leave(tag_reservation& b) noexcept {
  lock_guard one(admitting_);
  leave_list(b);
}

void limit_enforcer::convert(tag_reservation& b, const allocation& a) noexcept {
  if (!b.limits_) return arrays_.add_tagged(a);
  lock_guard one(admitting_);
  arrays_.add_tagged(a);
  leave_list(b);
}

void limit_enforcer::leave_list(tag_reservation& b) noexcept {
  (b.before_ ? b.before_->after_ : coming_) = b.after_;
  if (b.after_) b.after_->before_ = b.before_;
  b.limits_ = nullptr;
}

// Returns the bytes reserved by unfinished allocations under the rule's tag. The caller holds admitting_.
std::size_t limit_enforcer::coming_bytes(const limit_rule& r) const {
  std::size_t bytes = 0;
  for (const tag_reservation* b = coming_; b; b = b->after_)
    if (b->tag_ == r.tag && r.scope.covers(b->kind_, b->device_)) bytes += b->bytes_;
  return bytes;
}

void limit_enforcer::refuse_above_tag_limits(const memory_demand& d) const {
  const auto rules = all();
  for (const limit_rule& r : *rules) {
    if (r.tag != this_thread_state.tag || r.hard == limit_rule::none || !r.scope.covers(d.kind, d.device)) continue;
    const std::size_t used = used_bytes(r.scope) + coming_bytes(r);
    if (used > r.hard || d.bytes > r.hard - used) throw above_memory_limit(r.left_text(used), d.bytes);
  }
}

limit_rule limit_enforcer::rule_of(const scoped_memory_limit& given) const {
  const memory_scope& scope = given.scope;
  const memory_limit& l = given.limit;
  if (scope.on && (scope.on->index() < 0 || static_cast<std::size_t>(scope.on->index()) >= pools_.devices()))
    throw invalid_argument(concat("a limit for device ", scope.on->index(), ", of ", pools_.devices(), " devices"));
  const std::size_t whole = pools_.capacity_of(scope);
  if (whole == 0 && scope.tag.empty())
    throw invalid_argument("a limit on " + scope.text() + " of no device: name one with .on, or a tag");
  limit_rule r{scope, intern_tag(scope.tag), limit_rule::none, limit_rule::none, {}, {}};
  const auto resolve = [&](const memory_size& size, std::string_view which, std::size_t& bytes, std::string& as) {
    if (!size.is_set()) return;
    const std::string what = concat("the ", which, " limit of ", size.text(), " on ", scope.text());
    if (size.is_percentage() && whole == 0)
      throw invalid_argument(what + " is a part of nothing: name the device with .on, or give bytes");
    bytes = size.bytes_of(whole);
    const bool is_bounded = scope.kind != memory_kind::unified;  // unified memory may exceed its device
    if (whole != 0 && bytes > whole && is_bounded)
      throw invalid_argument(what + " is above what there is: the " +
                             (scope.kind == memory_kind::host ? "system" : "device") + " has " + bytes_text(whole));
    as = size.is_percentage() ? size.text() + " (" + bytes_text(bytes) + ")" : size.text();
  };
  resolve(l.soft, "soft", r.soft, r.soft_as);
  resolve(l.hard, "hard", r.hard, r.hard_as);
  if (r.soft != limit_rule::none && r.hard != limit_rule::none && r.soft > r.hard)
    throw invalid_argument("the soft limit of " + r.soft_as + " on " + scope.text() + " is above the hard one of " +
                           r.hard_as);
  return r;
}

void limit_enforcer::set(std::span<const scoped_memory_limit> all, const std::function<void(const limit_rule&)>& trim) {
  std::vector<limit_rule> rules;
  for (const scoped_memory_limit& l : all) rules.push_back(rule_of(l));
  for (const limit_rule& r : rules)
    if (r.tag != 0) arrays_.expect_tag(r.tag);
  std::lock_guard one(setting_);
  keep_within(rules, trim);
  const auto before = table_.all();
  table_.set(rules);
  try {
    keep_within(rules, trim);  // other threads may have allocated between the first check and the limit
  } catch (...) {
    table_.restore(before);
    throw;
  }
}

// Throws out_of_memory if more bytes are in use than the rules allow even after trimming.
void limit_enforcer::keep_within(std::span<const limit_rule> rules,
                                 const std::function<void(const limit_rule&)>& trim) {
  for (const limit_rule& r : rules) {
    if (r.hard == limit_rule::none) continue;
    const auto used = [&] {
      lock_guard one(admitting_);
      return used_bytes(r.scope) + (r.tag != 0 ? coming_bytes(r) : 0);
    };
    if (used() <= r.hard) continue;
    trim(r);
    if (const std::size_t left = used(); left > r.hard) throw out_of_memory(exceeded_text(r, left), left - r.hard);
  }
}

std::string limit_enforcer::exceeded_text(const limit_rule& r, std::size_t used) const {
  constexpr std::size_t most_holders = 5;
  const auto of_places = [&](auto value) {
    std::size_t bytes = 0;
    for (const memory_kind k : all_memory_kinds)
      for (int d = 0; d < static_cast<int>(pools_.devices()); ++d)
        if (r.scope.covers(k, d)) bytes += value(k, d);
    return bytes;
  };
  std::vector<std::pair<std::size_t, std::string>> holders;
  const auto add = [&](std::size_t bytes, std::string who) {
    if (bytes > 0) holders.emplace_back(bytes, std::move(who));
  };
  if (r.tag == 0) {
    for (const label_use& u : arrays_.labels().all()) {
      const std::size_t here =
          of_places([&](memory_kind k, int d) { return arrays_.use_of(u.kind, u.label, k, d).bytes; });
      add(here, (u.kind == label_kind::tag ? "tag '" : "'") + label_text(u.kind, u.label) + "'");
    }
    add(of_places([&](memory_kind k, int d) { return arrays_.unlabelled(k, d).bytes; }),
        "arrays without a name or tag");
    add(of_places([&](memory_kind k, int d) { return pools_.retained_bytes(k, d, arrays_.bytes(k, d)); }),
        "workspaces (workspace::clear releases it)");
    if (r.scope.kind == memory_kind::host && !r.scope.on)
      add(pools_.pinned_bytes(), "ranges that ferry::pin has pinned");
  }
  std::stable_sort(holders.begin(), holders.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  if (holders.size() > most_holders) holders.resize(most_holders);
  std::string by;
  for (const auto& [bytes, who] : holders) by += (by.empty() ? "" : ", ") + who + " " + bytes_text(bytes);
  return "cannot set the hard limit of " + r.hard_as + " on " + r.scope.text() + ": " + bytes_text(used) +
         " are in use" +
         (r.tag == 0 ? " after all cached bytes were released, including free parts of blocks that arrays share" : "") +
         (by.empty() ? "" : " (largest holders: " + by + ")") +
         ". No limit has changed. Free arrays first, or set a limit of at least " + bytes_text(used);
}

}  // namespace ferry::inline FERRY_ABI::detail
