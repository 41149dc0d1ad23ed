// Enforces memory limits: hard limits before an allocation, soft limits by early reclaim.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <utility>
#include <vector>

#include "accounting/above_memory_limit.hpp"
#include "accounting/reclaim_state.hpp"
#include "ferry/core/detail/accounting/memory_accounting.hpp"
#include "ferry/core/detail/ordering/access_guard.hpp"
#include "support/memory_sizes.hpp"

namespace ferry::inline FERRY_ABI {

double memory_pressure::pressure() const {
  if (hard_bytes <= soft_bytes) return 1;
  return std::clamp(static_cast<double>(used_bytes - soft_bytes) / static_cast<double>(hard_bytes - soft_bytes), 0.0,
                    1.0);
}

namespace detail {
namespace {

constexpr memory_kind all_kinds[] = {memory_kind::device, memory_kind::unified, memory_kind::host};

}  // namespace

std::size_t memory_accounting::used_bytes(const memory_scope& scope) const {
  const memory_label tag = intern_tag(scope.tag);
  std::size_t bytes = tag == 0 && !scope.on && scope.kind == memory_kind::host ? pinned_bytes() : 0;
  for (const memory_kind k : all_kinds)
    for (int d = 0; d < static_cast<int>(devices_); ++d)
      if (scope.covers(k, d)) bytes += tag ? bytes_in_use(k, d, tag) : cell(k, d).load();
  return bytes;
}

// Checked before anything is counted, so that no sum of reserved bytes overflows.
void memory_accounting::refuse_impossible(std::size_t bytes) {
  if (bytes > most_bytes_at_once) refuse_above_addresses(bytes);
}

// Reserves the bytes first, and checks one thread at a time. So two concurrent allocations cannot together exceed the
// limit.
void memory_accounting::admit(memory_source& asker, std::size_t bytes) {
  refuse_impossible(bytes);
  std::atomic<std::size_t>& reserved = cell(asker.kind(), asker.device());
  if (asker.kind() == memory_kind::device && !limits_.any()) {
    reserved += bytes;
    return;
  }
  {
    std::lock_guard one(admitting_);
    reserved += bytes;
    try {
      refuse_above_limits({asker.kind(), asker.device(), bytes, &asker});
    } catch (...) {
      reserved -= bytes;
      throw;
    }
  }
  look_for_pressure();
}

void memory_accounting::unreserve(memory_source& asker, std::size_t bytes) noexcept {
  cell(asker.kind(), asker.device()) -= bytes;
}

void memory_accounting::reserve_pinned(std::size_t bytes, int device) {
  constexpr int none = -1;  // a limit on a device covers only allocations for that device
  refuse_impossible(bytes);
  const auto book = [&] {
    std::lock_guard one(admitting_);
    pinned_ += bytes;
    try {
      refuse_above_limits({memory_kind::host, none, bytes, nullptr});
    } catch (...) {
      pinned_ -= bytes;
      throw;
    }
  };
  try {
    book();
  } catch (const out_of_memory& e) {
    run_handlers({memory_kind::host, device, bytes, nullptr}, e, book);
  }
  look_for_pressure();
}

// The system grants unified and pinned memory beyond its RAM, and the program fails at the first access. So both are
// checked against the RAM here. Of unified memory, only the bytes count for which its device has no room.
void memory_accounting::refuse_above_limits(const memory_demand& d) const {
  const auto rules = limits_.all();
  for (const limit_rule& r : *rules) {
    if (r.tag != 0 || r.hard == limit_rule::none || !r.scope.covers(d.kind, d.device)) continue;
    if (const std::size_t used = used_bytes(r.scope); used > r.hard)
      throw above_memory_limit(r.left_text(used - d.bytes), d.bytes);
  }
  if (d.kind == memory_kind::device) return;
  const std::size_t used = bytes_in_system(), ram = system_memory_bytes();
  if (used > ram)
    throw out_of_memory("pinned memory, and unified memory beyond its devices, would be " + bytes_text(used) +
                            ": more than the system's RAM of " + bytes_text(ram),
                        d.bytes);
}

std::size_t memory_accounting::bytes_in_system() const {
  std::size_t bytes = pinned_bytes();
  for (int d = 0; d < static_cast<int>(devices_); ++d) {
    const std::size_t unified = cell(memory_kind::unified, d), on_device = cell(memory_kind::device, d) + unified;
    const std::size_t room = device_bytes_[static_cast<std::size_t>(d)];
    // At most the unified bytes: another thread may have reserved more device memory than the device has.
    bytes += cell(memory_kind::host, d) + std::min(unified, on_device > room ? on_device - room : 0);
  }
  return bytes;
}

std::size_t memory_accounting::room_in_system() const {
  const std::size_t used = bytes_in_system(), ram = system_memory_bytes();
  return ram > used ? ram - used : 0;
}

std::size_t memory_accounting::retained_bytes(memory_kind kind, int device) const {
  std::size_t handed_out = 0;
  each_source([&](memory_source& s) {
    if (s.kind() == kind && s.device() == device) handed_out += s.state().allocated_bytes;
  });
  const std::size_t of_arrays = bytes_in_use(kind, device);
  return handed_out > of_arrays ? handed_out - of_arrays : 0;
}

std::size_t memory_accounting::bytes_in_use(memory_kind kind, int device, memory_label tag) const {
  if (tag != 0) return labels_.use(label_kind::tag, tag, index(kind, device)).bytes;
  return static_cast<std::size_t>(std::max<std::int64_t>(counts(kind, device).current_bytes(), 0));
}

// Returns the bytes that percentages of a scope refer to, and that its limits must not exceed; 0: none.
std::size_t memory_accounting::capacity_of(const memory_scope& scope) const {
  if (scope.kind == memory_kind::host) return system_memory_bytes();
  return scope.on ? device_bytes_[static_cast<std::size_t>(scope.on->index())] : 0;
}

limit_rule memory_accounting::rule_of(const scoped_memory_limit& given) const {
  const memory_scope& scope = given.scope;
  const memory_limit& l = given.limit;
  if (scope.on && (scope.on->index() < 0 || static_cast<std::size_t>(scope.on->index()) >= devices_))
    throw invalid_argument("a limit for device " + std::to_string(scope.on->index()) + ", of " +
                           std::to_string(devices_) + " devices");
  const std::size_t whole = capacity_of(scope);
  if (whole == 0 && scope.tag.empty())
    throw invalid_argument("a limit on " + scope.text() + " of no device: name one with .on, or a tag");
  limit_rule r{scope, intern_tag(scope.tag), limit_rule::none, limit_rule::none, {}, {}};
  const auto resolve = [&](const memory_size& size, std::string_view which, std::size_t& bytes, std::string& as) {
    if (!size.is_set()) return;
    const std::string what = "the " + std::string(which) + " limit of " + size.text() + " on " + scope.text();
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

void memory_accounting::limit(std::span<const scoped_memory_limit> all) {
  std::vector<limit_rule> rules;
  for (const scoped_memory_limit& l : all) rules.push_back(rule_of(l));
  for (const limit_rule& r : rules)
    if (r.tag != 0) labels_.expect(label_kind::tag, r.tag);
  std::lock_guard one(setting_);
  keep_within(rules);
  const auto before = limits_.all();
  limits_.set(rules);
  try {
    keep_within(rules);  // other threads may have allocated between the first check and the limit
  } catch (...) {
    limits_.restore(before);
    throw;
  }
  look_for_pressure();
}

// Throws out_of_memory if more bytes are in use than the rules allow even after trimming.
void memory_accounting::keep_within(std::span<const limit_rule> rules) {
  for (const limit_rule& r : rules) {
    if (r.hard == limit_rule::none) continue;
    const auto used = [&] {
      std::lock_guard one(admitting_);
      return used_bytes(r.scope) + (r.tag != 0 ? coming_bytes(r) : 0);
    };
    if (used() <= r.hard) continue;
    trim_to(r);
    if (const std::size_t left = used(); left > r.hard) throw out_of_memory(exceeded_text(r, left), left - r.hard);
  }
}

// Releases cached bytes until the hard limit holds: blocks in quarantine, then bytes whose uses are complete, then all
// bytes that no array holds. Blocks until the last uses of the released bytes are complete.
void memory_accounting::trim_to(const limit_rule& r) {
  if (r.tag != 0) return;  // a limit on a tag counts only arrays
  refuse_inside_submission("trim pools for a memory limit");
  const auto excess = [&] {
    const std::size_t used = used_bytes(r.scope);
    return used > r.hard ? used - r.hard : 0;
  };
  const auto release = [&](release_depth how) {
    each_source([&](memory_source& s) {
      if (!r.scope.covers(s.kind(), s.device())) return;
      while (excess() > 0 && s.release_some(how, excess()) > 0) {
      }
    });
  };
  std::vector<numbered_handler> rungs;
  {
    std::lock_guard lock(handlers_mutex_);
    rungs = handlers_;
  }
  for (const numbered_handler& n : rungs)
    if (n.what->order == handler_order::quarantine) (void)n.what->reclaim({});
  release(release_depth::finished);
  if (excess() > 0) release(release_depth::unused);
}

std::string memory_accounting::exceeded_text(const limit_rule& r, std::size_t used) const {
  constexpr std::size_t most_holders = 5;
  const auto of_places = [&](auto value) {
    std::size_t bytes = 0;
    for (const memory_kind k : all_kinds)
      for (int d = 0; d < static_cast<int>(devices_); ++d)
        if (r.scope.covers(k, d)) bytes += value(k, d);
    return bytes;
  };
  std::vector<std::pair<std::size_t, std::string>> holders;
  const auto add = [&](std::size_t bytes, std::string who) {
    if (bytes > 0) holders.emplace_back(bytes, std::move(who));
  };
  if (r.tag == 0) {
    for (const label_use& u : labels_.all()) {
      const std::size_t here = of_places([&](memory_kind k, int d) { return use_of(u.kind, u.label, k, d).bytes; });
      add(here, (u.kind == label_kind::tag ? "tag '" : "'") + label_text(u.kind, u.label) + "'");
    }
    add(of_places([&](memory_kind k, int d) { return unlabelled(k, d).bytes; }), "arrays without a name or tag");
    add(of_places([&](memory_kind k, int d) { return retained_bytes(k, d); }),
        "workspaces (workspace::clear gives it back)");
    if (r.scope.kind == memory_kind::host && !r.scope.on) add(pinned_bytes(), "ranges that ferry::pin has pinned");
  }
  std::stable_sort(holders.begin(), holders.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  if (holders.size() > most_holders) holders.resize(most_holders);
  std::string by;
  for (const auto& [bytes, who] : holders) by += (by.empty() ? "" : ", ") + who + " " + bytes_text(bytes);
  return "cannot set the hard limit of " + r.hard_as + " on " + r.scope.text() + ": " + bytes_text(used) +
         " are in use" +
         (r.tag == 0 ? " after all cached bytes were given back, free parts of blocks that arrays share included"
                     : "") +
         (by.empty() ? "" : " (largest holders: " + by + ")") +
         ". No limit has changed. Free arrays first, or set a limit of at least " + bytes_text(used);
}

void memory_accounting::look_for_pressure() {
  if (!limits_.any()) return;
  const auto rules = limits_.all();
  const bool crossed = std::any_of(rules->begin(), rules->end(), [&](const limit_rule& r) {
    return r.soft != limit_rule::none && used_bytes(r.scope) > r.soft;
  });
  under_pressure_.store(crossed, std::memory_order_relaxed);
}

// Reclaims in short pauses. Releases completed bytes in pieces, one pool after the other, until the limit holds or the
// time slice ends. The next pause continues with the next pool.
void memory_accounting::reclaim_early() {
  using clock = reclaim_pacer::clock;
  constexpr auto slice = std::chrono::milliseconds(2);
  constexpr std::size_t piece = std::size_t{32} << 20;
  if (this_thread_state.submitting || this_thread_state.capture) return;
  reclaim_state& state = *reclaiming_;
  if (state.busy.exchange(true, std::memory_order_acquire)) return;  // another thread, or a callback that synchronizes
  const struct release {
    std::atomic<bool>& busy;
    ~release() { busy.store(false, std::memory_order_release); }
  } at_end{state.busy};
  const auto rules = limits_.all();
  const auto begin = clock::now();
  std::vector<memory_pressure> crossed;
  double worst = 0;
  for (const limit_rule& r : *rules)
    if (const std::size_t used = used_bytes(r.scope); r.soft != limit_rule::none && used > r.soft) {
      std::size_t end = r.hard;
      if (end == limit_rule::none && capacity_of(r.scope) != 0) end = capacity_of(r.scope);
      crossed.push_back({r.scope, used, r.soft, end});
      worst = std::max(worst, crossed.back().pressure());
    }
  if (crossed.empty()) return under_pressure_.store(false, std::memory_order_relaxed);
  if (!state.pacer.is_due(begin, worst)) return;
  std::vector<reclaim_state::callback> callbacks;
  {
    std::lock_guard rungs(handlers_mutex_);
    for (const auto& [id, f] : state.callbacks) callbacks.push_back(f);
  }
  std::size_t freed = 0, wanted = 0;
  for (const memory_pressure& p : crossed) {
    const std::size_t excess = p.used_bytes - p.soft_bytes;
    std::size_t got = 0;
    wanted += excess;
    for (const auto& f : callbacks) got += (*f)(p);
    if (p.scope.tag.empty()) {
      std::shared_lock enrolled(enrolling_);
      for (std::size_t k = 0; k < sources_.size() && used_bytes(p.scope) > p.soft_bytes; ++k) {
        memory_source& s = *sources_[(state.next_source + k) % sources_.size()];
        if (!p.scope.covers(s.kind(), s.device())) continue;
        std::size_t bytes = 0;
        do {
          bytes = s.release_some(release_depth::finished, std::min(piece, excess));
          got += bytes;
        } while (bytes > 0 && used_bytes(p.scope) > p.soft_bytes && clock::now() - begin < slice);
        if (clock::now() - begin >= slice) {
          state.next_source += k;
          break;
        }
      }
    }
    freed += got;
  }
  state.pacer.ran(begin, clock::now(), freed, wanted);
  look_for_pressure();
}

std::uint64_t memory_accounting::add_pressure_callback(std::function<std::size_t(const memory_pressure&)> f) {
  auto shared = std::make_shared<const std::function<std::size_t(const memory_pressure&)>>(std::move(f));
  std::lock_guard lock(handlers_mutex_);
  reclaiming_->callbacks.emplace_back(next_handler_, std::move(shared));
  return next_handler_++;
}

void memory_accounting::remove_callback(std::uint64_t id) noexcept {
  std::lock_guard lock(handlers_mutex_);
  std::erase_if(handlers_, [&](const numbered_handler& n) { return n.id == id; });
  std::erase_if(reclaiming_->callbacks, [&](const auto& c) { return c.first == id; });
}

}  // namespace detail
}  // namespace ferry::inline FERRY_ABI
