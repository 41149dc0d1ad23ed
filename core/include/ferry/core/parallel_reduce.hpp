// Reductions of a functor's results over an index space.
#pragma once
#include <limits>

#include "ferry/core/parallel_for.hpp"
#include "ferry/core/scalar.hpp"

namespace ferry {

// Operations of reductions: associative, with the value that changes nothing.
struct plus {
  template <class T>
  FERRY_HOST_DEVICE T operator()(const T& a, const T& b) const {
    return a + b;
  }
  template <class T>
  static T identity() {
    return T(0);
  }
};
struct multiplies {
  template <class T>
  FERRY_HOST_DEVICE T operator()(const T& a, const T& b) const {
    return a * b;
  }
  template <class T>
  static T identity() {
    return T(1);
  }
};
struct minimum {
  template <class T>
  FERRY_HOST_DEVICE T operator()(const T& a, const T& b) const {
    return b < a ? b : a;
  }
  template <class T>
  static T identity() {
    return std::numeric_limits<T>::has_infinity ? std::numeric_limits<T>::infinity() : std::numeric_limits<T>::max();
  }
};
struct maximum {
  template <class T>
  FERRY_HOST_DEVICE T operator()(const T& a, const T& b) const {
    return a < b ? b : a;
  }
  template <class T>
  static T identity() {
    return std::numeric_limits<T>::has_infinity ? -std::numeric_limits<T>::infinity()
                                                : std::numeric_limits<T>::lowest();
  }
};

inline namespace FERRY_UNIT {
namespace detail_unit {

// What f returns for one index.
template <class F, class Space, class... A>
auto reduced_type(const Space& space, const F& f, const A&... a) {
  return detail::with_parameters<F, Space::indices>(
      std::index_sequence_for<A...>(),
      [&](const auto&... p) { return std::type_identity<std::decay_t<decltype(space.call(f, 0, 0, 0, p...))>>(); },
      a...);
}

inline constexpr unsigned reduce_threads = 256;

#if defined(__CUDACC__)
// The sum over the threads of a block, in thread 0; a tree in shared memory, in an order that never changes.
template <class T, class Op>
__device__ T block_reduce(T mine, Op op) {
  __shared__ alignas(T) unsigned char bytes[reduce_threads * sizeof(T)];
  T* all = reinterpret_cast<T*>(bytes);
  all[threadIdx.x] = mine;
  for (unsigned half = reduce_threads / 2; half > 0; half /= 2) {
    __syncthreads();
    if (threadIdx.x < half) all[threadIdx.x] = op(all[threadIdx.x], all[threadIdx.x + half]);
  }
  return all[0];
}

template <class T, class Space, class F, class Op, class... P>
__global__ void __launch_bounds__(reduce_threads) reduce_over(Space space, F f, Op op, T identity, T* partial, P... p) {
  T mine = identity;
  const std::size_t step = std::size_t{gridDim.x} * blockDim.x;
  if constexpr (std::is_same_v<Space, detail::space_1d>) {
    for (std::size_t i = blockIdx.x * std::size_t{blockDim.x} + threadIdx.x; i < space.x; i += step)
      mine = op(mine, space.call(f, i, 0, 0, p...));
  } else {
    const std::size_t rows = space.y * space.z;
    for (std::size_t row = blockIdx.y; row < rows; row += gridDim.y)
      for (std::size_t i = blockIdx.x * std::size_t{blockDim.x} + threadIdx.x; i < space.x; i += step)
        mine = op(mine, space.call(f, i, row % space.y, row / space.y, p...));
  }
  mine = block_reduce(mine, op);
  if (threadIdx.x == 0) partial[blockIdx.y * std::size_t{gridDim.x} + blockIdx.x] = mine;
}

template <class T, class Op>
__global__ void __launch_bounds__(reduce_threads)
    reduce_partials(const T* partial, unsigned count, Op op, T identity, T* to) {
  T mine = identity;
  for (unsigned i = threadIdx.x; i < count; i += blockDim.x) mine = op(mine, partial[i]);
  mine = block_reduce(mine, op);
  if (threadIdx.x == 0) *to = mine;
}

template <class Space>
dim3 reduce_grid(const Space& s, int multiprocessors) {
  const std::size_t most = 8 * static_cast<std::size_t>(multiprocessors);
  const std::size_t x = detail::at_most(detail::ceil_div(s.x, reduce_threads), most);
  const std::size_t y = detail::at_most(s.y * s.z, detail::ceil_div(most, x));
  return dim3(static_cast<unsigned>(x), static_cast<unsigned>(y));
}
#endif

// give: submits the launch, ordered by what the arguments use; it is told of the result and of the partial sums.
template <class T, class Give, class Space, class F, class Op, class... A>
void launch_reduce([[maybe_unused]] stream_ref s, Give& give, const Space& space, const F& f, const Op& op,
                   host_array<T, 0>& result, const A&... a) {
  const T identity = Op::template identity<T>();
  give.add(result.owner(), result.bytes(), true);
#if defined(__CUDACC__)
  if (machine& m = machine::current(); !m.is_simulated())
    return detail::with_parameters<F, Space::indices>(
        std::index_sequence_for<A...>(),
        [&](const auto&... p) {
          const dim3 grid = reduce_grid(space, s.where().properties().multiprocessors);
          device_array<T> partial({std::size_t{grid.x} * grid.y}, s.where());
          give.add(partial.owner(), partial.bytes(), true);
          detail::current_device_scope current(m, s.line().device());
          give([&](native_stream n) {
            const auto to = static_cast<cudaStream_t>(n.handle);
            T* const parts = partial.unsynchronized_data();
            reduce_over<<<grid, reduce_threads, 0, to>>>(space, f, op, identity, parts, p...);
            reduce_partials<<<1, reduce_threads, 0, to>>>(parts, grid.x * grid.y, op, identity,
                                                          result.unsynchronized_data());
            m.verbs().check_launch(n, detail::type_name<F>());
          });
        },
        a...);
#endif
  give([&](native_stream n) {
    // The result stands in the place of the last index, whose type no mdspan parameter has.
    launch_simulated<F, Space::indices - 1>(
        n,
        [space, f, op, identity](const auto& to, const auto&... p) {
          T sum = identity;
          run_on_cpu(
              space, [&](const auto&... ip) { sum = op(sum, f(ip...)); }, p...);
          to() = sum;
        },
        out(result), a...);
  });
}

template <class T, class Space, class F, class Op, class... A>
void reduce(stream_ref s, const Space& space, const F& f, const Op& op, host_array<T, 0>& result, const A&... a) {
  static_assert(
      kernels_can_be_compiled<F>,
      "this source is compiled as plain C++, but ferry was built with CUDA, so its kernels need nvcc: add the "
      "source by ferry_add_executable(), or build ferry with -DFERRY_CUDA=OFF");
  if (detail::is_empty(space)) return fill(s, result, Op::template identity<T>());
  detail::access_list<sizeof...(A) + 2> uses;
  (detail::add_use(uses, a), ...);
  if (detail::must_mirror(s, uses.get())) [[unlikely]] {
    detail::mirrors give(s, uses.get());
    return launch_reduce<T>(s, give, space, f, op, result, give.moved(a)...);
  }
  detail::poison_outputs(s, a...);
  detail::in_place give(s, uses);
  launch_reduce<T>(s, give, space, f, op, result, a...);
}

}  // namespace detail_unit

// The results f(index..., arguments...) of all indices, joined by op (plus, multiplies, minimum, maximum, or a functor
// with a static identity<T>()), in an order that depends only on the space and the device. Spaces and arguments as in
// parallel_for. Ordered on `s`; never blocks: the result waits when the CPU reads it.
template <detail::index_space Space, class F, class Op, class... Arguments>
auto parallel_reduce(stream_ref s, const Space& space, const F& f, const Op& op, Arguments&&... arguments) {
  const auto run = [&](const auto&... a) {
    const auto over = detail::space_of(space);
    using T = typename decltype(detail_unit::reduced_type(over, f, a...))::type;
    scalar<T> result(s.where());
    detail_unit::reduce<T>(s, over, f, op, result.as_array(), a...);
    return result;
  };
  return run(detail::as_argument(std::forward<Arguments>(arguments))...);
}

// The same on this thread's stream of the device of the first written argument, else of the first array.
template <detail::index_space Space, class F, class Op, class... Arguments>
auto parallel_reduce(const Space& space, const F& f, const Op& op, Arguments&&... arguments) {
  const auto run = [&](const auto&... a) {
    return parallel_reduce(default_stream(detail::placement(a...)), space, f, op, a...);
  };
  return run(detail::as_argument(std::forward<Arguments>(arguments))...);
}

}  // namespace FERRY_UNIT
}  // namespace ferry
