#include "ferry/core/detail/kernels/staged_launch.hpp"

#include <algorithm>
#include <optional>

#include "copies/copy_operation.hpp"
#include "ferry/core/array.hpp"
#include "ferry/core/runtime.hpp"

namespace ferry::inline FERRY_ABI::detail {

// A staging copy of bytes of one allocation. Overlapping uses share it, so that the kernel's arguments alias as the
// arrays do.
struct staged_launch::staging_copy {
  allocation* of;
  byte_range bytes;
  bool write;
  basic_array<std::byte, 1, memory_kind::device> held = {};
  std::optional<contiguous_copy> in = {}, back = {};
  std::optional<host_array<std::byte>> between = {};  // inside a capture

  byte_range mine() const { return {held.bytes().end - bytes.size(), held.bytes().end}; }
};

struct staged_launch::lanes : lane_set {
  using lane_set::lane_set;
};

staged_launch::staged_launch(stream_ref s, std::span<const access> uses)
    : ordered_launch(s),
      uses_(uses.begin(), uses.end()) {
  refuse_inside_submission("submit");
  runtime& m = runtime::current();
  const int here = s.timeline().device();
  copy_engine& engine = m.copies();
  lanes_ = make_owning<lanes>(engine.lanes(), here);
  std::vector<access> far;
  std::copy_if(uses.begin(), uses.end(), std::back_inserter(far),
               [&](const access& a) { return is_out_of_reach(here, a); });
  std::sort(far.begin(), far.end(),
            [](const access& a, const access& b) { return std::less<>{}(a.where.begin, b.where.begin); });
  for (const access& a : far) {
    staging_copy* last = copies_.empty() ? nullptr : copies_.back().get();
    if (last && last->of == a.what && a.where.begin < last->bytes.end) {
      last->bytes.end = std::max(last->bytes.end, a.where.end);
      last->write |= a.write;
    } else {
      copies_.push_back(make_owning<staging_copy>(staging_copy{a.what, a.where, a.write}));
    }
  }
  for (auto& one : copies_) {
    staging_copy& x = *one;
    const std::size_t n = x.bytes.size();
    // Same offset within a cache line as the original, for vectorized loads.
    const std::size_t shift = reinterpret_cast<std::uintptr_t>(x.bytes.begin) % 256;
    x.held = basic_array<std::byte, 1, memory_kind::device>(extents<1>{n + shift}, s.where());
    uses_.push_back({&x.held.owner().get(), x.held.bytes(), true});
    auto* const there = const_cast<std::byte*>(x.bytes.begin);
    std::byte* const mine = x.held.unsynchronized_data() + shift;
    pieces_.push_back({x.bytes.begin, n, mine});
    if (this_thread_state.capture) {
      x.between.emplace(extents<1>{n}, device(x.of->device));
      continue;
    }
    const copy_end far_end = end_of(*x.of), near_end = end_of(x.held.owner().get());
    x.in.emplace(engine, *lanes_, engine.choose(far_end, near_end, n), copy_address{mine, here},
                 copy_address{there, x.of->device}, n, here, here);
    if (x.write)
      x.back.emplace(engine, *lanes_, engine.choose(near_end, far_end, n), copy_address{there, x.of->device},
                     copy_address{mine, here}, n, here, here);
  }
}

staged_launch::~staged_launch() = default;

void direct_launch::run(submission submit) {
  submit_ordered(stream_, uses_.get(), how_, [&](native_stream n) {
    enqueue_poison(n);
    submit(n);
  });
}

void staged_launch::add(const allocation_ref& owner, byte_range where, bool write) {
  if (where.begin != where.end) uses_.push_back({&owner.get(), where, write});
}

const allocation_ref* staged_launch::owner_of(byte_range where) const {
  for (const auto& x : copies_)
    if (where.begin != where.end && x->bytes.covers(where)) return &x->held.owner();
  return nullptr;
}

void staged_launch::run(submission submit) {
  if (this_thread_state.capture) return run_captured(submit);
  submit_ordered(stream_, uses_, reach::by_library, [&](native_stream n) {
    lanes_->each_device([&](int d) { takes_part(stream_.timeline(), d); });
    for (auto& x : copies_) x->in->enqueue(n);
    enqueue_poison(n, relocation(pieces_));
    submit(n);
    for (auto& x : copies_)
      if (x->back) x->back->enqueue(n);
  });
}

// A capture has one thread, and orders these submissions by their accesses.
void staged_launch::run_captured(submission submit) {
  for (auto& x : copies_)
    stage_in_capture(*x->between, {&x->held.owner().get(), x->mine(), true}, {x->of, x->bytes, false});
  submit_ordered(stream_, uses_, reach::by_library, [&](native_stream n) {
    enqueue_poison(n, relocation(pieces_));
    submit(n);
  });
  for (auto& x : copies_)
    if (x->write) stage_in_capture(*x->between, {x->of, x->bytes, true}, {&x->held.owner().get(), x->mine(), false});
}

}  // namespace ferry::inline FERRY_ABI::detail
