#include <algorithm>

#include "ferry/core/error.hpp"
#include "ferry/core/machine.hpp"
#include "ferry/core/memory_status.hpp"

namespace ferry {
namespace {

struct free_bytes {
  std::size_t in_whole_segments = 0;  // which go back to the driver when it has no more
  std::size_t largest = 0;            // free neighbours together, where the pool joins them
};

free_bytes free_bytes_of(const memory_source& s) {
  free_bytes f;
  std::size_t segment = 0, run = 0;
  bool is_whole = false;
  const bool joins = s.joins_blocks();
  const auto end = [&] {
    if (is_whole) f.in_whole_segments += segment;
    segment = run = 0;
  };
  s.each_block([&](const block_info& b) {
    if (b.starts_segment) {
      end();
      is_whole = true;
    }
    is_whole = is_whole && b.is_free;
    segment += b.bytes;
    run = b.is_free ? (joins ? run : 0) + b.bytes : 0;
    f.largest = std::max(f.largest, run);
  });
  end();
  return f;
}

std::size_t without(std::size_t a, std::size_t b) { return a > b ? a - b : 0; }

std::size_t sum_of(std::size_t a, std::size_t b) { return a > SIZE_MAX - b ? SIZE_MAX : a + b; }

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
      r.from_driver =
          sum_of(r.from_driver, without(m.properties(d).memory_bytes, ledger.used_bytes({scope_.on, {}, {}})));
  }
  ledger.each_source([&](memory_source& s) {
    if (s.kind() != *scope_.kind || s.device() != d) return;
    const source_state now = s.state();
    r.cached += without(now.reserved_bytes, now.allocated_bytes);
    const free_bytes f = free_bytes_of(s);
    r.largest_block = std::max({r.largest_block, f.largest, now.largest_free_bytes});
    r.trimmable += f.in_whole_segments;
  });
  const memory_label tag = scope_.tag.empty() ? this_thread_tag : intern_label(scope_.tag);
  const auto rules = ledger.limits().all();
  for (const limit_rule& rule : *rules) {
    if (rule.hard == limit_rule::none || !rule.scope.covers(*scope_.kind, d)) continue;
    if (rule.tag == 0)
      r.by_limits = std::min(r.by_limits, without(rule.hard, ledger.used_bytes(rule.scope)));
    else if (rule.tag == tag)
      r.by_tags = std::min(r.by_tags, without(rule.hard, ledger.used_bytes(rule.scope)));
  }
  return r;
}

std::size_t memory_budget::available_bytes() const {
  const room r = look();
  return std::min(sum_of(std::min(r.from_driver, r.by_limits), r.cached), r.by_tags);
}

bool memory_budget::would_fit(std::size_t bytes) const {
  const room r = look();
  return bytes <= r.by_tags &&
         (bytes <= r.largest_block || bytes <= sum_of(std::min(r.from_driver, r.by_limits), r.trimmable));
}

}  // namespace ferry
