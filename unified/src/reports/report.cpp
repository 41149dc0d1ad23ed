#include "ferry/unified/report.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "counters/fault_costs.hpp"
#include "migration/migration_policy.hpp"
#include "migration/migration_thread_state.hpp"

namespace ferry::inline FERRY_ABI {

using namespace detail;

namespace {

// Returns the line with the most checks, preferably a known one; null if there is none.
const cpu_touch* busiest(const migration_entry& e, bool elements) {
  const cpu_touch* best = nullptr;
  const auto before = [](const cpu_touch& a, const cpu_touch& b) {
    return a.at.is_known() != b.at.is_known() ? b.at.is_known() : a.checks < b.checks;
  };
  for (const cpu_touch& t : e.touches)
    if (t.elements == elements && (!best || before(*best, t))) best = &t;
  return best;
}

// The line of the side that the suggestion is about, or else of the other side.
std::string cpu_in_line(const migration_entry& e, const cpu_touch* t) {
  if (t && t->at.is_known()) return " in " + t->at.text();
  return e.device_use.is_known() ? " (the device's work is in " + e.device_use.text() + ")" : "";
}
std::string device_in_line(const migration_entry& e) {
  if (e.device_use.is_known()) return " for the work in " + e.device_use.text();
  const cpu_touch *loop = busiest(e, false), *element = busiest(e, true);
  const cpu_touch* t = loop && loop->at.is_known() ? loop : element;
  return t && t->at.is_known() ? " (the CPU uses it in " + t->at.text() + ")" : "";
}

std::string suggestion_for(const migration_entry& e) {
  const std::uint64_t there = e.to_devices.by_prefetch + e.to_devices.by_fault;
  const std::uint64_t back = e.to_cpu.by_prefetch + e.to_cpu.by_fault;
  const std::uint64_t size = std::max<std::uint64_t>(e.bytes, 1);
  if (e.bounces > 0 || e.migration_disabled)
    return "devices take it from each other" + device_in_line(e) +
           ": give each its own part, or, if they only read it, advise(" + e.array + ", advice::read_mostly)";
  const cpu_touch *loop = busiest(e, false), *element = busiest(e, true);
  if (there >= 3 * size && back >= 2 * size)
    return "it goes to the GPU and back all the time: the CPU's loop" + cpu_in_line(e, loop ? loop : element) +
           " would cost less as a parallel_for";
  if (e.to_cpu.by_fault >= size && loop && !e.stays)
    return "the CPU reads it" + cpu_in_line(e, loop) + " while the GPU does: advise(" + e.array +
           ", advice::read_mostly)";
  if (e.to_devices.by_fault >= size && !e.stays)
    return "it moves by faults" + device_in_line(e) + ": prefetch(" + e.array +
           ", device) before that, or set FERRY_MIGRATION=automatic";
  if (element && element->checks >= 3)
    return "the CPU looks at single elements" + cpu_in_line(e, element) +
           " between kernels: parallel_reduce() or a copied slice gives the value without moving pages";
  if (e.touches.empty() && there > 0 && !e.stays)
    return "the CPU never touches it here: moved" + device_in_line(e) + ", it could be a device_array";
  return {};
}

}  // namespace

migration_report report_migration() {
  migration_policy& known = migration_policy::current();
  migration_report r;
  auto counted = known.counters().read(r);
  r.migration_ended = known.failures().why_ended();
  move_log::rows entries = known.log().copy();
  for (auto& [key, counts] : counted) {
    migration_entry& e = entries[key];
    e.array = key.first, e.phase = key.second;
    e.counted = counts;
  }
  for (auto& [key, entry] : entries) {
    migration_entry& e = r.entries.emplace_back(std::move(entry));
    if (r.is_counted && !e.counted) e.counted.emplace();
    e.lost_milliseconds = static_cast<double>(e.to_devices.by_fault) * fault_figures::to_devices.per_byte() +
                          static_cast<double>(e.to_cpu.by_fault) * fault_figures::to_cpu.per_byte() +
                          static_cast<double>(e.between_devices.by_fault) * fault_figures::between_devices.per_byte();
    e.suggestion = suggestion_for(e);
  }
  return r;
}

void reset_migration_report() {
  migration_policy& known = migration_policy::current();
  known.counters().reset();
  known.log().reset();
}

void trace_elements(element_traces how) { migration_policy::current().scopes().set_element_traces(how); }
void set_migration_counters(migration_counters how) { migration_policy::current().counters().set(how); }

migration_phase::migration_phase(std::string name)
    : before_(std::exchange(this_thread_migration().phase, std::move(name))) {}
migration_phase::~migration_phase() { this_thread_migration().phase = before_; }

}  // namespace ferry::inline FERRY_ABI
