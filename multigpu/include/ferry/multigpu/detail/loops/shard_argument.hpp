// A sharded array as an argument of one kernel of one member: its cells, and the parameters of functors that take it.
#pragma once
#include <array>
#include <cstddef>
#include <string>
#include <type_traits>

#include "ferry/core/arguments.hpp"
#include "ferry/core/detail/kernels/call_checks.hpp"
#include "ferry/core/detail/kernels/kernel_parameters.hpp"
#include "ferry/core/detail/support/internal.hpp"
#include "ferry/multigpu/shard_region.hpp"
#include "ferry/multigpu/shard_span.hpp"
#include "ferry/multigpu/sharded_argument.hpp"

namespace ferry::inline FERRY_ABI::detail {

// Which cells around those of a region a kernel may access: along axes of distribution those within the width of the
// halo, along other axes all that the member has.
template <std::size_t Rank>
struct shard_reach {
  std::array<std::ptrdiff_t, Rank> width{};
  std::array<bool, Rank> is_whole{};

  shard_reach() = default;
  explicit shard_reach(const shard_layout<Rank>& l) {
    for (std::size_t d = 0; d != Rank; ++d)
      is_whole[d] = !l.is_cut(d), width[d] = is_whole[d] ? 0 : static_cast<std::ptrdiff_t>(l.halo(d));
  }
  // Returns the cells b and those within the widths around them.
  box<Rank> near(box<Rank> b) const {
    for (std::size_t d = 0; d != Rank; ++d) b.begin[d] -= width[d], b.end[d] += width[d];
    return b;
  }
  // Returns the cells within `seen` that may be accessed for the cells b.
  box<Rank> around(const box<Rank>& b, const box<Rank>& seen) const {
    box<Rank> all = near(b);
    for (std::size_t d = 0; d != Rank; ++d)
      if (is_whole[d]) all.begin[d] = seen.begin[d], all.end[d] = seen.end[d];
    return all & seen;
  }
};

// A sharded array as an argument of one kernel of one member.
template <class T, std::size_t Rank>
struct shard_argument {
  const allocation_ref* owner;
  shard_span<T, Rank> span;
  byte_range bounding_range;  // of all that the span reaches
  std::array<byte_range, 2> reads, writes;
  access_mode mode;
  bool contiguous;  // true: the written cells are contiguous
  shard_part<Rank> region{};
  std::size_t member = 0;
  shard_reach<Rank> reach{};
  const std::string* name = nullptr;
  const stale_halos<Rank>* stale = nullptr;  // lives as long as the call
};

template <class T, std::size_t Rank>
inline constexpr bool is_array_argument<shard_argument<T, Rank>> = true;
template <class T, std::size_t Rank>
inline constexpr bool only_reads<shard_span<T, Rank>> = std::is_const_v<T>;

template <class X>
struct shard_span_traits {
  static constexpr bool is = false;
};
template <class T, std::size_t R>
struct shard_span_traits<shard_span<T, R>> {
  static constexpr bool is = true;
  static constexpr std::size_t rank = R;
  static constexpr bool writes = !std::is_const_v<T>;
};
template <class T, std::size_t Rank>
struct parameter<void, shard_argument<T, Rank>> {
  using type = shard_span<T, Rank>;
  static constexpr call_fault fault = call_fault::none;
};
template <class P, class T, std::size_t Rank>
struct parameter<P, shard_argument<T, Rank>> {
  using declared = std::remove_cvref_t<P>;
  using span = shard_span_traits<declared>;
  static constexpr bool fits = [] {
    if constexpr (span::is) return span::rank == Rank;
    return true;
  }();
  static constexpr bool writes = [] {
    if constexpr (span::is) return span::writes && std::is_const_v<T>;
    return false;
  }();
  static constexpr call_fault fault = !span::is ? call_fault::no_shard_span
                                      : !fits   ? call_fault::other_rank
                                      : writes  ? call_fault::read_only
                                                : call_fault::none;
  using type = declared;
};

}  // namespace ferry::inline FERRY_ABI::detail
