#include <algorithm>

#include "ferry/core/error.hpp"
#include "ferry/core/machine.hpp"
#include "ferry/core/memory_status.hpp"

namespace ferry {
namespace {

// Segments that are free as a whole go back to the driver when it has no more.
std::size_t trimmable_bytes(const memory_source& s) {
  std::size_t bytes = 0, segment = 0;
  bool is_whole = false;
  const auto end = [&] {
    if (is_whole) bytes += segment;
    segment = 0;
  };
  s.each_block([&](const block_info& b) {
    if (b.starts_segment) {
      end();
      is_whole = true;
    }
    is_whole = is_whole && b.is_free;
    segment += b.bytes;
  });
  end();
  return bytes;
}

std::size_t minus(std::size_t a, std::size_t b) { return a > b ? a - b : 0; }

std::size_t plus(std::size_t a, std::size_t b) { return a > SIZE_MAX - b ? SIZE_MAX : a + b; }

}  // namespace

memory_budget::memory_budget(memory_scope scope) : scope_(std::move(scope)) {
  if (!scope_.on) throw invalid_argument("a memory budget without a device: name one with .on");
  (void)machine::current().properties(scope_.on->index());
  if (!scope_.kind) scope_.kind = memory_kind::device;
}

memory_budget::room memory_budget::look() const {
  machine& m = machine::current();
  const memory_ledger& ledger = m.memory();
  const int d = scope_.on->index();
  room r;
  r.by_limits = r.by_tags = SIZE_MAX;
  if (*scope_.kind == memory_kind::device) {
    r.from_driver = m.verbs().memory(d).free_bytes;
  } else {  // the system's RAM; of unified memory, what the devices have no room for
    r.from_driver = ledger.room_in_system();
    if (*scope_.kind == memory_kind::unified)
      r.from_driver = plus(r.from_driver, minus(m.properties(d).memory_bytes, ledger.used_bytes({scope_.on, {}, {}})));
  }
  ledger.each_source([&](memory_source& s) {
    if (s.kind() != *scope_.kind || s.device() != d) return;
    const source_state now = s.state();
    r.cached += minus(now.reserved_bytes, now.allocated_bytes);
    r.largest_block = std::max(r.largest_block, now.largest_free_bytes);
    r.trimmable += trimmable_bytes(s);
  });
  const memory_label tag = scope_.tag.empty() ? this_thread_tag : intern_label(scope_.tag);
  const auto rules = ledger.limits().all();
  for (const limit_rule& rule : *rules) {
    if (rule.hard == limit_rule::none || !rule.scope.covers(*scope_.kind, d)) continue;
    if (rule.tag == 0)
      r.by_limits = std::min(r.by_limits, minus(rule.hard, ledger.used_bytes(rule.scope)));
    else if (rule.tag == tag)
      r.by_tags = std::min(r.by_tags, minus(rule.hard, ledger.used_bytes(rule.scope)));
  }
  return r;
}

std::size_t memory_budget::available_bytes() const {
  const room r = look();
  return std::min(plus(std::min(r.from_driver, r.by_limits), r.cached), r.by_tags);
}

bool memory_budget::would_fit(std::size_t bytes) const {
  const room r = look();
  return bytes <= r.by_tags &&
         (bytes <= r.largest_block || bytes <= plus(std::min(r.from_driver, r.by_limits), r.trimmable));
}

}  // namespace ferry
