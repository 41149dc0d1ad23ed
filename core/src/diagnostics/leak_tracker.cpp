#include "diagnostics/leak_tracker.hpp"

#include <algorithm>
#include <cstdio>
#include <new>

#include "ferry/core/array_view.hpp"
#include "ferry/core/detail/accounting/memory_accounting.hpp"
#include "ferry/core/detail/support/concat.hpp"
#include "ferry/core/detail/support/plain_text.hpp"
#include "support/call_stack.hpp"

namespace ferry::inline FERRY_ABI::detail {
namespace {

std::string last_user_of(allocation& a) {
  std::lock_guard lock(a.history);
  if (a.history.uses().empty()) return {};
  const timeline& t = *a.history.uses().back().by;
  return concat("stream ", t.id(), " of device ", t.device());
}

std::string seconds_text(double s) { return fixed_text(s, 3) + " s"; }

// The allocations that one line of the report summarizes.
struct group {
  const outstanding_allocation* like = nullptr;
  std::size_t bytes = 0, count = 0;
  double oldest = 0;
};

}  // namespace

// If the CPU has no memory for it, the allocation is not recorded.
void leak_tracker::on_allocate(allocation& a) noexcept {
  try {
    const record r{clock::now(), stacks_ ? this_stack() : 0};
    shard& s = of(a);
    lock_guard lock(s.mutex);
    s.alive[&a] = r;
  } catch (const std::bad_alloc&) {
  }
}

void leak_tracker::on_free(allocation& a) noexcept {
  shard& s = of(a);
  lock_guard lock(s.mutex);
  s.alive.erase(&a);
}

// Returns the number of the calling thread's stack. Equal stacks are stored once.
std::uint32_t leak_tracker::this_stack() {
  constexpr std::size_t own_frames = 2;
  std::array<const void*, most_frames> frames;
  const std::size_t n = stack::capture(frames.data(), frames.size(), own_frames);
  const std::vector<const void*> key(frames.begin(), frames.begin() + static_cast<std::ptrdiff_t>(n));
  lock_guard lock(stacks_mutex_);
  const auto [at, is_new] = numbers_.try_emplace(key, static_cast<std::uint32_t>(known_.size() + 1));
  if (is_new) known_.push_back(&at->first);
  return at->second;
}

void leak_tracker::forget() {
  for (shard& s : shards_) {
    lock_guard lock(s.mutex);
    s.alive.clear();
  }
}

std::vector<outstanding_allocation> leak_tracker::outstanding() const {
  std::vector<outstanding_allocation> all;
  const auto now = clock::now();
  for (const shard& s : shards_) {
    lock_guard lock(s.mutex);
    for (const auto& [a, r] : s.alive) {
      const allocation_labels labels = labels_of(*a);
      all.push_back({a->bytes,
                     a->kind,
                     a->device,
                     label_text(label_kind::tag, labels.tag),
                     label_text(label_kind::name, labels.name),
                     std::chrono::duration<double>(now - r.since).count(),
                     last_user_of(*a),
                     {}});
      lock_guard stacks(stacks_mutex_);
      if (r.stack != 0) all.back().stack = *known_[r.stack - 1];
    }
  }
  std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.age_seconds > b.age_seconds; });
  return all;
}

std::string leak_tracker::report() const {
  const std::vector<outstanding_allocation> all = outstanding();
  if (all.empty()) return {};
  using key = std::tuple<std::vector<const void*>, memory_kind, int, std::string, std::string>;
  std::map<key, group> groups;
  std::size_t bytes = 0;
  for (const outstanding_allocation& o : all) {
    group& g = groups[{o.stack, o.kind, o.device, o.tag, o.name}];
    if (!g.like) g.like = &o, g.oldest = o.age_seconds;
    g.bytes += o.bytes, ++g.count;
    bytes += o.bytes;
  }
  std::vector<group> sorted;
  for (const auto& [k, g] : groups) sorted.push_back(g);
  std::stable_sort(sorted.begin(), sorted.end(), [](const group& a, const group& b) { return a.bytes > b.bytes; });
  const auto arrays = [](std::size_t n) { return concat(n, n == 1 ? " allocation" : " allocations"); };
  std::string s = "ferry: " + arrays(all.size()) + " with " + bytes_text(bytes) + " left\n";
  for (const group& g : sorted) {
    const outstanding_allocation& o = *g.like;
    s += concat("  ", arrays(g.count), " with ", bytes_text(g.bytes), " of ", kind_name(o.kind), " memory on device ",
                o.device);
    if (!o.tag.empty()) s += ", tag '" + o.tag + "'";
    if (!o.name.empty()) s += ", name '" + o.name + "'";
    s += ", the oldest " + seconds_text(g.oldest) + " old";
    if (!o.last_stream.empty()) s += ", last used by " + o.last_stream;
    s += "\n";
    for (const void* frame : o.stack) s += "    " + stack::describe(frame) + "\n";
  }
  if (stacks_ && !stack::is_available()) s += "  no stacks: this build has no Boost.Stacktrace\n";
  return s;
}

}  // namespace ferry::inline FERRY_ABI::detail
