/// @file
/// Reductions of a functor's results over an index space.
#pragma once
#include "ferry/core/detail/kernels/cpu_reduction.hpp"
#include "ferry/core/parallel_for.hpp"
#include "ferry/core/reduction_operations.hpp"
#include "ferry/core/scalar.hpp"
#include "ferry/version.hpp"

namespace ferry::inline FERRY_ABI {

/// @addtogroup kernels
/// @{

namespace detail {
inline namespace FERRY_UNIT {

// The type of the result: the type in which op combines what f returns for one index.
template <class Op, class F, class Space, class... A>
auto reduced_type(const Space& space, const F& f, const A&... a) {
  return detail::with_parameters<F, Space::indices>(
      std::index_sequence_for<A...>(),
      [&](const auto&... p) {
        using returned = std::decay_t<decltype(space.call(f, 0, 0, 0, p...))>;
        return std::type_identity<typename detail::reduction_result<Op, returned>::type>();
      },
      a...);
}

#if FERRY_HAS_CUDA
template <class Space>
grid_size reduce_grid(const Space& s, int multiprocessors) {
  const std::size_t most = 8 * static_cast<std::size_t>(multiprocessors);
  const std::size_t x = detail::at_most(detail::ceil_div(s.x, reduce_threads), most);
  const std::size_t y = detail::at_most(s.y * s.z, detail::ceil_div(most, x));
  return grid_size(static_cast<unsigned>(x), static_cast<unsigned>(y));
}
#endif

#if FERRY_HAS_CUDA
// The two kernels of a reduction with these parameters.
template <class T, class Space, class F, class Op, class... P>
auto reduction_kernels_on(stream_ref s, const P&...) {
  return std::pair(kernel_on<reducing_space, F, Space, F, Op, T, T*, P...>(s),
                   kernel_on<reducing_values, F, const T*, unsigned, Op, T, T*>(s));
}
#endif

// As compile_loop.
template <class T, class Space, class F, class Op, class... A>
void compile_reduction([[maybe_unused]] stream_ref s, const A&... a) {
  detail::with_parameters<F, Space::indices>(
      std::index_sequence_for<A...>(),
      [&]([[maybe_unused]] const auto&... p) {
#if FERRY_HAS_CUDA && !defined(__CUDACC__)
        if (runtime::current().backend().compiles_functors()) (void)reduction_kernels_on<T, Space, F, Op>(s, p...);
#endif
      },
      a...);
}

// enqueue: submits the launch, ordered after the hazards of its arguments, the result and the partial results.
template <class T, class Space, class F, class Op, class... A>
void launch_reduce([[maybe_unused]] stream_ref s, ordered_launch& enqueue, const Space& space, const F& f, const Op& op,
                   const array_argument<T, 0>& result, const A&... a) {
  const T identity = Op::template identity<T>();
#if FERRY_HAS_CUDA
  if (runtime& m = runtime::current(); !m.is_simulated())
    return detail::with_parameters<F, Space::indices>(
        std::index_sequence_for<A...>(),
        [&](const auto&... p) {
          const auto kernels = reduction_kernels_on<T, Space, F, Op>(s, p...);
          const grid_size grid = reduce_grid(space, s.where().properties().multiprocessors);
          device_array<T> partial({std::size_t{grid.x} * grid.y}, s.where());
          enqueue.add(partial.owner(), partial.bytes(), true);
          enqueue([&](native_stream n) {
            const launch_place where{m, n, s.timeline().device(), detail::type_name<F>()};
            T* const parts = partial.unsynchronized_data();
            launch_kernel(where, kernels.first, grid, reduce_threads, space, f, op, identity, parts, p...);
            launch_kernel(where, kernels.second, 1, reduce_threads, parts, grid.x * grid.y, op, identity,
                          result.span.data());
          });
        },
        a...);
  compile_reduction<T, Space, F, Op>(s, a...);
#endif
  // The result takes the place of the last index, whose type is never an mdspan parameter.
  launch_simulated<unwatched_run, F, Space::indices - 1>(
      enqueue,
      [space, f, op, identity](const auto& to, const auto&... p) {
        to() = reduce_on_cpu<T>(space, f, op, identity, p...);
      },
      result, a...);
}

// Writes the result to an array of rank 0.
template <class T, memory_kind Kind, class Space, class F, class Op, class... A>
void reduce(stream_ref s, source_line at, const Space& space, const F& f, const Op& op, array_view<T, 0, Kind>& to,
            const A&... a) {
  static_assert(sizeof...(A) + 1 <= 16, "a kernel takes at most 16 arguments");  // with the result
  need_kernel_of<F>();
  if (detail::is_empty(space)) return fill(s, to, Op::template identity<T>(), at);
  const auto result = detail::make_argument<T>(to, detail::access_mode::out, at);
  detail::access_list<(most_arrays<A> + ... + 2)> uses;
  (detail::add_use(uses, a), ...);
  detail::add_use(uses, result);
  if (detail::needs_staging(s, uses.get())) [[unlikely]] {
    detail::search_call(s, at, detail::used_by::kernel, f, a...);
    detail::staged_launch enqueue(s, uses.get());
    enqueue.poison_outputs(a...);
    return launch_reduce<T>(s, enqueue, space, f, op, enqueue.moved(result), enqueue.moved(a)...);
  }
  detail::direct_launch enqueue(s, uses);
  detail::check_call(
      s, at, detail::used_by::kernel, [&] { enqueue.poison_outputs(a...); }, f, a...);
  launch_reduce<T>(s, enqueue, space, f, op, result, a...);
}

template <class Space, class F, class Op, class... A>
auto reduce_on(stream_ref s, source_line at, const Space& space, const F& f, const Op& op, const A&... a) {
  using T = typename decltype(reduced_type<Op>(space, f, a...))::type;
  scalar<T> result(s.where());
  reduce(s, at, space, f, op, result.as_array(), a...);
  return result;
}
template <class Space, class F, class Op, class... A>
auto reduce_placed(source_line at, const Space& space, const F& f, const Op& op, const A&... a) {
  return reduce_on(default_stream(detail::placement(a...)), at, space, f, op, a...);
}

// Runs an accepted reduction; returns a placeholder scalar for a refused one.
template <class... P, class Space, class F, class Op, class... A>
auto call_reduce(detail::accepted_call<P...>, const located<stream_ref>& s, const Space& space, const F& f,
                 const Op& op, A&&... a) {
  return reduce_on(s.value, s.at, space, f, op, detail::as_argument<P>(std::forward<A>(a), s.at)...);
}
template <class... P, class Space, class F, class Op, class... A>
auto call_reduce(detail::accepted_call<P...>, const detail::located_space<Space>& space, const F& f, const Op& op,
                 A&&... a) {
  return reduce_placed(space.at, space.space, f, op, detail::as_argument<P>(std::forward<A>(a), space.at)...);
}
template <class... Any>
scalar<double> call_reduce(detail::refused_call, const Any&...) {
  return scalar<double>();
}

}  // namespace FERRY_UNIT
}  // namespace detail

inline namespace FERRY_UNIT {

/// Combines the results f(index..., arguments...) of all indices by op.
///
/// The order of the operations depends only on the space and the device. Ordered on `s`; blocks only where parallel_for
/// does. Reading the result on the CPU blocks.
/// @param s stream of the launch
/// @param space as in parallel_for
/// @param f functor that can run on the device
/// @param op plus, multiplies, minimum, maximum, minimum_number, maximum_number (see reduction_operations.hpp), or an
///   associative and commutative functor with a static `identity<T>()`, its neutral element
/// @param arguments as in parallel_for
/// @return `scalar<T>`, where T is the type that f returns. For plus and multiplies, T is std::uint64_t in place of
///   bool and unsigned integers of less than 64 bits, and std::int64_t in place of signed ones.
/// @note Throws as parallel_for.
template <detail::index_space Space, class F, class Op, class... Arguments>
auto parallel_reduce(located<stream_ref> s, const Space& space, const F& f, const Op& op, Arguments&&... arguments) {
  using over = decltype(detail::space_of(space));
  return detail::call_reduce(detail::checked<detail::reduction_check<over, F, Arguments...>>(), s,
                             detail::space_of(space), f, op, std::forward<Arguments>(arguments)...);
}
/// @overload
template <class F, class Op, class... Arguments>
auto parallel_reduce(located<stream_ref> s, const extents<1>& space, const F& f, const Op& op,
                     Arguments&&... arguments) {
  return detail::call_reduce(detail::checked<detail::reduction_check<detail::space_1d, F, Arguments...>>(), s,
                             detail::space_of(space), f, op, std::forward<Arguments>(arguments)...);
}
/// @overload
template <class F, class Op, class... Arguments>
auto parallel_reduce(located<stream_ref> s, const extents<2>& space, const F& f, const Op& op,
                     Arguments&&... arguments) {
  return detail::call_reduce(detail::checked<detail::reduction_check<detail::space_2d, F, Arguments...>>(), s,
                             detail::space_of(space), f, op, std::forward<Arguments>(arguments)...);
}
/// @overload
template <class F, class Op, class... Arguments>
auto parallel_reduce(located<stream_ref> s, const extents<3>& space, const F& f, const Op& op,
                     Arguments&&... arguments) {
  return detail::call_reduce(detail::checked<detail::reduction_check<detail::space_3d, F, Arguments...>>(), s,
                             detail::space_of(space), f, op, std::forward<Arguments>(arguments)...);
}
/// @overload
template <std::size_t Rank, class F, class Op, class... Arguments>
requires(Rank > 3) auto parallel_reduce(located<stream_ref> s, const detail::braced_extent (&space)[Rank], const F& f,
                                        const Op& op, Arguments&&... arguments) {
  using over = decltype(detail::space_of(space));
  return detail::call_reduce(detail::checked<detail::reduction_check<over, F, Arguments...>>(), s,
                             detail::space_of(space), f, op, std::forward<Arguments>(arguments)...);
}

/// Same as above, on the calling thread's stream of the device of the first written argument, else of the first array.
template <class F, class Op, class... Arguments>
auto parallel_reduce(detail::located_space<detail::space_1d> space, const F& f, const Op& op,
                     Arguments&&... arguments) {
  return detail::call_reduce(detail::checked<detail::reduction_check<detail::space_1d, F, Arguments...>>(), space, f,
                             op, std::forward<Arguments>(arguments)...);
}
/// @overload
template <class F, class Op, class... Arguments>
auto parallel_reduce(detail::located_space<detail::space_2d> space, const F& f, const Op& op,
                     Arguments&&... arguments) {
  return detail::call_reduce(detail::checked<detail::reduction_check<detail::space_2d, F, Arguments...>>(), space, f,
                             op, std::forward<Arguments>(arguments)...);
}
/// @overload
template <class F, class Op, class... Arguments>
auto parallel_reduce(detail::located_space<detail::space_3d> space, const F& f, const Op& op,
                     Arguments&&... arguments) {
  return detail::call_reduce(detail::checked<detail::reduction_check<detail::space_3d, F, Arguments...>>(), space, f,
                             op, std::forward<Arguments>(arguments)...);
}
/// @overload
template <class F, class Op, class... Arguments>
auto parallel_reduce(detail::located_space<detail::space_nd<4>> space, const F& f, const Op& op,
                     Arguments&&... arguments) {
  return detail::call_reduce(detail::checked<detail::reduction_check<detail::space_nd<4>, F, Arguments...>>(), space, f,
                             op, std::forward<Arguments>(arguments)...);
}
/// @overload
template <class F, class Op, class... Arguments>
auto parallel_reduce(detail::located_space<detail::space_nd<5>> space, const F& f, const Op& op,
                     Arguments&&... arguments) {
  return detail::call_reduce(detail::checked<detail::reduction_check<detail::space_nd<5>, F, Arguments...>>(), space, f,
                             op, std::forward<Arguments>(arguments)...);
}
/// @overload
template <class F, class Op, class... Arguments>
auto parallel_reduce(detail::located_space<detail::space_nd<6>> space, const F& f, const Op& op,
                     Arguments&&... arguments) {
  return detail::call_reduce(detail::checked<detail::reduction_check<detail::space_nd<6>, F, Arguments...>>(), space, f,
                             op, std::forward<Arguments>(arguments)...);
}
/// @overload
template <class F, class Op, class... Arguments>
auto parallel_reduce(detail::located_space<detail::space_of_tiles> space, const F& f, const Op& op,
                     Arguments&&... arguments) {
  return detail::call_reduce(detail::checked<detail::reduction_check<detail::space_of_tiles, F, Arguments...>>(), space,
                             f, op, std::forward<Arguments>(arguments)...);
}

/// Rejects spaces of more than six dimensions at compile time.
template <class F, class Op, class... Arguments>
scalar<double> parallel_reduce(detail::located_space<detail::space_beyond>, const F&, const Op&, Arguments&&...) {
  detail::checked<detail::reduction_check<detail::space_beyond, F, Arguments...>>();
  return scalar<double>();
}

}  // namespace FERRY_UNIT

/// @}

}  // namespace ferry::inline FERRY_ABI
