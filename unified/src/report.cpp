#include "ferry/unified/report.hpp"

#include <ostream>
#include <sstream>

#include "ferry/core/allocation.hpp"
#include "migrator.hpp"

namespace ferry {
namespace {

// What faults take longer than prefetches, in milliseconds a byte: 256 MiB on an H200, docs/unified.md.
constexpr double lost_to_devices = (33.0 - 5.6) / (256 << 20), lost_to_cpu = (64.0 - 12.4) / (256 << 20);

const cpu_touch* busiest(const migration_entry& e, bool elements) {
  const cpu_touch* best = nullptr;
  for (const cpu_touch& t : e.touches)
    if (t.elements == elements && (!best || t.asks > best->asks)) best = &t;
  return best;
}

std::string in_line(const cpu_touch* t) { return t && t->at.is_known() ? " in " + t->at.text() : ""; }

std::string suggestion_for(const migration_entry& e) {
  const std::uint64_t there = e.to_devices.by_prefetch + e.to_devices.by_fault;
  const std::uint64_t back = e.to_cpu.by_prefetch + e.to_cpu.by_fault;
  const std::uint64_t size = std::max<std::uint64_t>(e.bytes, 1);
  if (e.bounces > 0 || e.left_alone)
    return "devices take it from each other: give each its own part, or, if they only read it, "
           "advise(" +
           e.array + ", advice::read_mostly)";
  const cpu_touch *loop = busiest(e, false), *element = busiest(e, true);
  if (there >= 3 * size && back >= 2 * size)
    return "it goes to the GPU and back all the time: the CPU's loop" + in_line(loop ? loop : element) +
           " would cost less as a parallel_for";
  if (e.to_cpu.by_fault >= size && loop)
    return "the CPU reads it" + in_line(loop) + " while the GPU does: advise(" + e.array + ", advice::read_mostly)";
  if (e.to_devices.by_fault >= size)
    return "it moves by faults: prefetch(" + e.array + ", device) before the kernel, or set FERRY_MIGRATION=automatic";
  if (element && element->asks >= 3)
    return "the CPU looks at single elements" + in_line(element) +
           " between kernels: parallel_reduce() or a copied slice gives the value without moving pages";
  if (e.touches.empty() && there > 0) return "the CPU never touches it here: it could be a device_array";
  return {};
}

std::string mebibytes(std::uint64_t bytes) {
  std::ostringstream out;
  out.setf(std::ios::fixed);
  out.precision(1);
  out << static_cast<double>(bytes) / (1 << 20);
  return out.str();
}

std::string quoted(const std::string& text) {
  std::string s = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') s += '\\';
    if (static_cast<unsigned char>(c) < 0x20)
      s += ' ';
    else
      s += c;
  }
  return s + '"';
}

void pad(std::string& line, const std::string& text, std::size_t width, bool right) {
  const std::string space(text.size() < width ? width - text.size() : 0, ' ');
  line += right ? space + text + "  " : text + space + "  ";
}

}  // namespace

migration_entry& migrator::entry_of(const allocation& a) {
  const std::string name = a.name.empty() ? "unnamed, " + mebibytes(a.bytes) + " MiB" : a.name.get();
  migration_entry& e = entries_[{name, this_thread_migration().phase}];
  if (e.array.empty()) e.array = name, e.phase = this_thread_migration().phase;
  e.bytes = std::max(e.bytes, a.bytes);
  return e;
}

void migrator::enter(const coming_access& a, const std::vector<planned>& plan) {
  std::lock_guard lock(mutex_);
  migration_entry& e = entry_of(a.what);
  if (!a.stream) note(e.touches, a);
  bool sent = false;
  for (const planned& p : plan) {
    const std::size_t bytes = p.pages.size(), used = p.used.size();
    moved_bytes& way = p.to == on_the_cpu ? e.to_cpu : p.from >= 0 ? e.between_devices : e.to_devices;
    e.bounces += p.went_back;
    switch (p.what) {
      case page_step::move: way.by_prefetch += bytes, sent = true; break;
      case page_step::drop: e.dropped += bytes, sent = true; break;
      case page_step::fault:
        if (p.from != nobody_knows) way.by_fault += used;
        break;
      case page_step::bounce: e.left_alone = true; [[fallthrough]];
      case page_step::map:
      case page_step::remote: e.remote += used; break;
    }
  }
  e.prefetches += sent;
}

migration_report migrator::report() {
  migration_report r;
  std::lock_guard lock(mutex_);
  for (const auto& [key, entry] : entries_) {
    r.entries.push_back(entry);
    migration_entry& e = r.entries.back();
    e.lost_milliseconds = static_cast<double>(e.to_devices.by_fault) * lost_to_devices +
                          static_cast<double>(e.to_cpu.by_fault) * lost_to_cpu;
    e.suggestion = suggestion_for(e);
  }
  return r;
}

void migrator::reset_report() {
  std::lock_guard lock(mutex_);
  entries_.clear();
}

std::string migrator::explain(allocation& a) {
  std::ostringstream out;
  record& r = record_of(a);
  std::lock_guard lock(r.lock, std::adopt_lock);
  if (r.policy) out << "  policy: " << *r.policy << (r.has_own_policy ? "" : ", by the array's name") << '\n';
  for (const page_run& g : r.pages.runs()) {
    out << "  bytes " << (g.begin - a.begin) << " to " << (g.end - a.begin) << " believed ";
    if (g.where >= 0)
      out << "on device " << g.where;
    else
      out << (g.where == on_the_cpu ? "on the CPU" : "nobody knows where");
    out << (g.is_advised() ? ", advised by the program" : "") << (g.left_alone ? ", bounced and left alone" : "")
        << '\n';
  }
  for (const cpu_touch& t : r.touches)
    out << "  " << (t.writes ? "written" : "read") << " by the CPU" << (t.elements ? ", by elements," : "") << " in "
        << (t.at.is_known() ? t.at.text() : "a line not known") << ", " << t.asks << (t.asks == 1 ? " ask" : " asks")
        << '\n';
  return out.str();
}

std::string migration_report::table() const {
  std::ostringstream out;
  std::string head;
  for (const char* title : {"array", "phase"}) pad(head, title, 20, false);
  for (const char* title : {"to GPU", "by faults", "to CPU", "by faults", "GPU to GPU", "dropped", "remote"})
    pad(head, title, 10, true);
  pad(head, "bounces", 7, true);
  out << head << "lost ms\n";
  for (const migration_entry& e : entries) {
    std::string line;
    pad(line, e.array, 20, false);
    pad(line, e.phase, 20, false);
    for (const std::uint64_t bytes :
         {e.to_devices.by_prefetch, e.to_devices.by_fault, e.to_cpu.by_prefetch, e.to_cpu.by_fault,
          e.between_devices.by_prefetch + e.between_devices.by_fault, e.dropped, e.remote})
      pad(line, mebibytes(bytes), 10, true);
    pad(line, std::to_string(e.bounces), 7, true);
    std::ostringstream lost;
    lost.setf(std::ios::fixed);
    lost.precision(2);
    lost << e.lost_milliseconds;
    out << line << lost.str() << '\n';
    for (const cpu_touch& t : e.touches)
      out << "    CPU " << (t.writes ? "writes" : "reads") << (t.elements ? " elements" : "") << " in "
          << (t.at.is_known() ? t.at.text() : "a line not known") << " (" << t.asks << ")\n";
    if (!e.suggestion.empty()) out << "    -> " << e.suggestion << '\n';
  }
  out << "MiB. By faults, and lost: reckoned from who used what last.\n";
  return out.str();
}

std::string migration_report::json() const {
  std::ostringstream out;
  out << "[";
  const char* between = "";
  for (const migration_entry& e : entries) {
    out << between << "\n  {\"array\": " << quoted(e.array) << ", \"phase\": " << quoted(e.phase)
        << ", \"bytes\": " << e.bytes;
    const auto way = [&](const char* name, const moved_bytes& m) {
      out << ", \"" << name << "\": {\"by_prefetch\": " << m.by_prefetch << ", \"by_fault\": " << m.by_fault << "}";
    };
    way("to_devices", e.to_devices), way("to_cpu", e.to_cpu), way("between_devices", e.between_devices);
    out << ", \"dropped\": " << e.dropped << ", \"remote\": " << e.remote << ", \"prefetches\": " << e.prefetches
        << ", \"bounces\": " << e.bounces << ", \"left_alone\": " << (e.left_alone ? "true" : "false")
        << ", \"lost_milliseconds\": " << e.lost_milliseconds << ", \"touches\": [";
    const char* comma = "";
    for (const cpu_touch& t : e.touches) {
      out << comma << "{\"at\": " << quoted(t.at.text()) << ", \"writes\": " << (t.writes ? "true" : "false")
          << ", \"elements\": " << (t.elements ? "true" : "false") << ", \"asks\": " << t.asks << "}";
      comma = ", ";
    }
    out << "], \"suggestion\": " << quoted(e.suggestion) << "}";
    between = ",";
  }
  out << "\n]\n";
  return out.str();
}

std::ostream& operator<<(std::ostream& out, const migration_report& r) { return out << r.table(); }

migration_report report_migration() { return migrator::current().report(); }
void reset_migration_report() { migrator::current().reset_report(); }

migration_phase::migration_phase(std::string name)
    : before_(std::exchange(this_thread_migration().phase, std::move(name))) {}
migration_phase::~migration_phase() { this_thread_migration().phase = before_; }

}  // namespace ferry
