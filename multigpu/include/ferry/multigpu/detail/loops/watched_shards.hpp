// The cells of shards that are watched while a simulated kernel runs.
#pragma once
#include <vector>

#include "ferry/core/detail/support/internal.hpp"
#include "ferry/multigpu/detail/loops/cell_watch.hpp"
#include "ferry/multigpu/detail/loops/shard_arguments.hpp"

namespace ferry::inline FERRY_ABI::detail {

template <class A>
void add_watched(std::vector<watched_cells>&, const A&) {}
template <class T, std::size_t Rank>
void add_watched(std::vector<watched_cells>& all, const shard_argument<T, Rank>& a) {
  box<Rank> rest;
  for (std::size_t d = 0; d != Rank; ++d)
    rest.begin[d] = a.span.begin(d), rest.end[d] = a.span.begin(d) + static_cast<std::ptrdiff_t>(a.span.length(d));
  const box<Rank> seen = rest, bounding_box = a.region.bounding_box;
  const auto add = [&](const box<Rank>& b, bool stale, bool declared = true) {
    if (b.empty()) return;
    watched_cells w;
    w.shape = shape_of<T>(b.extents());
    std::ptrdiff_t offset = 0;
    for (std::size_t d = 0; d != Rank; ++d) {
      offset += (b.begin[d] - seen.begin[d]) * a.span.stride(d);
      w.stride_bytes[d] = a.span.stride(d) * static_cast<std::ptrdiff_t>(sizeof(T)), w.first[d] = b.begin[d];
    }
    w.data = reinterpret_cast<std::byte*>(const_cast<std::remove_const_t<T>*>(a.span.data() + offset));
    w.stale = stale, w.is_declared = declared, w.array = *a.name, w.region = a.region.text();
    all.push_back(std::move(w));
  };
  if (a.stale)
    for (const auto& p : a.stale->parts)
      if (p.member == a.member) add(p.cells & seen, true);
  if (a.mode == access_mode::in) return;
  for (std::size_t d = 0; d != Rank; ++d) {
    add(rest.with(d, rest.begin[d], bounding_box.begin[d]), false);
    add(rest.with(d, bounding_box.end[d], rest.end[d]), false);
    rest = rest.with(d, bounding_box.begin[d], bounding_box.end[d]);
  }
  if (!a.region.has_gap()) return;
  // In the gap, the kernel declares to read the cells within the halo width of its slabs. Other kernels may write the
  // rest meanwhile.
  const std::size_t across = a.region.gap_axis;
  const std::ptrdiff_t begin = a.region.gap_begin, end = a.region.gap_end, reach = a.reach.width[across];
  const std::ptrdiff_t low = std::min(begin + reach, end), high = std::max(end - reach, low);
  add(bounding_box.with(across, begin, low), false);
  add(bounding_box.with(across, high, end), false);
  add(bounding_box.with(across, low, high), false, false);
}

// The checks of a run that launch_simulated takes.
class watched_shards {
 public:
  template <class... A>
  explicit watched_shards(const A&... a) {
    (each_shard(a, [&](const auto& x) { add_watched(cells_, x); }), ...);
  }
  class run {
   public:
    run(const watched_shards& w, const relocation& move) : cells_(w.cells_, move) {}
    void finish() { cells_.check(); }

   private:
    cell_watch cells_;
  };

 private:
  std::vector<watched_cells> cells_;
};

}  // namespace ferry::inline FERRY_ABI::detail
