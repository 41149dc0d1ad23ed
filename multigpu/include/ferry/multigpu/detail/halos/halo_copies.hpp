// Which cells of a distributed array mirror which, in coordinates.
#pragma once
#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "ferry/core/detail/support/internal.hpp"
#include "ferry/multigpu/shard_layout.hpp"

namespace ferry::inline FERRY_ABI::detail {

// One copy in coordinates: `target` is a box of halo cells of member `to`. `source` contains the cells of member `from`
// that they mirror.
template <std::size_t Rank>
struct halo_copy {
  std::size_t from, to;
  box<Rank> source, target;
};

// Returns all copies, in the same order in every process.
template <std::size_t Rank>
std::vector<halo_copy<Rank>> halo_copies(const shard_layout<Rank>& l) {
  struct segment {
    std::ptrdiff_t begin, end, shift;
  };
  std::vector<halo_copy<Rank>> all;
  for (std::size_t to = 0; to < l.team().size(); ++to) {
    const box<Rank> own = l.own(to);
    if (own.empty()) continue;
    std::array<std::vector<segment>, Rank> along;
    for (std::size_t d = 0; d != Rank; ++d) {
      const auto n = static_cast<std::ptrdiff_t>(l.extents()[d]), w = static_cast<std::ptrdiff_t>(l.halo(d));
      along[d].push_back({own.begin[d], own.end[d], 0});
      for (const auto& [b, e] : {std::pair(own.begin[d] - w, own.begin[d]), std::pair(own.end[d], own.end[d] + w)})
        for (const std::ptrdiff_t shift : {std::ptrdiff_t{0}, n, -n}) {
          if (shift != 0 && !l.periodic(d)) continue;
          const segment s{std::max(b, -shift), std::min(e, n - shift), shift};
          if (s.begin < s.end) along[d].push_back(s);
        }
    }
    std::array<std::size_t, Rank> which{};
    for (;;) {
      std::size_t d = 0;  // the next combination; the first one is the shard itself, and no halo
      while (d != Rank && ++which[d] == along[d].size()) which[d++] = 0;
      if (d == Rank) break;
      box<Rank> target;
      std::array<std::ptrdiff_t, Rank> shift;
      for (std::size_t k = 0; k != Rank; ++k) {
        const segment& s = along[k][which[k]];
        target.begin[k] = s.begin, target.end[k] = s.end, shift[k] = s.shift;
      }
      std::array<std::ptrdiff_t, Rank> back = shift;
      for (auto& b : back) b = -b;
      for (std::size_t from = 0; from < l.team().size(); ++from) {
        const box<Rank> source = target.shifted(shift) & l.own(from);
        if (!source.empty()) all.push_back({from, to, source, source.shifted(back)});
      }
    }
  }
  return all;
}

}  // namespace ferry::inline FERRY_ABI::detail
