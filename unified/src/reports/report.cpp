#include "ferry/unified/report.hpp"

#include <algorithm>
#include <cstdio>
#include <ostream>

#include "counters/cpu_touches.hpp"
#include "counters/fault_costs.hpp"
#include "ferry/core/detail/ordering/allocation.hpp"
#include "ferry/core/detail/support/plain_text.hpp"
#include "migration/migration_policy.hpp"
#include "migration/migration_thread_state.hpp"

namespace ferry::inline FERRY_ABI {

using namespace detail;

namespace {

// Returns the line with the most checks, preferably a known one; null if there is none.
const cpu_touch* busiest(const migration_entry& e, bool elements) {
  const cpu_touch* best = nullptr;
  const auto before = [](const cpu_touch& a, const cpu_touch& b) {
    return a.at.is_known() != b.at.is_known() ? b.at.is_known() : a.asks < b.asks;
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
  if (element && element->asks >= 3)
    return "the CPU looks at single elements" + cpu_in_line(e, element) +
           " between kernels: parallel_reduce() or a copied slice gives the value without moving pages";
  if (e.touches.empty() && there > 0 && !e.stays)
    return "the CPU never touches it here: moved" + device_in_line(e) + ", it could be a device_array";
  return {};
}

}  // namespace

migration_entry& migration_policy::entry_of(allocation& a) {
  const std::size_t bytes = range_now(a).size();
  const std::string name = name_in_reports(a, bytes);
  migration_entry& e = entries_[{name, this_thread_migration().phase}];
  if (e.array.empty()) e.array = name, e.phase = this_thread_migration().phase;
  e.bytes = std::max(e.bytes, bytes);
  return e;
}

void migration_policy::enter(const coming_access& a, const std::vector<planned>& plan) {
  const bool stays = !records_.find(a.what).is_managed;  // constant while the array lives
  std::lock_guard lock(mutex_);
  migration_entry& e = entry_of(a.what);
  e.stays = stays;
  if (!a.stream)
    note_touch(e.touches, a);
  else if (a.at.is_known())
    e.device_use = a.at;
  bool sent = false;
  for (const planned& p : plan) {
    const std::size_t bytes = p.pages.size(), used = p.used.size();
    moved_bytes& way = p.to == on_the_cpu ? e.to_cpu : p.from >= 0 ? e.between_devices : e.to_devices;
    e.bounces += p.went_back;
    e.migration_disabled = e.migration_disabled || p.migration_disabled;
    switch (p.what) {
      case page_step::move: way.by_prefetch += bytes, sent = true; break;
      case page_step::drop: e.dropped += bytes, sent = true; break;
      case page_step::fault:
        if (p.from != unknown_location) way.by_fault += used;
        break;
      case page_step::map:
      case page_step::remote: e.remote += used; break;
    }
  }
  e.prefetches += sent;
}

migration_report migration_policy::report() {
  migration_report r;
  auto counted = counters_.read(r);
  r.migration_ended = failures_.why_ended();
  std::lock_guard lock(mutex_);
  std::map<counted_pages::row_name, migration_entry> entries = entries_;
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

void migration_policy::reset_report() {
  counters_.reset();
  std::lock_guard lock(mutex_);
  entries_.clear();
}

std::string migration_policy::explain(allocation& a) {
  plain_stream out;
  if (const std::string why = failures_.why_ended(); !why.empty())
    out << "  automatic migration has ended: " << why << '\n';
  const locked_record r = records_.lock(a);
  if (r->policy) out << "  policy: " << *r->policy << (r->has_own_policy ? "" : ", by the array's name") << '\n';
  const std::byte* const begin = r->pages.all().begin;
  for (const page_run& g : r->pages.runs()) {
    out << "  bytes " << (g.begin - begin) << " to " << (g.end - begin) << " believed ";
    if (g.where >= 0)
      out << "on device " << g.where;
    else
      out << (g.where == on_the_cpu ? "on the CPU" : "in an unknown location");
    out << (g.is_advised() ? ", advised by the program" : "")
        << (g.migration_disabled ? ", bounced and left alone" : "") << '\n';
  }
  for (const cpu_touch& t : std::span(r->touches).first(std::min(r->touches.size(), shown_touches)))
    out << "  " << (t.writes ? "written" : "read") << " by the CPU" << (t.elements ? ", by elements," : "") << " in "
        << (t.at.is_known() ? t.at.text() : "an unknown line") << ", " << t.asks << (t.asks == 1 ? " ask" : " asks")
        << '\n';
  if (const std::string more = more_touches(r->touches); !more.empty()) out << "  " << more << '\n';
  return out.str();
}

migration_report report_migration() { return migration_policy::current().report(); }
void reset_migration_report() { migration_policy::current().reset_report(); }
void trace_elements(element_traces how) { migration_policy::current().scopes().set_element_traces(how); }
void set_migration_counters(migration_counters how) { migration_policy::current().set_counters(how); }

migration_phase::migration_phase(std::string name)
    : before_(std::exchange(this_thread_migration().phase, std::move(name))) {}
migration_phase::~migration_phase() { this_thread_migration().phase = before_; }

}  // namespace ferry::inline FERRY_ABI
