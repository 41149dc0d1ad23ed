#include "accounting/shortage_of.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "accounting/above_memory_limit.hpp"
#include "ferry/core/detail/accounting/memory_accounting.hpp"
#include "ferry/core/detail/support/concat.hpp"

namespace ferry::inline FERRY_ABI::detail {
namespace {

constexpr std::size_t most_holders = 5;

std::vector<std::string> advice_on(const memory_shortage& s, bool is_limit, const detail::backend& backend,
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
        advice.push_back(concat("device ", d, " has ", bytes_text(m.free_bytes), " free: place the array there",
                                policy.spill_to_peers ? "" : ", or let ferry do it (FERRY_OOM=spill)"));
        break;
      }
    advice.emplace_back("a unified array may be larger than the device");
  }
  if (!policy.synchronize)
    advice.emplace_back("wait for work that still uses freed bytes (FERRY_OOM=synchronize does)");
  if (s.retained > 0) advice.emplace_back("release the blocks that workspaces retain (workspace::clear)");
  if (s.quarantined > 0)
    advice.emplace_back("make the quarantine smaller (memory_checks::quarantine_bytes, quarantine= in FERRY_POISON)");
  if (s.allocated > 0) advice.emplace_back("free arrays, work in smaller pieces, or register ferry::on_out_of_memory");
  return advice;
}

}  // namespace

reason_of_failure::reason_of_failure(const out_of_memory& e)
    : text(plain_what(e)),
      is_limit(dynamic_cast<const above_memory_limit*>(&e) != nullptr) {}

memory_shortage shortage_of(const memory_accounting& accounting, const memory_demand& d, const reason_of_failure& why) {
  const array_accounts& arrays = accounting.arrays();
  const pool_registry& pools = accounting.pools();
  memory_shortage s;
  s.kind = d.kind;
  s.device = d.device;
  s.requested = d.bytes;
  s.why = why.text;
  const device_memory m = accounting.backend().memory(d.device);
  s.free_bytes = m.free_bytes;
  s.total_bytes = m.total_bytes;
  s.this_process =
      pools.reserved_bytes(memory_kind::device, d.device) + pools.reserved_bytes(memory_kind::unified, d.device);
  s.allocated = arrays.bytes(d.kind, d.device);
  s.reserved = pools.reserved_bytes(d.kind, d.device);
  s.quarantined = arrays.quarantined_bytes(d.kind, d.device);
  s.retained = accounting.retained_bytes(d.kind, d.device);
  s.retained -= std::min(s.retained, s.quarantined);
  pools.each([&](memory_source& p) {
    if (p.kind() == d.kind && p.device() == d.device)
      s.largest_free_block = std::max(s.largest_free_block, p.state().largest_free_bytes);
  });
  const auto rules = accounting.limits().all();
  for (const limit_rule& r : *rules)
    if (r.scope.covers(d.kind, d.device)) s.limits.push_back(r.text());
  for (const label_use& u : arrays.labels().all())
    if (const label_use here = arrays.use_of(u.kind, u.label, d.kind, d.device); here.bytes > 0)
      s.holders.push_back({label_text(u.kind, u.label), u.kind == label_kind::tag, here.bytes, here.allocations});
  std::stable_sort(s.holders.begin(), s.holders.end(), [](const auto& a, const auto& b) { return a.bytes > b.bytes; });
  if (s.holders.size() > most_holders) s.holders.resize(most_holders);
  if (const label_use rest = arrays.unlabelled(d.kind, d.device); rest.bytes > 0)
    s.holders.push_back({"", false, rest.bytes, rest.allocations});
  s.advice = advice_on(s, why.is_limit, accounting.backend(), accounting.handlers().policy());
  return s;
}

}  // namespace ferry::inline FERRY_ABI::detail
