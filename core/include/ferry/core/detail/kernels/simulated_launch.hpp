// Launches of kernels on simulated devices: the CPU runs the whole grid.
#pragma once
#include <span>
#include <utility>

#include "ferry/core/arguments.hpp"
#include "ferry/core/detail/kernels/cpu_loop.hpp"
#include "ferry/core/detail/kernels/kernel_parameters.hpp"
#include "ferry/core/detail/kernels/kernel_uses.hpp"
#include "ferry/core/detail/kernels/staged_launch.hpp"
#include "ferry/core/detail/support/internal.hpp"
#include "ferry/core/detail/support/type_name.hpp"

namespace ferry::inline FERRY_ABI::detail {

// The bytes that a kernel accesses; kernel_use_list has the memory.
class kernel_use_collector {
 public:
  kernel_use_collector(const kernel_use_collector&) = delete;
  kernel_use_collector& operator=(const kernel_use_collector&) = delete;
  void add(const kernel_use& u) { begin_[count_++] = u; }
  std::span<const kernel_use> get() const { return {begin_, count_}; }

 protected:
  explicit kernel_use_collector(kernel_use* begin) : begin_(begin) {}
  ~kernel_use_collector() = default;

 private:
  kernel_use* const begin_;
  std::size_t count_ = 0;
};
// At most Most ranges.
template <std::size_t Most>
class kernel_use_list : public kernel_use_collector {
 public:
  kernel_use_list() : kernel_use_collector(uses_) {}

 private:
  kernel_use uses_[Most == 0 ? 1 : Most];
};

// For an argument: the greatest number of ranges, and the ranges. Types of arguments in other modules have their own.
template <class A>
inline constexpr std::size_t most_kernel_uses = most_arrays<A>;
template <class A>
void add_kernel_use(kernel_use_collector& uses, const A& a) {
  each_array(a, [&](const auto& x) {
    if (x.bytes.begin != x.bytes.end) {  // a write to a strided view preserves the bytes between its elements
      const bool reads = x.mode != access_mode::out || !x.contiguous;
      uses.add(kernel_use{x.bytes.begin, x.bytes.size(), reads, x.mode != access_mode::in, x.span.label(), x.at});
    }
  });
}

// The checks of a run besides those of kernel_uses.hpp: none. A class in its place is made from the arguments, and its
// `run` before a run; finish() throws if the run was wrong.
struct unwatched_run {
  template <class... A>
  explicit unwatched_run(const A&...) {}
  struct run {
    run(const unwatched_run&, const relocation&) {}
    void finish() {}
  };
};

inline namespace FERRY_UNIT {

// Submits one kernel to a simulated device: `body(parameters...)` runs the whole grid. Throws for invalid arguments
// before the submission begins.
template <class Watch, class F, std::size_t First, class Body, class... A>
void launch_simulated(ordered_launch& enqueue, const Body& body, const A&... a) {
  kernel_use_list<(most_kernel_uses<A> + ... + 0)> uses;
  (add_kernel_use(uses, a), ...);
  const Watch watch(a...);
  with_parameters<F, First>(
      std::index_sequence_for<A...>(),
      [&](const auto&... p) {
        enqueue([&](native_stream s) {
          auto work = [body, watch, declared = watch_of(a...), p...](const relocation& move) {
            typename Watch::run cells(watch, move);  // first: it changes cells that must not be read
            watched_run run(declared.get(), move);
            body(relocated<A>(move, p)...);
            run.finish();
            cells.finish();
          };
          runtime::current().backend().launch(s, {type_name<F>(), uses.get(), std::move(work), enqueue.has_pointers()});
        });
      },
      a...);
}

}  // namespace FERRY_UNIT
}  // namespace ferry::inline FERRY_ABI::detail
