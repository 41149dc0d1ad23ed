// The migration report as text: a table for people, JSON for programs.
#include <algorithm>
#include <ostream>
#include <span>
#include <vector>

#include "counters/cpu_touches.hpp"
#include "ferry/core/detail/support/plain_text.hpp"
#include "ferry/unified/report.hpp"

namespace ferry::inline FERRY_ABI {

using namespace detail;

namespace {

using detail::fixed_text, detail::json_string, detail::plain_stream;

std::string mebibytes(std::uint64_t bytes) { return fixed_text(static_cast<double>(bytes) / (1 << 20), 1); }

void pad(std::string& line, const std::string& text, std::size_t width, bool right) {
  const std::string space(text.size() < width ? width - text.size() : 0, ' ');
  line += right ? space + text + "  " : text + space + "  ";
}

void write(std::ostream& out, const char* name, const moved_bytes& m) {
  out << json_string(name) << ": {\"by_prefetch\": " << m.by_prefetch << ", \"by_fault\": " << m.by_fault << "}";
}

// Returns the table of the driver's counts. It omits columns that are zero in all rows.
std::string counted_table(const migration_report& r) {
  using counts = counted_moves;
  struct column {
    const char* title;
    std::uint64_t (*of)(const counts&);
    bool bytes;
  };
  static constexpr column columns[] = {
      {"to GPU", [](const counts& c) { return c.to_devices.by_prefetch; }, true},
      {"by faults", [](const counts& c) { return c.to_devices.by_fault; }, true},
      {"to CPU", [](const counts& c) { return c.to_cpu.by_prefetch; }, true},
      {"by faults", [](const counts& c) { return c.to_cpu.by_fault; }, true},
      {"evicted", [](const counts& c) { return c.evicted; }, true},
      {"GPU to GPU", [](const counts& c) { return c.between_devices.by_prefetch; }, true},
      {"by faults", [](const counts& c) { return c.between_devices.by_fault; }, true},
      {"remote", [](const counts& c) { return c.remote; }, true},
      {"GPU faults", [](const counts& c) { return c.device_faults; }, false},
      {"CPU faults", [](const counts& c) { return c.cpu_faults; }, false},
      {"thrashing", [](const counts& c) { return c.thrashing; }, false},
      {"throttled", [](const counts& c) { return c.throttled; }, false},
  };
  std::vector<column> shown;
  for (const column& c : columns)
    for (const migration_entry& e : r.entries)
      if (e.counted && c.of(*e.counted) != 0) {
        shown.push_back(c);
        break;
      }
  plain_stream out;
  std::string head;
  for (const char* title : {"counted", "phase"}) pad(head, title, 20, false);
  for (const column& c : shown) pad(head, c.title, 10, true);
  out << head << "busy ms\n";
  for (const migration_entry& e : r.entries) {
    if (!e.counted) continue;
    std::string line;
    pad(line, e.array, 20, false);
    pad(line, e.phase, 20, false);
    for (const column& c : shown)
      pad(line, c.bytes ? mebibytes(c.of(*e.counted)) : std::to_string(c.of(*e.counted)), 10, true);
    out << line << fixed_text(e.counted->busy_milliseconds, 2) << '\n';
  }
  out << "MiB, and times. As the driver counted; columns of zeros are left out.";
  if (r.lost_counts > 0) out << " There was no room for " << r.lost_counts << " events.";
  out << '\n';
  return out.str();
}

}  // namespace

std::string migration_report::table() const {
  plain_stream out;
  std::string head;
  for (const char* title : {"array", "phase"}) pad(head, title, 20, false);
  for (const char* title :
       {"to GPU", "by faults", "to CPU", "by faults", "GPU to GPU", "by faults", "dropped", "remote"})
    pad(head, title, 10, true);
  pad(head, "bounces", 7, true);
  out << head << "lost ms\n";
  for (const migration_entry& e : entries) {
    std::string line;
    pad(line, e.array, 20, false);
    pad(line, e.phase, 20, false);
    for (const std::uint64_t bytes :
         {e.to_devices.by_prefetch, e.to_devices.by_fault, e.to_cpu.by_prefetch, e.to_cpu.by_fault,
          e.between_devices.by_prefetch, e.between_devices.by_fault, e.dropped, e.remote})
      pad(line, mebibytes(bytes), 10, true);
    pad(line, std::to_string(e.bounces), 7, true);
    out << line << fixed_text(e.lost_milliseconds, 2) << '\n';
    for (const cpu_touch& t : std::span(e.touches).first(std::min(e.touches.size(), shown_touches)))
      out << "    CPU " << (t.writes ? "writes" : "reads") << (t.elements ? " elements" : "") << " in "
          << (t.at.is_known() ? t.at.text() : "an unknown line") << " (" << t.checks << ")\n";
    if (const std::string more = more_touches(e.touches); !more.empty()) out << "    " << more << '\n';
    if (!e.suggestion.empty()) out << "    -> " << e.suggestion << '\n';
  }
  out << "MiB. By faults, and lost: estimated from the last users.\n";
  if (is_counted) out << '\n' << counted_table(*this);
  if (!not_counted.empty()) out << "Not counted by the driver: " << not_counted << ".\n";
  if (!migration_ended.empty()) out << "Automatic migration has ended: " << migration_ended << ".\n";
  return out.str();
}

std::string migration_report::json() const {
  plain_stream out;
  out << "[";
  const char* between = "";
  for (const migration_entry& e : entries) {
    out << between << "\n  {\"array\": " << json_string(e.array) << ", \"phase\": " << json_string(e.phase)
        << ", \"bytes\": " << e.bytes;
    write(out << ", ", "to_devices", e.to_devices);
    write(out << ", ", "to_cpu", e.to_cpu);
    write(out << ", ", "between_devices", e.between_devices);
    out << ", \"dropped\": " << e.dropped << ", \"remote\": " << e.remote << ", \"prefetches\": " << e.prefetches
        << ", \"bounces\": " << e.bounces << ", \"migration_disabled\": " << (e.migration_disabled ? "true" : "false")
        << ", \"lost_milliseconds\": " << e.lost_milliseconds << ", \"touches\": [";
    const char* comma = "";
    for (const cpu_touch& t : e.touches) {
      out << comma << "{\"at\": " << json_string(t.at.text()) << ", \"writes\": " << (t.writes ? "true" : "false")
          << ", \"elements\": " << (t.elements ? "true" : "false") << ", \"checks\": " << t.checks << "}";
      comma = ", ";
    }
    out << "], \"device_use\": " << json_string(e.device_use.text());
    if (e.counted) {
      const counted_moves& c = *e.counted;
      out << ", \"counted\": {";
      write(out, "to_devices", c.to_devices);
      write(out << ", ", "to_cpu", c.to_cpu);
      write(out << ", ", "between_devices", c.between_devices);
      out << ", \"evicted\": " << c.evicted << ", \"remote\": " << c.remote << ", \"cpu_faults\": " << c.cpu_faults
          << ", \"device_faults\": " << c.device_faults << ", \"thrashing\": " << c.thrashing
          << ", \"throttled\": " << c.throttled << ", \"busy_milliseconds\": " << c.busy_milliseconds << "}";
    }
    if (lost_counts > 0) out << ", \"lost_counts\": " << lost_counts;  // of all entries
    if (!not_counted.empty()) out << ", \"not_counted\": " << json_string(not_counted);
    if (!migration_ended.empty()) out << ", \"migration_ended\": " << json_string(migration_ended);
    out << ", \"suggestion\": " << json_string(e.suggestion) << "}";
    between = ",";
  }
  out << "\n]\n";
  return out.str();
}

std::ostream& operator<<(std::ostream& out, const migration_report& r) { return out << r.table(); }

}  // namespace ferry::inline FERRY_ABI
