// The part of a reduction that one member of a team computes: several kernels, one result.
#pragma once
#include <optional>

#include "ferry/core/detail/kernels/cpu_reduction.hpp"
#include "ferry/core/detail/support/internal.hpp"
#include "ferry/multigpu/detail/loops/shard_kernel_types.hpp"
#include "ferry/multigpu/shard_loop.hpp"
#include "ferry/multigpu/team_scalar.hpp"

namespace ferry::inline FERRY_ABI::detail {
inline namespace FERRY_UNIT {

#if FERRY_HAS_CUDA
inline constexpr unsigned finishing_blocks = 64;

struct reduction_size {
  block_layout layout;
  std::size_t blocks;
};
template <class Space>
reduction_size reduction_size_of(const Space& s, int multiprocessors) {
  unsigned bx = reduce_threads;
  while (bx > 32 && bx / 2 >= s.x) bx /= 2;
  const std::size_t along_y = ceil_div(s.y, reduce_threads / bx), lines = along_y * s.z;
  std::size_t along_x = ceil_div(s.x, bx);
  if constexpr (!std::is_same_v<Space, part_space_of_tiles>) {
    const std::size_t most = 8 * static_cast<std::size_t>(multiprocessors);
    along_x = at_most(along_x, ceil_div(most, lines));
  }
  std::size_t blocks = 0;
  if (__builtin_mul_overflow(along_x, lines, &blocks) || blocks > 0x7fffffff) throw_too_many_blocks(s);
  return {{bx, static_cast<unsigned>(along_x), static_cast<unsigned>(along_y), 1}, blocks};
}
#endif

// Call expect() for each space, then run() for each, then finish().
template <class T, class Op>
class member_reduction {
 public:
  using slot_view = array_view<T, 1, memory_kind::host>;
  member_reduction(stream_ref s, const Op& op, slot_view slot)
      : stream_(s),
        op_(op),
        slot_(std::move(slot)),
        simulated_(runtime::current().is_simulated()) {}

  template <class Space>
  void expect([[maybe_unused]] const Space& space) {
#if FERRY_HAS_CUDA
    if (!simulated_ && !is_empty(space))
      expected_ += reduction_size_of(space, stream_.where().properties().multiprocessors).blocks;
#endif
  }

  template <class Space, class F, class... A>
  void run(const Space& space, const F& f, const A&... a) {
    need_kernel_of<F>();
    if (is_empty(space)) return;
    access_list<4 * (most_arrays<A> + ... + 0) + 2> uses;
    (add_shard_use(uses, a), ...);
    if (needs_staging(stream_, uses.get())) [[unlikely]] {
      search_call(stream_, {}, used_by::kernel, f, a...);
      staged_launch enqueue(stream_, uses.get());
      poison_shard_outputs(enqueue, a...);
      return run_once(enqueue, space, f, moved_shard_argument(enqueue, a)...);
    }
    direct_launch enqueue(stream_, uses);
    check_call(
        stream_, {}, used_by::kernel, [&] { poison_shard_outputs(enqueue, a...); }, f, a...);
    run_once(enqueue, space, f, a...);
  }

  // Compiles the kernels of run() and finish(), as compile_loop.
  template <class Space, class F, class... A>
  static void compile([[maybe_unused]] stream_ref s, const A&... a) {
    with_parameters<F, Space::indices>(
        std::index_sequence_for<A...>(),
        [&]([[maybe_unused]] const auto&... p) {
#if FERRY_HAS_CUDA && !defined(__CUDACC__)
          if (runtime::current().backend().compiles_functors()) (void)kernels_on<Space, F>(s, p...);
#endif
        },
        a...);
  }

  void finish() {
    if (done_ == 0) return fill(stream_, slot_, Op::template identity<T>(), source_line{});
#if FERRY_HAS_CUDA
    if (simulated_) return;
    access_list<2> uses;
    uses.add(memory_.owner(), memory_.bytes(), true);
    uses.add(slot_.owner(), slot_.bytes(), true);
    const auto blocks =
        static_cast<unsigned>(at_most(ceil_div(done_, std::size_t{4} * reduce_threads), finishing_blocks));
    submit_ordered(stream_, uses.get(), reach::by_kernel, [&](native_stream n) {
      const launch_place where{runtime::current(), n, stream_.timeline().device(), "the end of a reduction"};
      const T identity = Op::template identity<T>();
      const T* const parts = partial();
      T *const of_block = partial() + expected_, *const to = slot_.unsynchronized_data();
      launch_kernel(where, *finishing_, blocks, reduce_threads, parts, static_cast<unsigned>(done_), op_, identity,
                    of_block, counter(), to);
    });
#endif
  }

 private:
  template <class Space, class F, class... A>
  void run_once(ordered_launch& enqueue, const Space& space, const F& f, const A&... a) {
    const T identity = Op::template identity<T>();
#if FERRY_HAS_CUDA
    if (!simulated_) return launch(enqueue, space, f, identity, a...);
    compile<Space, F>(stream_, a...);
#endif
    const bool is_first = std::exchange(done_, done_ + 1) == 0;
    enqueue.add(slot_.owner(), slot_.bytes(), true);
    const auto body = [space, f, op = op_, identity, is_first](const auto& to, const auto&... p) {
      to(0) = reduce_on_cpu<T>(space, f, op, is_first ? identity : to(0), p...);
    };
    // The result takes the position of the last index, because no span parameter has the type of an index.
    launch_simulated<watched_shards, F, Space::indices - 1>(
        enqueue, body, make_argument<T>(slot_, is_first ? access_mode::out : access_mode::inout, source_line{}), a...);
  }

#if FERRY_HAS_CUDA
  static constexpr std::size_t counter_bytes = 64;  // before the results
  unsigned* counter() { return reinterpret_cast<unsigned*>(memory_.unsynchronized_data()); }
  T* partial() { return reinterpret_cast<T*>(memory_.unsynchronized_data() + counter_bytes); }

  // Combines the results of blocks.
  using finishing_kernel = prepared_kernel<const T*, unsigned, Op, T, T*, unsigned*, T*>;
  template <class Space, class F, class... P>
  static auto kernels_on(stream_ref s, const P&...) {
    return std::pair(
        kernel_on<reducing_part, F, Space, block_layout, F, Op, T, T*, unsigned*, P...>(s),
        finishing_kernel{kernel_code_on<reducing_parts, F, const T*, unsigned, Op, T, T*, unsigned*, T*>(s)});
  }

  template <class Space, class F, class... A>
  void launch(ordered_launch& enqueue, const Space& space, const F& f, const T& identity, const A&... a) {
    static_assert(alignof(T) <= counter_bytes);
    runtime& m = runtime::current();
    const auto size = reduction_size_of(space, stream_.where().properties().multiprocessors);
    if (!memory_.owner())
      memory_ = device_array<std::byte>({counter_bytes + (expected_ + finishing_blocks) * sizeof(T)}, stream_.where());
    enqueue.add(memory_.owner(), memory_.bytes(), true);
    with_parameters<F, Space::indices>(
        std::index_sequence_for<A...>(),
        [&](const auto&... p) {
          const grid_size blocks(static_cast<unsigned>(size.blocks)),
              threads(size.layout.bx, reduce_threads / size.layout.bx);
          const auto kernels = kernels_on<Space, F>(stream_, p...);
          finishing_.emplace(kernels.second);
          enqueue([&](native_stream n) {
            const launch_place where{m, n, stream_.timeline().device(), type_name<F>()};
            T* const parts = partial() + done_;
            launch_kernel(where, kernels.first, blocks, threads, space, size.layout, f, op_, identity, parts, counter(),
                          p...);
          });
        },
        a...);
    done_ += size.blocks;
  }
  device_array<std::byte> memory_;
  std::optional<finishing_kernel> finishing_;
#endif
  stream_ref stream_;
  Op op_;
  slot_view slot_;
  bool simulated_;
  std::size_t expected_ = 0, done_ = 0;  // results of blocks; on simulated devices, of kernels
};

}  // namespace FERRY_UNIT
}  // namespace ferry::inline FERRY_ABI::detail
