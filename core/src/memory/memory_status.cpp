#include "ferry/core/memory_status.hpp"

#include <algorithm>
#include <ostream>

#include "ferry/core/detail/accounting/memory_accounting.hpp"
#include "ferry/core/detail/pools/runtime_pools.hpp"
#include "ferry/core/detail/support/concat.hpp"
#include "ferry/core/detail/support/plain_text.hpp"
#include "ferry/core/runtime.hpp"
#include "support/json_text.hpp"
#include "support/memory_sizes.hpp"

namespace ferry::inline FERRY_ABI {

using namespace detail;

namespace {

std::string arrays_text(std::size_t n) { return concat(n, n == 1 ? " array" : " arrays"); }

std::size_t not_negative(std::int64_t n) { return static_cast<std::size_t>(std::max<std::int64_t>(n, 0)); }

memory_usage::of_kind use_of(const memory_accounting& accounting, memory_kind kind, int device) {
  const memory_counts c = accounting.arrays().counts(kind, device);
  memory_usage::of_kind k{kind,
                          not_negative(c.current_bytes()),
                          accounting.arrays().peak_bytes(kind, device),
                          c.allocated_bytes,
                          not_negative(c.current_allocations()),
                          c.allocations,
                          accounting.pools().reserved_bytes(kind, device),
                          0,
                          accounting.retained_bytes(kind, device),
                          accounting.arrays().quarantined_bytes(kind, device)};
  k.retained_bytes = std::max(k.retained_bytes, k.quarantined_bytes);  // other threads may be freeing arrays
  accounting.pools().each([&](memory_source& s) {
    if (s.kind() == kind && s.device() == device)
      k.largest_free_bytes = std::max(k.largest_free_bytes, s.state().largest_free_bytes);
  });
  return k;
}

std::string field(const char* name, std::size_t value) { return concat(json_text(name), ":", value); }

}  // namespace

memory_usage memory_use() {
  runtime& m = runtime::current();
  const memory_accounting& accounting = m.memory();
  memory_usage all;
  const auto rules = accounting.limits().all();
  for (const device d : m.devices()) {
    const device_memory driver = m.backend().memory(d.index());
    memory_usage::of_device one{d.index(), d.properties().name, driver.free_bytes, driver.total_bytes, {}, {}};
    for (std::size_t k = 0; k < one.kinds.size(); ++k)
      one.kinds[k] = use_of(accounting, all_memory_kinds[k], d.index());
    for (const limit_rule& r : *rules)
      if (!r.scope.on || *r.scope.on == d) one.limits.push_back(r.text());
    all.devices.push_back(std::move(one));
  }
  all.pinned_bytes = accounting.pools().pinned_bytes();
  for (const label_use& u : accounting.arrays().labels().all()) {
    memory_usage::of_label one{label_text(u.kind, u.label),
                               u.kind == label_kind::tag,
                               u.bytes,
                               u.peak_bytes,
                               u.allocations,
                               u.total_bytes,
                               {}};
    for (const device d : m.devices())
      for (const memory_kind k : all_memory_kinds)
        if (const label_use here = accounting.arrays().use_of(u.kind, u.label, k, d.index()); here.allocations > 0)
          one.places.push_back({k, d.index(), here.bytes, here.allocations});
    all.labels.push_back(std::move(one));
  }
  return all;
}

std::string memory_usage::text() const {
  std::string s;
  for (const of_device& d : devices) {
    const std::size_t used = d.total_bytes - std::min(d.free_bytes, d.total_bytes);
    const double share = d.total_bytes ? 100.0 * static_cast<double>(used) / static_cast<double>(d.total_bytes) : 0.0;
    s += concat("Device ", d.device, " (", d.name, ")\n  Effective memory use: ", fixed_text(share, 2), " % (",
                bytes_text(used), " of ", bytes_text(d.total_bytes), ")\n");
    for (const of_kind& k : d.kinds) {
      if (k.kind != memory_kind::device && k.total_arrays == 0 && k.reserved_bytes == 0) continue;
      const std::string retained = retained_text(k.retained_bytes - k.quarantined_bytes, k.quarantined_bytes);
      s += concat("  Pool use, ", kind_name(k.kind), " memory: ", bytes_text(k.current_bytes), " in ",
                  arrays_text(k.arrays), " (", bytes_text(k.reserved_bytes), " reserved), at most ",
                  bytes_text(k.peak_bytes), retained.empty() ? "" : ", " + retained, "\n");
    }
    s += "  Limits: ";
    for (std::size_t i = 0; i < d.limits.size(); ++i) s += (i ? "; " : "") + d.limits[i];
    s += d.limits.empty() ? "none\n" : "\n";
  }
  if (pinned_bytes > 0) s += "Pinned of the program's own memory: " + bytes_text(pinned_bytes) + "\n";
  for (const of_label& l : labels) {
    s += concat(l.is_tag ? "Tag '" : "Name '", l.label, "': ", bytes_text(l.current_bytes), " in ",
                arrays_text(l.arrays), ", at most ", bytes_text(l.peak_bytes), ", ever ", bytes_text(l.total_bytes),
                "\n");
    if (l.places.size() > 1)
      for (const of_label::place& p : l.places)
        s += concat("  Device ", p.device, ", ", kind_name(p.kind), " memory: ", bytes_text(p.current_bytes), " in ",
                    arrays_text(p.arrays), "\n");
  }
  return s;
}

std::string memory_usage::json() const {
  const auto kind = [](const of_kind& k) {
    return "{\"kind\":" + json_text(kind_name(k.kind)) + "," + field("current_bytes", k.current_bytes) + "," +
           field("peak_bytes", k.peak_bytes) + "," + field("total_bytes", k.total_bytes) + "," +
           field("arrays", k.arrays) + "," + field("total_arrays", k.total_arrays) + "," +
           field("reserved_bytes", k.reserved_bytes) + "," + field("largest_free_bytes", k.largest_free_bytes) + "," +
           field("retained_bytes", k.retained_bytes) + "," + field("quarantined_bytes", k.quarantined_bytes) + "}";
  };
  const auto device = [&](const of_device& d) {
    return "{" + field("device", static_cast<std::size_t>(d.device)) + ",\"name\":" + json_text(d.name) + "," +
           field("free_bytes", d.free_bytes) + "," + field("total_bytes", d.total_bytes) +
           ",\"kinds\":" + json_list(d.kinds, kind) + ",\"limits\":" + json_list(d.limits, json_text) + "}";
  };
  const auto place = [](const of_label::place& p) {
    return "{\"kind\":" + json_text(kind_name(p.kind)) + "," + field("device", static_cast<std::size_t>(p.device)) +
           "," + field("current_bytes", p.current_bytes) + "," + field("arrays", p.arrays) + "}";
  };
  const auto label = [&](const of_label& l) {
    return "{\"label\":" + json_text(l.label) + ",\"is_tag\":" + (l.is_tag ? "true" : "false") + "," +
           field("current_bytes", l.current_bytes) + "," + field("peak_bytes", l.peak_bytes) + "," +
           field("arrays", l.arrays) + "," + field("total_bytes", l.total_bytes) +
           ",\"places\":" + json_list(l.places, place) + "}";
  };
  return "{\"devices\":" + json_list(devices, device) + ",\"labels\":" + json_list(labels, label) + "," +
         field("pinned_bytes", pinned_bytes) + "}";
}

void memory_status(std::ostream& out) { out << memory_use().text(); }

memory_counts memory_counts_of_this_thread(memory_kind kind, device d) {
  runtime& m = runtime::current();
  (void)m.properties(d.index());
  return m.memory().arrays().counts_of_this_thread(kind, d.index());
}

}  // namespace ferry::inline FERRY_ABI
