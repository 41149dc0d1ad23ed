// Bodies of kernels that call a functor with the values of elements, compiled by nvcc and by NVRTC, and what they get.
// No host code.
#pragma once
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "ferry/core/detail/support/internal.hpp"
#include "ferry/core/macros.hpp"

namespace ferry::inline FERRY_ABI::detail {
inline namespace FERRY_UNIT {

// Stores the result of a call: one value, or an object of as many parts as there are outputs.
template <class R, class Y>
FERRY_HOST_DEVICE void store_parts(R&& r, Y& y) {
  y = static_cast<Y>(std::forward<R>(r));
}
template <class R, class Y0, class Y1>
FERRY_HOST_DEVICE void store_parts(R&& r, Y0& y0, Y1& y1) {
  auto&& [r0, r1] = std::forward<R>(r);
  y0 = static_cast<Y0>(r0), y1 = static_cast<Y1>(r1);
}
template <class R, class Y0, class Y1, class Y2>
FERRY_HOST_DEVICE void store_parts(R&& r, Y0& y0, Y1& y1, Y2& y2) {
  auto&& [r0, r1, r2] = std::forward<R>(r);
  y0 = static_cast<Y0>(r0), y1 = static_cast<Y1>(r1), y2 = static_cast<Y2>(r2);
}
template <class R, class Y0, class Y1, class Y2, class Y3>
FERRY_HOST_DEVICE void store_parts(R&& r, Y0& y0, Y1& y1, Y2& y2, Y3& y3) {
  auto&& [r0, r1, r2, r3] = std::forward<R>(r);
  y0 = static_cast<Y0>(r0), y1 = static_cast<Y1>(r1), y2 = static_cast<Y2>(r2), y3 = static_cast<Y3>(r3);
}
// A list of types, with their numbers.
template <class Numbers, class... T>
struct element_types {};
template <class... T>
using types_of_elements = element_types<std::index_sequence_for<T...>, T...>;

inline constexpr unsigned transform_threads = 256;
inline constexpr std::size_t most_axes = 6;  // max_rank

// Values of several types, by number.
template <std::size_t K, class T>
struct numbered_value {
  T value;
};
template <class Numbers, class... T>
struct numbered_values;
template <std::size_t... K, class... T>
struct numbered_values<std::index_sequence<K...>, T...> : numbered_value<K, T>... {};
template <class... T>
using values_of_types = numbered_values<std::index_sequence_for<T...>, T...>;
template <std::size_t K, class T>
FERRY_HOST_DEVICE T& numbered(numbered_value<K, T>& v) {
  return v.value;
}
template <std::size_t K, class T>
FERRY_HOST_DEVICE const T& numbered(const numbered_value<K, T>& v) {
  return v.value;
}

// Elements of a vector: the widest have 16 bytes. 1 for types whose size is no power of 2, or above 16.
template <class... T>
constexpr unsigned lanes_for() {
  std::size_t largest = 1;
  bool is_regular = true;
  ((largest = sizeof(T) > largest ? sizeof(T) : largest, is_regular = is_regular && (sizeof(T) & (sizeof(T) - 1)) == 0),
   ...);
  return is_regular && largest <= 16 ? static_cast<unsigned>(16 / largest) : 1;
}
// Vectors of a thread, so that it has 32 bytes of loads in flight, or 64 of single elements; at most 8.
template <unsigned Lanes, class... X>
constexpr unsigned unroll_for() {
  constexpr std::size_t bytes = Lanes * (sizeof(X) + ... + 0), wanted = Lanes > 1 ? 32 : 64;
  unsigned n = 1;
  while (n < 8 && bytes * n < wanted) n *= 2;
  return n;
}

template <class T>
struct flat_input {
  const T* data;
  std::size_t step;  // 1; 0: one value for all elements
};
// Elements at data + sum of index * stride.
template <class T>
struct strided_elements {
  T* data;
  std::ptrdiff_t stride[most_axes];
};
// Rows of n elements along axis 0; a block has bx x (256 / bx) threads, and `along` blocks compute a row.
struct strided_rows {
  std::size_t n, rows;
  unsigned rank, bx, along;
  std::size_t extent[most_axes];
};

#if defined(__CUDACC__)
// A vector of elements. Types whose default constructor does something are stored as words of their alignment.
template <class T>
using word_of_element =
    std::conditional_t<alignof(T) % 8 == 0, std::uint64_t,
                       std::conditional_t<alignof(T) == 4, std::uint32_t,
                                          std::conditional_t<alignof(T) == 2, std::uint16_t, std::uint8_t>>>;
template <class T, unsigned Lanes, bool Plain = std::is_trivially_default_constructible_v<T>>
struct alignas(Lanes == 1 ? alignof(T) : sizeof(T) * Lanes) packet {
  T v[Lanes];
  __device__ T& operator[](unsigned l) { return v[l]; }
  __device__ const T& operator[](unsigned l) const { return v[l]; }
};
template <class T, unsigned Lanes>
struct alignas(Lanes == 1 ? alignof(T) : sizeof(T) * Lanes) packet<T, Lanes, false> {
  word_of_element<T> words[sizeof(T) * Lanes / sizeof(word_of_element<T>)];
  __device__ T& operator[](unsigned l) { return reinterpret_cast<T*>(words)[l]; }
  __device__ const T& operator[](unsigned l) const { return reinterpret_cast<const T*>(words)[l]; }
};

// The kernels of a functor. Y: elements of the outputs, X: of the inputs.
template <class F, class Y, class X>
struct transform_of;
template <class F, std::size_t... O, class... Y, std::size_t... I, class... X>
struct transform_of<F, element_types<std::index_sequence<O...>, Y...>, element_types<std::index_sequence<I...>, X...>> {
  using outputs = values_of_types<Y*...>;
  using flat_inputs = values_of_types<flat_input<X>...>;
  using strided_outputs = values_of_types<strided_elements<Y>...>;
  using strided_inputs = values_of_types<strided_elements<const X>...>;
  static constexpr unsigned lanes = lanes_for<Y..., X...>();
  template <unsigned Lanes>
  static constexpr unsigned unroll = unroll_for<Lanes, X...>();

  template <unsigned Lanes>
  struct held_vectors {
    values_of_types<packet<X, Lanes>...> of;
  };
  template <class Packet, unsigned Lanes, class T>
  static __device__ void load(Packet& to, const flat_input<T>& from, std::size_t at) {
    if constexpr (Lanes == 1) {
      to = reinterpret_cast<const Packet*>(from.data)[at * from.step];  // without a branch for each input
    } else if (from.step == 0) {
#pragma unroll
      for (unsigned l = 0; l < Lanes; ++l) to[l] = *from.data;
    } else {
      to = reinterpret_cast<const Packet*>(from.data)[at];
    }
  }

  // All arrays have one axis of n elements, contiguous, and aligned to vectors; inputs may be one value.
  template <unsigned Lanes>
  static __device__ void run_flat(std::size_t n, const F& f, const outputs& y, const flat_inputs& x) {
    constexpr unsigned times = unroll<Lanes>;
    const std::size_t whole = n / Lanes;
    const std::size_t first = blockIdx.x * (std::size_t{transform_threads} * times) + threadIdx.x;
    held_vectors<Lanes> held[times];
#pragma unroll
    for (unsigned u = 0; u < times; ++u) {
      const std::size_t at = first + u * transform_threads;
      if (at < whole)
        (load<packet<X, Lanes>, Lanes>(numbered<I, packet<X, Lanes>>(held[u].of), numbered<I, flat_input<X>>(x), at),
         ...);
    }
#pragma unroll
    for (unsigned u = 0; u < times; ++u) {
      const std::size_t at = first + u * transform_threads;
      if (at >= whole) continue;
      const auto& from = held[u].of;
      values_of_types<packet<Y, Lanes>...> result;
#pragma unroll
      for (unsigned l = 0; l < Lanes; ++l)
        store_parts(f(numbered<I, packet<X, Lanes>>(from)[l]...), numbered<O, packet<Y, Lanes>>(result)[l]...);
      ((reinterpret_cast<packet<Y, Lanes>*>(numbered<O, Y*>(y))[at] = numbered<O, packet<Y, Lanes>>(result)), ...);
    }
    if (Lanes == 1 || blockIdx.x != 0) return;
    if (const std::size_t at = whole * Lanes + threadIdx.x; at < n)
      store_parts(f(numbered<I, flat_input<X>>(x).data[at * numbered<I, flat_input<X>>(x).step]...),
                  numbered<O, Y*>(y)[at]...);
  }

  static constexpr unsigned row_unroll = unroll_for<1, X...>();
  static __device__ void run_rows(const strided_rows& r, const F& f, const strided_outputs& y,
                                  const strided_inputs& x) {
    const unsigned line = blockIdx.x / r.along;
    const std::size_t row = line * std::size_t{transform_threads / r.bx} + threadIdx.y;
    if (row >= r.rows) return;
    const std::size_t first = (blockIdx.x - line * r.along) * (std::size_t{r.bx} * row_unroll) + threadIdx.x;
    std::ptrdiff_t to[sizeof...(Y)] = {}, from[sizeof...(X)] = {};
    std::size_t rest = row;
    for (unsigned d = 1; d < r.rank; ++d) {
      const bool is_last = d + 1 == r.rank;
      const std::size_t next = is_last ? 0 : rest / r.extent[d];
      const auto at = static_cast<std::ptrdiff_t>(is_last ? rest : rest - next * r.extent[d]);
      ((to[O] += at * numbered<O, strided_elements<Y>>(y).stride[d]), ...);
      ((from[I] += at * numbered<I, strided_elements<const X>>(x).stride[d]), ...);
      rest = next;
    }
    held_vectors<1> held[row_unroll];
#pragma unroll
    for (unsigned u = 0; u < row_unroll; ++u)
      if (const std::size_t i = first + u * r.bx; i < r.n)
        ((numbered<I, packet<X, 1>>(held[u].of) = *reinterpret_cast<const packet<X, 1>*>(
              numbered<I, strided_elements<const X>>(x).data + from[I] +
              static_cast<std::ptrdiff_t>(i) * numbered<I, strided_elements<const X>>(x).stride[0])),
         ...);
#pragma unroll
    for (unsigned u = 0; u < row_unroll; ++u) {
      const std::size_t i = first + u * r.bx;
      if (i >= r.n) continue;
      const auto& from_here = held[u].of;
      const auto at = static_cast<std::ptrdiff_t>(i);
      store_parts(
          f(numbered<I, packet<X, 1>>(from_here)[0]...),
          numbered<O, strided_elements<Y>>(y).data[to[O] + at * numbered<O, strided_elements<Y>>(y).stride[0]]...);
    }
  }
};

// All arrays have one axis of n elements: in vectors.
template <class F, std::size_t... O, class... Y, std::size_t... I, class... X>
__device__ __forceinline__ void transform_vectors(
    std::size_t n, const F& f, const numbered_values<std::index_sequence<O...>, Y*...>& y,
    const numbered_values<std::index_sequence<I...>, flat_input<X>...>& x) {
  using kernels = transform_of<F, types_of_elements<Y...>, types_of_elements<X...>>;
  kernels::template run_flat<kernels::lanes>(n, f, y, x);
}
// The same, one element at a time, for arrays that are not aligned to vectors.
template <class F, std::size_t... O, class... Y, std::size_t... I, class... X>
__device__ __forceinline__ void transform_elements(
    std::size_t n, const F& f, const numbered_values<std::index_sequence<O...>, Y*...>& y,
    const numbered_values<std::index_sequence<I...>, flat_input<X>...>& x) {
  transform_of<F, types_of_elements<Y...>, types_of_elements<X...>>::template run_flat<1>(n, f, y, x);
}
template <class F, std::size_t... O, class... Y, std::size_t... I, class... X>
__device__ __forceinline__ void transform_rows(
    const strided_rows& r, const F& f, const numbered_values<std::index_sequence<O...>, strided_elements<Y>...>& y,
    const numbered_values<std::index_sequence<I...>, strided_elements<const X>...>& x) {
  transform_of<F, types_of_elements<Y...>, types_of_elements<X...>>::run_rows(r, f, y, x);
}
#endif

}  // namespace FERRY_UNIT
}  // namespace ferry::inline FERRY_ABI::detail
