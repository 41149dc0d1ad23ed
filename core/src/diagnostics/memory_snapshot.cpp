#include "ferry/core/memory_snapshot.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <fstream>
#include <map>
#include <utility>

#include "ferry/core/array_view.hpp"
#include "ferry/core/detail/accounting/memory_accounting.hpp"
#include "ferry/core/detail/pools/runtime_pools.hpp"
#include "ferry/core/detail/support/concat.hpp"
#include "ferry/core/detail/support/plain_text.hpp"
#include "ferry/core/runtime.hpp"
#include "runtime/runtime_registry.hpp"
#include "support/json_text.hpp"

namespace ferry::inline FERRY_ABI {

using namespace detail;

namespace {

std::int64_t steady_nanoseconds() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::nanoseconds>(now).count();
}

const char* action_name(memory_event::action a) {
  switch (a) {
    case memory_event::action::allocate: return "allocate";
    case memory_event::action::free: return "free";
    case memory_event::action::reserve: return "reserve";
    case memory_event::action::give_back: return "give_back";
  }
  return "?";
}

// Returns a JSON list with one item per line.
template <class Items, class Text>
std::string list(const Items& items, Text text) {
  return json_list(items, text, ",\n");
}

// The texts of tags and names; rows refer to them by index. The first text is empty.
class label_list {
 public:
  explicit label_list(const memory_snapshot& s) {
    const auto add = [&](label_kind kind, memory_label label) {
      if (label != 0 && places_.try_emplace({kind, label}, places_.size() + 1).second)
        text_ += "," + json_text(label_text(kind, label));
    };
    const auto add_both = [&](const auto& row) { add(label_kind::tag, row.tag), add(label_kind::name, row.name); };
    for (const pool_blocks& p : s.pools)
      for (const block_info& b : p.blocks) add_both(b);
    for (const memory_event& e : s.history) add_both(e);
  }
  // Returns the indices of a row's tag and name.
  std::string of(memory_label tag, memory_label name) const {
    return concat(place(label_kind::tag, tag), ",", place(label_kind::name, name));
  }
  std::string json() const { return "[" + text_ + "]"; }

 private:
  std::size_t place(label_kind kind, memory_label label) const { return label == 0 ? 0 : places_.at({kind, label}); }
  std::map<std::pair<label_kind, memory_label>, std::size_t> places_;
  std::string text_ = "\"\"";
};

}  // namespace

memory_snapshot take_memory_snapshot() {
  memory_snapshot s;
  s.usage = memory_use();
  runtime::current().memory().pools().each([&](memory_source& m) {
    pool_blocks p{m.kind(), m.device(), {}};
    m.each_block([&](const block_info& b) { p.blocks.push_back(b); });
    if (!p.blocks.empty()) s.pools.push_back(std::move(p));
  });
  return s;
}

std::string memory_snapshot::json() const {
  const auto place = [](memory_kind kind, int device) {
    return concat("\"kind\":", json_text(kind_name(kind)), ",\"device\":", device);
  };
  const label_list labels(*this);
  std::string s = "{\"usage\":" + usage.json() + ",\n\"labels\":" + labels.json();
  s += ",\n\"block_columns\":[\"address\",\"bytes\",\"is_free\",\"starts_segment\",\"tag\",\"name\",\"is_retained\"],"
       "\n\"pools\":";
  s += list(pools, [&](const pool_blocks& p) {
    return "{" + place(p.kind, p.device) + ",\"blocks\":" +
           list(p.blocks,
                [&](const block_info& b) {
                  return concat("[", reinterpret_cast<std::uintptr_t>(b.begin), ",", b.bytes, ",",
                                b.is_free ? "1," : "0,", b.starts_segment ? "1," : "0,", labels.of(b.tag, b.name),
                                b.is_retained ? ",1]" : ",0]");
                }) +
           "}";
  });
  const std::size_t devices = usage.devices.size();
  std::string before;
  for (std::size_t i = 0; i < allocated_before.size(); ++i)
    before += concat(i ? "," : "", "{", place(static_cast<memory_kind>(i / devices), static_cast<int>(i % devices)),
                     ",\"allocated_bytes\":", allocated_before[i], ",\"reserved_bytes\":", reserved_before[i], "}");
  s += concat(",\n\"before\":[", before, "],\n\"forgotten_events\":", forgotten_events);
  s += ",\n\"event_columns\":[\"seconds\",\"action\",\"kind\",\"device\",\"address\",\"bytes\",\"tag\",\"name\"],"
       "\n\"history\":";
  s += list(history, [&](const memory_event& e) {
    return concat("[", fixed_text(e.seconds, 6), ",\"", action_name(e.what), "\",\"", kind_name(e.kind), "\",",
                  e.device, ",", e.address, ",", e.bytes, ",", labels.of(e.tag, e.name), "]");
  });
  return s + "}\n";
}

void save_memory_snapshot(const memory_snapshot& s, const std::string& file) {
  std::ofstream out(file, std::ios::binary);
  if (out) out << s.json() << std::flush;
  if (!out) throw error("cannot write the snapshot '" + file + "': " + std::strerror(errno));
}

memory_recording::memory_recording(std::size_t most_events)
    : begin_(steady_nanoseconds()),
      most_(std::max<std::size_t>(most_events, 1)) {
  runtime& m = runtime::current();
  runtime_ = m.serial();
  devices_ = m.devices().size();
  for (const memory_kind k : {memory_kind::device, memory_kind::unified, memory_kind::host})
    for (const device d : m.devices()) {
      allocated_before_.push_back(m.memory().arrays().bytes(k, d.index()));
      reserved_before_.push_back(m.memory().pools().reserved_bytes(k, d.index()));
    }
  m.memory().observers().add(*this);
}

memory_recording::~memory_recording() {
  runtime_registry::if_alive(runtime_, [&](runtime& m) { m.memory().observers().remove(*this); });
}

std::size_t memory_recording::cell(memory_kind kind, int device) const {
  return static_cast<std::size_t>(kind) * devices_ + static_cast<std::size_t>(device);
}

void memory_recording::add(memory_event e) noexcept {
  lock_guard lock(mutex_);
  e.seconds = static_cast<double>(steady_nanoseconds() - begin_) * 1e-9;
  if (events_.size() < most_) {
    try {
      events_.push_back(e);
    } catch (const std::bad_alloc&) {
      ++forgotten_;
    }
    return;
  }
  memory_event& old = events_[oldest_];
  std::size_t& allocated = allocated_before_[cell(old.kind, old.device)];
  std::size_t& reserved = reserved_before_[cell(old.kind, old.device)];
  switch (old.what) {
    case memory_event::action::allocate: allocated += old.bytes; break;
    case memory_event::action::free: allocated -= std::min(allocated, old.bytes); break;
    case memory_event::action::reserve: reserved += old.bytes; break;
    case memory_event::action::give_back: reserved -= std::min(reserved, old.bytes); break;
  }
  old = e;
  oldest_ = (oldest_ + 1) % most_;
  ++forgotten_;
}

void memory_recording::on_allocate(allocation& a) noexcept {
  const allocation_labels l = labels_of(a);
  add({0, memory_event::action::allocate, a.kind, a.device, l.tag, l.name, reinterpret_cast<std::uintptr_t>(a.begin),
       a.bytes});
}

void memory_recording::on_free(allocation& a) noexcept {
  const allocation_labels l = labels_of(a);
  add({0, memory_event::action::free, a.kind, a.device, l.tag, l.name, reinterpret_cast<std::uintptr_t>(a.begin),
       a.bytes});
}

void memory_recording::on_reserve(memory_kind kind, int device, const void* begin, std::size_t bytes) noexcept {
  add({0, memory_event::action::reserve, kind, static_cast<std::int16_t>(device), 0, 0,
       reinterpret_cast<std::uintptr_t>(begin), bytes});
}

void memory_recording::on_return(memory_kind kind, int device, const void* begin, std::size_t bytes) noexcept {
  add({0, memory_event::action::give_back, kind, static_cast<std::int16_t>(device), 0, 0,
       reinterpret_cast<std::uintptr_t>(begin), bytes});
}

memory_snapshot memory_recording::snapshot() const {
  memory_snapshot s = take_memory_snapshot();
  lock_guard lock(mutex_);
  s.forgotten_events = forgotten_;
  s.allocated_before = allocated_before_;
  s.reserved_before = reserved_before_;
  for (std::size_t i = 0; i < events_.size(); ++i) s.history.push_back(events_[(oldest_ + i) % events_.size()]);
  return s;
}

}  // namespace ferry::inline FERRY_ABI
