#include "staging.hpp"

#include "ferry/core/copy.hpp"
#include "ferry/core/detail/ordering/access_guard.hpp"
#include "ferry/core/detail/runtime/host_access.hpp"
#include "ferry/core/detail/runtime/submission.hpp"

namespace ferry::inline FERRY_ABI::detail::mpi {
namespace {

bool is_reachable(const collective_buffer& b) { return !b.owner || b.owner->kind != memory_kind::device; }

// Returns a buffer as an array of bytes.
array_view<std::byte, 1, memory_kind::device> bytes_of(const collective_buffer& b) {
  const extents<1> e{b.bytes};
  return {allocation_ref::another(*b.owner), b.data, e, row_major(e)};
}

}  // namespace

staging::staging(std::span<const collective_call> calls, std::span<const stream_ref> streams)
    : calls_(calls),
      streams_(streams) {
  for (const collective_call& c : calls) {
    const stream_ref s = streams[c.member];
    for (const auto& [buffer, write] : {std::pair(&c.from, false), {&c.to, true}}) {
      if (!buffer->owner) continue;
      access use{buffer->owner, buffer->range(), write};
      (void)detail::admit(s, {&use, 1}, reach::by_copy);  // the CPU does the work instead of the member
    }
    side& f = from_.emplace_back(side{c.from, {}, false});
    side& t = to_.emplace_back(side{c.to, {}, false});
    if (!is_reachable(c.from)) {
      f.pinned = host_array<std::byte, 1>(extents<1>{c.from.bytes}, s.where());
      const auto source = bytes_of(c.from);
      copy(s, source, f.pinned);
    }
    if (!is_reachable(c.to)) t.pinned = host_array<std::byte, 1>(extents<1>{c.to.bytes}, s.where());
  }
}

std::byte* staging::reach(side& s, bool write) {
  if (!s.buffer.owner) return s.buffer.data;
  if (s.pinned.empty()) {
    if (!s.ready)
      (void)wait_for_host_access(*s.buffer.owner, s.buffer.range(), write ? access_mode::inout : access_mode::in, {});
    s.ready = true;
    return s.buffer.data;
  }
  if (!s.ready) s.pinned.wait_for_host(write);
  s.ready = true;
  return s.pinned.unsynchronized_data();
}

const std::byte* staging::from(std::size_t i) { return reach(from_[i], false); }
std::byte* staging::to(std::size_t i) { return reach(to_[i], true); }

void staging::put_back() {
  for (std::size_t i = 0; i < calls_.size(); ++i) {
    if (to_[i].pinned.empty()) continue;
    auto target = bytes_of(calls_[i].to);
    copy(streams_[calls_[i].member], std::as_const(to_[i].pinned), target);
  }
}

}  // namespace ferry::inline FERRY_ABI::detail::mpi
