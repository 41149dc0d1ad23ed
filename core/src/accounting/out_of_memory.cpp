// The chain of out-of-memory handlers, and the error if all of them fail.
#include <algorithm>

#include "accounting/above_memory_limit.hpp"
#include "ferry/core/detail/accounting/memory_accounting.hpp"
#include "ferry/core/detail/ordering/access_guard.hpp"
#include "ferry/core/memory_shortage.hpp"
#include "support/memory_sizes.hpp"

namespace ferry::inline FERRY_ABI {

using namespace detail;

namespace {

constexpr std::size_t most_holders = 5;

std::string name_of(const memory_shortage::holder& h) {
  if (h.label.empty()) return "arrays without a name or tag";
  return h.is_tag ? "tag '" + h.label + "'" : "'" + h.label + "'";
}

std::vector<std::string> advice_on(const memory_shortage& s, bool is_limit, const ferry::backend& backend,
                                   const out_of_memory_policy& policy) {
  std::vector<std::string> advice;
  const std::size_t cached = s.reserved - std::min(s.reserved, s.allocated + s.retained + s.quarantined);
  if (is_limit) advice.emplace_back("raise the limit (set_memory_limit, FERRY_MEMORY_LIMIT)");
  if (cached >= s.requested && s.largest_free_block < s.requested)
    advice.push_back("the pool has " + bytes_text(cached) +
                     " free in smaller pieces: allocate large arrays first, or use "
                     "FERRY_POOL=driver, whose memory does not fall into pieces");
  if (s.total_bytes > 0 && s.total_bytes - s.free_bytes > s.this_process + s.total_bytes / 4)
    advice.emplace_back(
        "others use much of this device: other libraries of this process, or other processes (nvidia-smi)");
  if (s.kind == memory_kind::device) {
    for (int d = 0; d < backend.device_count(); ++d)
      if (const device_memory m = backend.memory(d); d != s.device && m.free_bytes >= s.requested) {
        advice.push_back("device " + std::to_string(d) + " has " + bytes_text(m.free_bytes) +
                         " free: place the array there" +
                         (policy.spill_to_peers ? "" : ", or let ferry do it (FERRY_OOM=spill)"));
        break;
      }
    advice.emplace_back("a unified array may be larger than the device");
  }
  if (!policy.synchronize)
    advice.emplace_back("wait for work that still uses freed bytes (FERRY_OOM=synchronize does)");
  if (s.retained > 0) advice.emplace_back("give back what workspaces keep (workspace::clear)");
  if (s.quarantined > 0)
    advice.emplace_back("keep less in quarantine (memory_checks::quarantine_bytes, quarantine= in FERRY_POISON)");
  if (s.allocated > 0) advice.emplace_back("free arrays, work in smaller pieces, or register ferry::on_out_of_memory");
  return advice;
}

std::string joined(const std::vector<std::string>& parts) {
  std::string s;
  for (const std::string& p : parts) s += (s.empty() ? "" : "; ") + p;
  return s;
}

}  // namespace

std::string memory_shortage::text() const {
  const std::string on = "device " + std::to_string(device);
  std::string s = "out of memory: cannot allocate " + bytes_text(requested) + " of " + std::string(kind_name(kind)) +
                  " memory on " + on + ".\n  why: " + why;
  s += "\n  " + on + ": " + bytes_text(free_bytes) + " free of " + bytes_text(total_bytes) + "; this process holds " +
       bytes_text(this_process) + " through ferry";
  s += "\n  " + std::string(kind_name(kind)) + " memory there: " + bytes_text(allocated) + " allocated by arrays, " +
       (retained + quarantined > 0 ? kept_text(retained, quarantined) + ", " : "") + bytes_text(reserved) +
       " reserved by pools, largest free block " + bytes_text(largest_free_block);
  s += "\n  limits: " + (limits.empty() ? "none" : joined(limits));
  s += "\n  largest holders: ";
  if (holders.empty()) s += "none";
  for (std::size_t i = 0; i < holders.size(); ++i)
    s += (i == 0 ? "" : ", ") + name_of(holders[i]) + " " + bytes_text(holders[i].bytes) + " in " +
         std::to_string(holders[i].arrays) + (holders[i].arrays == 1 ? " array" : " arrays");
  s += "\n  tried: ";
  if (tried.empty()) s += "nothing";
  for (std::size_t i = 0; i < tried.size(); ++i)
    s += (i == 0 ? "" : ", ") + tried[i].handler + " (" + bytes_text(tried[i].freed_bytes) + ")";
  return s + "\n  what to try: " + joined(advice);
}

// Saturates at 0: threads may be between an allocation and its count.
label_use memory_accounting::unlabelled(memory_kind kind, int device) const {
  const memory_counts all = counts(kind, device);
  const label_use some = labels_.labelled(index(kind, device));
  const auto minus = [](std::int64_t a, std::size_t b) {
    return static_cast<std::size_t>(std::max<std::int64_t>(a - static_cast<std::int64_t>(b), 0));
  };
  return {{}, 0, minus(all.current_bytes(), some.bytes), 0, minus(all.current_allocations(), some.allocations)};
}

memory_accounting::reason_of_failure::reason_of_failure(const out_of_memory& e)
    : text(plain_what(e)),
      is_limit(dynamic_cast<const above_memory_limit*>(&e) != nullptr) {}

memory_shortage memory_accounting::shortage(const memory_demand& d, const reason_of_failure& why) const {
  memory_shortage s;
  s.kind = d.kind;
  s.device = d.device;
  s.requested = d.bytes;
  s.why = why.text;
  const device_memory m = backend_.memory(d.device);
  s.free_bytes = m.free_bytes;
  s.total_bytes = m.total_bytes;
  s.this_process = cell(memory_kind::device, d.device) + cell(memory_kind::unified, d.device);
  s.allocated = static_cast<std::size_t>(std::max<std::int64_t>(counts(d.kind, d.device).current_bytes(), 0));
  s.reserved = reserved_bytes(d.kind, d.device);
  s.quarantined = quarantined_bytes(d.kind, d.device);
  s.retained = retained_bytes(d.kind, d.device);
  s.retained -= std::min(s.retained, s.quarantined);
  each_source([&](memory_source& p) {
    if (p.kind() == d.kind && p.device() == d.device)
      s.largest_free_block = std::max(s.largest_free_block, p.state().largest_free_bytes);
  });
  const auto rules = limits_.all();
  for (const limit_rule& r : *rules)
    if (r.scope.covers(d.kind, d.device)) s.limits.push_back(r.text());
  const std::size_t i = index(d.kind, d.device);
  for (const label_use& u : labels_.all())
    if (const label_use here = labels_.use(u.kind, u.label, i); here.bytes > 0)
      s.holders.push_back({label_text(u.kind, u.label), u.kind == label_kind::tag, here.bytes, here.allocations});
  std::stable_sort(s.holders.begin(), s.holders.end(), [](const auto& a, const auto& b) { return a.bytes > b.bytes; });
  if (s.holders.size() > most_holders) s.holders.resize(most_holders);
  if (const label_use rest = unlabelled(d.kind, d.device); rest.bytes > 0)
    s.holders.push_back({"", false, rest.bytes, rest.allocations});
  s.advice = advice_on(s, why.is_limit, backend_, policy());
  return s;
}

// Copies the list of handlers, because a handler may add or remove others, and none runs with a lock held. An
// allocation inside a callback does not call the callbacks again.
void memory_accounting::run_handlers(const memory_demand& d, const out_of_memory& first,
                                     const std::function<void()>& again) {
  refuse_inside_submission("allocate");
  std::vector<numbered_handler> rungs;
  {
    std::lock_guard lock(handlers_mutex_);
    rungs = handlers_;
  }
  struct climbing {
    climbing() { ++this_thread_state.handler_chains; }
    ~climbing() { --this_thread_state.handler_chains; }
  } now;
  reason_of_failure reason(first);
  std::vector<memory_shortage::attempt> tried;
  const bool may_synchronize = policy().synchronize;
  const auto end_quarantine = [&] {  // checked arrays that a callback freed are in quarantine
    if (std::none_of(quarantined_.begin(), quarantined_.end(), [](const auto& bytes) { return bytes > 0; })) return;
    for (const numbered_handler& r : rungs)
      if (r.what->order == handler_order::quarantine) (void)r.what->reclaim(d);
  };
  for (const numbered_handler& r : rungs) {
    if (r.what->order == handler_order::synchronize && !may_synchronize) continue;
    if (this_thread_state.handler_chains > 1 && r.what->order == handler_order::callbacks) continue;
    tried.push_back({r.what->name, r.what->reclaim(d)});
    if (tried.back().freed_bytes == 0) continue;
    if (r.what->order >= handler_order::callbacks) end_quarantine();
    try {
      return again();
    } catch (const out_of_memory& e) {
      reason = reason_of_failure(e);
    }
    if (r.what->order < handler_order::callbacks) continue;  // the freed bytes went to the driver, not to pools
    if (reclaim(d.device) == 0) continue;
    try {
      return again();
    } catch (const out_of_memory& e) {  // try the next handler
      reason = reason_of_failure(e);
    }
  }
  auto s = std::make_shared<memory_shortage>(shortage(d, reason));
  s->tried = std::move(tried);
  const std::string text = s->text();
  throw out_of_memory(text, d.bytes, std::move(s));
}

}  // namespace ferry::inline FERRY_ABI
