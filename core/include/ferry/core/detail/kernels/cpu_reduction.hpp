// Reductions over index spaces on the CPU.
#pragma once
#include <algorithm>
#include <cstddef>
#include <type_traits>
#include <utility>
#include <vector>

#include "ferry/core/detail/kernels/cpu_loop.hpp"
#include "ferry/core/detail/support/cpu_workers.hpp"
#include "ferry/core/detail/support/internal.hpp"

namespace ferry::inline FERRY_ABI::detail {
inline namespace FERRY_UNIT {

// The sum of a part of a space, in as many lanes as compilers need to vectorize it: the nth index of a line goes to
// lane n modulo their number. Types that are no numbers have one lane.
template <class T, class Op>
class reduction_lanes {
 public:
  static constexpr std::size_t lanes = std::is_arithmetic_v<T> ? 32 : 1;
  explicit reduction_lanes(const Op& op) : reduction_lanes(op, std::make_index_sequence<lanes>()) {}
  template <class Value>
  void add(std::size_t n, const Value& value) {
    std::size_t i = 0;
    for (; n - i >= lanes; i += lanes)
      for (std::size_t k = 0; k != lanes; ++k) lane_[k] = op_(lane_[k], static_cast<T>(value(i + k)));
    for (std::size_t k = 0; i != n; ++i, ++k) lane_[k] = op_(lane_[k], static_cast<T>(value(i)));
  }
  T sum() const {
    T all = lane_[0];
    for (std::size_t k = 1; k != lanes; ++k) all = op_(all, lane_[k]);
    return all;
  }

 private:
  template <std::size_t... K>
  reduction_lanes(const Op& op, std::index_sequence<K...>)
      : op_(op),
        lane_{(static_cast<void>(K), Op::template identity<T>())...} {}

  Op op_;
  T lane_[lanes];
};

template <class T, class Space, class F, class Op, class... P>
T reduce_range(const Space& space, std::size_t begin, std::size_t end, const F& f, const Op& op, const P&... p) {
  reduction_lanes<T, Op> to(op);
  for_lines(space, begin, end, [&](const Space& s, std::size_t i, std::size_t n, std::size_t j, std::size_t k) {
    to.add(n, [&](std::size_t at) -> decltype(auto) { return call_at(s, i + at, j, k, f, p...); });
  });
  return to.sum();
}
template <class T, class Space, class F, class Op, class... P>
FERRY_DETAIL_FLATTEN T reduce_unchecked_range(const Space& space, std::size_t begin, std::size_t end, const F& functor,
                                              const Op& op, const P&... p) {
  const auto run = [&space, &op, begin, end, f = functor](const auto&... q) {
    return reduce_range<T>(space, begin, end, f, op, q...);
  };
  return run(without_checks(p)...);
}

// Returns the value `sum`, combined with the results of all indices. On the CPU as a device, and with workers, the
// order depends only on the space. Otherwise it is the order of the indices.
template <class T, class Space, class F, class Op, class... P>
T reduce_on_cpu(const Space& space, const F& f, const Op& op, T sum, const P&... p) {
  const std::size_t all = space.x * space.y * space.z;
  cpu_workers* const workers = workers_of_this_thread();
  if (!workers && this_thread_state.indices == index_checks::simulated) {
    for_lines(space, 0, all, [&](const Space& s, std::size_t i, std::size_t n, std::size_t j, std::size_t k) {
      for (const std::size_t stop = i + n; i != stop; ++i) sum = op(sum, static_cast<T>(call_at(s, i, j, k, f, p...)));
    });
    return sum;
  }
  constexpr std::size_t least = is_over_tiles<Space> ? 1 : 1024, most = 64;
  const std::size_t parts = std::clamp(all / least, std::size_t{1}, most);
  struct partial {
    T value;
  };
  std::vector<partial> partials(parts, partial{Op::template identity<T>()});
  const bool unchecked = runs_unchecked<FERRY_CHECK_INDICES != 0>(p...);
  const auto reduce = [&](std::size_t n) {
    const std::size_t begin = part_begin(all, n, parts), end = part_begin(all, n + 1, parts);
    partials[n].value = unchecked ? reduce_unchecked_range<T>(space, begin, end, f, op, p...)
                                  : reduce_range<T>(space, begin, end, f, op, p...);
  };
  if (workers && parts != 1)
    workers->run(parts, reduce);
  else
    for (std::size_t n = 0; n != parts; ++n) reduce(n);
  for (const partial& part : partials) sum = op(sum, part.value);
  return sum;
}

}  // namespace FERRY_UNIT
}  // namespace ferry::inline FERRY_ABI::detail
