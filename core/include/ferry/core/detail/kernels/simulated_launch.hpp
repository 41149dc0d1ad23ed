// Launches of kernels on simulated devices: the CPU runs the whole grid.
#pragma once
#include <array>
#include <span>
#include <utility>

#include "ferry/core/arguments.hpp"
#include "ferry/core/detail/kernels/cpu_loop.hpp"
#include "ferry/core/detail/kernels/kernel_parameters.hpp"
#include "ferry/core/detail/kernels/kernel_uses.hpp"
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
