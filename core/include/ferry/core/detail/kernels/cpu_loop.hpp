// Loops over index spaces on the CPU: with checks of indices, and without, so that compilers vectorize them.
#pragma once
#include <concepts>
#include <cstddef>
#include <type_traits>

#include "ferry/core/assert.hpp"
#include "ferry/core/detail/kernels/loop_layout.hpp"
#include "ferry/core/detail/support/cpu_workers.hpp"
#include "ferry/core/detail/support/internal.hpp"
#include "ferry/core/error.hpp"
#include "ferry/core/members.hpp"

// Inlines all calls of a function before other optimizations: then compilers know the constants of without_checks()
// when they first see the loop. clang++ finds them at any time. g++ also vectorizes its loops at -O2, with comparisons
// at run time whether spans overlap. No pragma says that calls are independent: it would apply to the local arrays of a
// functor, too, which all calls of a loop share.
#if defined(__clang__)
#define FERRY_DETAIL_FLATTEN __attribute__((flatten))
#elif defined(__GNUC__)
#define FERRY_DETAIL_FLATTEN __attribute__((flatten, optimize("vect-cost-model=dynamic")))
#else
#define FERRY_DETAIL_FLATTEN
#endif

namespace ferry::inline FERRY_ABI::detail {

template <class P>
concept checked_span = requires(const P& p) {
  { p.unchecked() } -> std::same_as<P>;
  { p.label() } -> std::convertible_to<array_label>;
};
// Replaces the spans in a struct by the results of one(span).
template <class One>
struct each_span_of_struct {
  const One& one;
  template <class X>
  static constexpr bool is_leaf = checked_span<X>;
  template <class X>
  using rebound = X;
  template <class X>
  X operator()(const X& x, const member_path&) const {
    return one(x);
  }
};
template <class P, class One>
P with_spans(const P& p, const One& one) {
  if constexpr (checked_span<P>)
    return one(p);
  else if constexpr (lists_members<P>)
    return map_members(p, each_span_of_struct<One>{one}, member_path({}));
  else
    return p;
}

// The parameter for a loop without checks. Its spans have adjacent elements along their last axes.
template <class P>
P without_checks(const P& p) {
  return with_spans(p, [](const auto& span) {
    if constexpr (strided_parameter<std::remove_cvref_t<decltype(span)>>)
      return span.unchecked().with_unit_stride();
    else
      return span.unchecked();
  });
}
template <class P>
bool has_unit_strides(const P& p) {
  bool all = true;
  (void)with_spans(p, [&](const auto& span) {
    if constexpr (strided_parameter<std::remove_cvref_t<decltype(span)>>) all = all && span.has_unit_stride();
    return span;
  });
  return all;
}

// Spaces that divide lines into stretches have straight(i, j, k): a space that maps the indices i to straight_end(i) of
// line (j, k) to the same indices, by sums.
template <class Space>
concept space_of_stretches = requires(const Space& s) {
  s.straight_end(std::size_t());
};

inline namespace FERRY_UNIT {

// Calls line(space, i, n, j, k) for parts of lines that have the indices [begin, end), counted along x first: each has
// n indices from i on.
template <class Space, class Line>
void for_lines(const Space& space, std::size_t begin, std::size_t end, const Line& line) {
  if (begin == end) return;
  std::size_t i = begin % space.x, j = begin / space.x % space.y, k = begin / space.x / space.y;
  for (std::size_t left = end - begin, n; left != 0; left -= n) {
    n = at_most(left, space.x - i);
    if constexpr (space_of_stretches<Space>) {
      n = at_most(n, space.straight_end(i) - i);
      line(space.straight(i, j, k), i, n, j, k);
    } else {
      line(space, i, n, j, k);
    }
    if ((i += n) != space.x) continue;
    i = 0;
    if (++j == space.y) j = 0, ++k;
  }
}

// A functor that copies its indices. Not a lambda: nvcc warns if call() calls functions for the CPU alone.
struct index_copy {
  std::size_t* to;
  template <class... Index>
  FERRY_HOST_DEVICE void operator()(Index... index) const {
    std::size_t d = 0;
    ((to[d++] = index), ...);
  }
};
// Throws invalid_argument with the index of a call that failed; of tiles with the numbers of the tile.
template <class Space>
[[noreturn]] void rethrow_at(const Space& space, const char* why, std::size_t i, std::size_t j, std::size_t k) {
  if constexpr (is_over_tiles<Space>) {
    const std::size_t at[] = {j, i};
    failed_at(why, at, 2);
  } else {
    std::size_t at[Space::indices];
    space.call(index_copy{at}, i, j, k);
    failed_at(why, at, Space::indices);
  }
}

// Calls f at one index of a space. Errors are from checks and assertions, which lack the index of the call.
template <class Space, class F, class... P>
[[gnu::always_inline]] inline decltype(auto) call_at(const Space& space, std::size_t i, std::size_t j, std::size_t k,
                                                     const F& f, const P&... p) {
  try {
    return space.call(f, i, j, k, p...);
  } catch (const error& e) {
    rethrow_at(space, plain_what(e), i, j, k);
  }
}

// Runs the indices [begin, end).
template <class Space, class F, class... P>
void run_range(const Space& space, std::size_t begin, std::size_t end, const F& f, const P&... p) {
  for_lines(space, begin, end, [&](const Space& s, std::size_t i, std::size_t n, std::size_t j, std::size_t k) {
    for (const std::size_t stop = i + n; i != stop; ++i) call_at(s, i, j, k, f, p...);
  });
}

// The same without checks. The functor and the parameters are copied, so that compilers know that no store of a call
// changes them.
template <class Space, class F, class... P>
FERRY_DETAIL_FLATTEN void run_unchecked_range(const Space& space, std::size_t begin, std::size_t end, const F& functor,
                                              const P&... p) {
  const auto run = [&space, begin, end, f = functor](const auto&... q) {
    for_lines(space, begin, end, [&](const Space s, std::size_t i, std::size_t n, std::size_t j, std::size_t k) {
      if constexpr (is_over_tiles<Space>)
        for (const std::size_t stop = i + n; i != stop; ++i) call_at(s, i, j, k, f, q...);
      else
        for (std::ptrdiff_t at = 0, all = static_cast<std::ptrdiff_t>(n); at != all; ++at)
          call_at(s, i + static_cast<std::size_t>(at), j, k, f, q...);
    });
  };
  run(without_checks(p)...);
}

// True if a loop with these parameters runs without checks: on the CPU as a device, unless the program is compiled or
// started with checks. ChecksIndices: FERRY_CHECK_INDICES of the source, as a parameter because sources may differ.
template <bool ChecksIndices, class... P>
bool runs_unchecked(const P&... p) {
  const index_checks how = this_thread_state.indices;
  if (how == index_checks::never || (how == index_checks::by_source && !ChecksIndices))
    return (... && has_unit_strides(p));
  return false;
}

template <class Space, class F, class... P>
void run_on_cpu(const Space& space, const F& f, const P&... p) {
  constexpr std::size_t least = is_over_tiles<Space> ? 1 : 256;
  const std::size_t all = space.x * space.y * space.z;
  const bool unchecked = runs_unchecked<FERRY_CHECK_INDICES != 0>(p...);
  over_parts(all, least, [&](std::size_t begin, std::size_t end) {
    if (unchecked)
      run_unchecked_range(space, begin, end, f, p...);
    else
      run_range(space, begin, end, f, p...);
  });
}

}  // namespace FERRY_UNIT
}  // namespace ferry::inline FERRY_ABI::detail
