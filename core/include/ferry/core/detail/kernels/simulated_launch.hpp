// Launches of kernels on simulated devices: the CPU runs the whole grid.
#pragma once
#include <algorithm>
#include <array>
#include <span>
#include <utility>
#include <vector>

#include "ferry/core/arguments.hpp"
#include "ferry/core/detail/kernels/kernel_parameters.hpp"
#include "ferry/core/detail/kernels/kernel_uses.hpp"
#include "ferry/core/detail/kernels/loop_layout.hpp"
#include "ferry/core/detail/support/cpu_workers.hpp"
#include "ferry/core/detail/support/internal.hpp"
#include "ferry/core/detail/support/type_name.hpp"

namespace ferry::inline FERRY_ABI::detail {

// The bytes that a kernel accesses: at most Most ranges.
template <std::size_t Most>
class kernel_use_list {
 public:
  void add(const kernel_use& u) { uses_[count_++] = u; }
  std::span<const kernel_use> get() const { return {uses_.data(), count_}; }

 private:
  std::array<kernel_use, Most> uses_;
  std::size_t count_ = 0;
};

// For an argument: the greatest number of ranges, and the ranges. Types of arguments in other modules have their own.
template <class A>
inline constexpr std::size_t most_kernel_uses = most_arrays<A>;
template <class A>
void add_kernel_use(auto& uses, const A& a) {
  each_array(a, [&](const auto& x) {
    if (x.bytes.begin != x.bytes.end) {  // a write to a strided view preserves the bytes between its elements
      const bool reads = x.mode != access_mode::out || !x.contiguous;
      uses.add({x.bytes.begin, x.bytes.size(), reads, x.mode != access_mode::in, x.span.label(), x.at});
    }
  });
}

// The checks of a run besides those of kernel_uses.hpp: none. A class in its place is made from the arguments; its call
// operator calls run() once, and throws if the run was wrong.
struct unwatched_run {
  template <class... A>
  explicit unwatched_run(const A&...) {}
  template <class Run>
  void operator()(const relocation&, Run run) const {
    run();
  }
};

inline namespace FERRY_UNIT {

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

// Runs the indices [begin, end) of the space, counted along x first.
template <class Space, class F, class... P>
void run_range(const Space& space, std::size_t begin, std::size_t end, const F& f, const P&... p) {
  if (begin == end) return;
  std::size_t i = begin % space.x, j = begin / space.x % space.y, k = begin / space.x / space.y;
  try {
    for (std::size_t left = end - begin; left != 0; i = 0) {
      const std::size_t stop = i + at_most(left, space.x - i);
      left -= stop - i;
      for (; i < stop; ++i) space.call(f, i, j, k, p...);
      if (++j == space.y) j = 0, ++k;
    }
  } catch (const error& e) {  // from a check, which lacks the index of the call
    rethrow_at(space, plain_what(e), i, j, k);
  }
}

template <class Space, class F, class... P>
void run_on_cpu(const Space& space, const F& f, const P&... p) {
  constexpr std::size_t least = is_over_tiles<Space> ? 1 : 256;
  over_parts(space.x * space.y * space.z, least,
             [&](std::size_t begin, std::size_t end) { run_range(space, begin, end, f, p...); });
}

// Returns the value `sum`, combined with the results of all indices. With workers, the order does not depend on their
// number.
template <class T, class Space, class F, class Op, class... P>
T reduce_on_cpu(const Space& space, const F& f, const Op& op, T sum, const P&... p) {
  const std::size_t all = space.x * space.y * space.z;
  const auto reduce = [&](std::size_t begin, std::size_t end, T& to) {
    const auto add = [&](const auto&... ip) { to = op(to, static_cast<T>(f(ip...))); };
    run_range(space, begin, end, add, p...);
  };
  constexpr std::size_t least = is_over_tiles<Space> ? 1 : 1024, most = 64;
  cpu_workers* const workers = workers_of_this_thread();
  const std::size_t parts = workers ? std::min(all / least, most) : 1;
  if (parts < 2) {
    reduce(0, all, sum);
    return sum;
  }
  struct partial {
    T value;
  };
  std::vector<partial> partials(parts, partial{Op::template identity<T>()});
  workers->run(parts, [&](std::size_t n) {
    T value = partials[n].value;
    reduce(part_begin(all, n, parts), part_begin(all, n + 1, parts), value);
    partials[n].value = value;
  });
  for (const partial& part : partials) sum = op(sum, part.value);
  return sum;
}

// Submits one kernel to a simulated device: `body(parameters...)` runs the whole grid. Throws for invalid arguments
// before the submission begins.
template <class Watch, class F, std::size_t First, class Give, class Body, class... A>
void launch_simulated(Give& enqueue, Body body, const A&... a) {
  kernel_use_list<(most_kernel_uses<A> + ... + 0)> uses;
  (add_kernel_use(uses, a), ...);
  const Watch watch(a...);
  with_parameters<F, First>(
      std::index_sequence_for<A...>(),
      [&](const auto&... p) {
        enqueue([&](native_stream s) {
          runtime::current().backend().launch(s,
                                              {type_name<F>(), uses.get(),
                                               [body, watch, declared = watch_of(a...), p...](const relocation& move) {
                                                 watch(move, [&] {
                                                   watched_run run(declared.get(), move);
                                                   body(relocated<A>(move, p)...);
                                                   run.finish();
                                                 });
                                               },
                                               enqueue.has_pointers()});
        });
      },
      a...);
}

}  // namespace FERRY_UNIT
}  // namespace ferry::inline FERRY_ABI::detail
