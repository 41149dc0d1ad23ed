#include "cuda/sorting/sorting_kernels.hpp"

#include <algorithm>

#include "ferry/core/detail/operations/sort_key.hpp"

namespace ferry::inline FERRY_ABI::detail::cuda {
namespace {

constexpr unsigned sorting_threads = 256;

// Calls f(i) for i below n, on the device.
template <class F>
__global__ void __launch_bounds__(sorting_threads) for_each_index(std::uint64_t n, F f) {
  const std::uint64_t step = std::uint64_t{gridDim.x} * sorting_threads;
  for (std::uint64_t i = std::uint64_t{blockIdx.x} * sorting_threads + threadIdx.x; i < n; i += step) f(i);
}
template <class F>
cudaError_t run(const grid& g, std::uint64_t n, const F& f) {
  if (n == 0) return cudaSuccess;
  const std::uint64_t most = std::max(1u, g.blocks);
  const auto blocks = static_cast<unsigned>(std::min((n + sorting_threads - 1) / sorting_threads, most));
  for_each_index<<<blocks, sorting_threads, 0, g.stream>>>(n, f);
  return cudaGetLastError();
}

template <class U, class K>
struct to_keys {
  sort_key<U> key;
  const U* elements;
  K* keys;
  __device__ void operator()(std::uint64_t i) const { keys[i] = key(elements[i]); }
};
template <class U, class K>
struct to_elements {
  sort_key<U> key;
  const K* keys;
  U* elements;
  __device__ void operator()(std::uint64_t i) const { elements[i] = key.bits(static_cast<U>(keys[i])); }
};

// Calls f(U(), K()), where U is the type of the elements, and K the type of their keys.
template <class F>
cudaError_t with_keys(const key_mapping& m, F f) {
  return with_key_type(m.type, [&](auto u) {
    if (sizeof u < 4 && m.key_bytes == 4) return f(u, std::uint32_t());
    return f(u, u);
  });
}
// Calls f(V()), where V is an unsigned integer of 4 or 8 bytes.
template <class F>
cudaError_t with_number(std::size_t bytes, F f) {
  return bytes == 4 ? f(std::uint32_t()) : f(std::uint64_t());
}

template <class V>
struct to_number {
  V* to;
  __device__ void operator()(std::uint64_t i) const { to[i] = static_cast<V>(i); }
};
struct to_row {
  std::uint32_t* to;
  std::uint64_t length;
  __device__ void operator()(std::uint64_t i) const { to[i] = static_cast<std::uint32_t>(i / length); }
};
template <class V>
struct number_to_row {
  const V* from;
  std::uint32_t* to;
  std::uint64_t length;
  __device__ void operator()(std::uint64_t i) const { to[i] = static_cast<std::uint32_t>(from[i] / length); }
};

// Copies elements in parts: complex numbers are aligned only as their parts are.
struct element_copy {
  const void* from;
  void* to;
  unsigned part_bytes, parts;
  template <class U>
  __device__ void copy(std::uint64_t i, std::uint64_t k) const {
    for (unsigned p = 0; p != parts; ++p)
      static_cast<U*>(to)[i * parts + p] = static_cast<const U*>(from)[k * parts + p];
  }
  // Copies element k of the source to element i.
  __device__ void operator()(std::uint64_t i, std::uint64_t k) const {
    switch (part_bytes) {
      case 1: return copy<std::uint8_t>(i, k);
      case 2: return copy<std::uint16_t>(i, k);
      case 4: return copy<std::uint32_t>(i, k);
      default: return copy<std::uint64_t>(i, k);
    }
  }
};
element_copy copy_of(scalar_type t, const void* from, void* to) {
  const unsigned parts = is_complex(t) ? 2 : 1;
  return {from, to, static_cast<unsigned>(size_of(t)) / parts, parts};
}

template <class V>
struct order_results {
  const V* numbers;
  std::uint64_t length, kept;
  std::int64_t* positions;
  element_copy values;
  __device__ void operator()(std::uint64_t i) const {
    const std::uint64_t row = i / kept;
    const std::uint64_t number = numbers[row * length + (i - row * kept)];
    positions[i] = static_cast<std::int64_t>(number - row * length);
    if (values.to) values(i, number);
  }
};

template <class U>
struct searcher {
  sort_key<U> key;
  const U *from, *wanted;
  std::int64_t* positions;
  std::uint64_t length;
  bool is_after_equal, are_keys;
  __device__ void operator()(std::uint64_t i) const {
    const U value = are_keys ? wanted[i] : key(wanted[i]);
    std::uint64_t first = 0, count = length;
    while (count != 0) {
      const std::uint64_t half = count / 2;
      const U middle = key(from[first + half]);
      if (middle < value || (is_after_equal && middle == value))
        first += half + 1, count -= half + 1;
      else
        count = half;
    }
    positions[i] = static_cast<std::int64_t>(first);
  }
};

template <class U, class K>
struct unique_results {
  sort_key<U> key;
  const K* keys;
  const std::int64_t* starts;
  const std::uint64_t* found;
  std::uint64_t length, kept;
  U* values;
  std::int64_t* counts;
  std::uint64_t* number;
  __device__ void operator()(std::uint64_t i) const {
    const std::uint64_t n = *found;
    if (i == 0) *number = n;
    if (i >= n || i >= kept) return;
    const std::int64_t first = starts[i];
    values[i] = key.bits(static_cast<U>(keys[first]));
    if (counts) counts[i] = (i + 1 < n ? starts[i + 1] : static_cast<std::int64_t>(length)) - first;
  }
};

template <class V>
struct inverse_results {
  const V* numbers;
  const std::int64_t* starts;
  const std::uint64_t* found;
  std::int64_t* inverse;
  __device__ void operator()(std::uint64_t i) const {
    std::uint64_t first = 0, count = *found;  // the first run that begins behind i
    while (count != 0) {
      const std::uint64_t half = count / 2;
      if (static_cast<std::uint64_t>(starts[first + half]) <= i)
        first += half + 1, count -= half + 1;
      else
        count = half;
    }
    inverse[numbers[i]] = static_cast<std::int64_t>(first) - 1;
  }
};

struct selected_results {
  const std::int64_t* indices;
  const std::uint64_t* found;
  std::uint64_t kept;
  std::int64_t* positions;  // null if they are `indices`, or not wanted
  element_copy values;
  std::uint64_t* number;
  __device__ void operator()(std::uint64_t i) const {
    const std::uint64_t n = *found;
    if (i == 0) *number = n;
    if (i >= n || i >= kept) return;
    const std::int64_t at = indices[i];
    if (positions) positions[i] = at;
    if (values.to) values(i, static_cast<std::uint64_t>(at));
  }
};

}  // namespace

cudaError_t make_keys(const grid& g, const key_mapping& m, const void* elements, void* keys, std::uint64_t n) {
  return with_keys(m, [&](auto u, auto k) {
    using U = decltype(u);
    using K = decltype(k);
    const sort_key<U> key(m.type, m.is_descending, m.is_merged);
    return run(g, n, to_keys<U, K>{key, static_cast<const U*>(elements), static_cast<K*>(keys)});
  });
}

cudaError_t restore_elements(const grid& g, const key_mapping& m, const void* keys, void* elements, std::uint64_t n) {
  return with_keys(m, [&](auto u, auto k) {
    using U = decltype(u);
    using K = decltype(k);
    const sort_key<U> key(m.type, m.is_descending, m.is_merged);
    return run(g, n, to_elements<U, K>{key, static_cast<const K*>(keys), static_cast<U*>(elements)});
  });
}

cudaError_t number_elements(const grid& g, void* to, std::size_t bytes, std::uint64_t n) {
  return with_number(bytes, [&](auto v) { return run(g, n, to_number<decltype(v)>{static_cast<decltype(v)*>(to)}); });
}
cudaError_t number_rows(const grid& g, std::uint32_t* to, std::uint64_t length, std::uint64_t n) {
  return run(g, n, to_row{to, length});
}
cudaError_t rows_of_numbers(const grid& g, const void* from, std::size_t bytes, std::uint32_t* to, std::uint64_t length,
                            std::uint64_t n) {
  return with_number(bytes, [&](auto v) {
    return run(g, n, number_to_row<decltype(v)>{static_cast<const decltype(v)*>(from), to, length});
  });
}

cudaError_t store_order(const grid& g, const sorting_task& t, const void* numbers, std::size_t bytes) {
  return with_number(bytes, [&](auto v) {
    return run(
        g, t.rows * t.kept,
        order_results<decltype(v)>{static_cast<const decltype(v)*>(numbers), t.length, t.kept,
                                   reinterpret_cast<std::int64_t*>(t.positions), copy_of(t.type, t.from, t.values)});
  });
}

cudaError_t search_elements(const grid& g, const sorting_task& t) {
  return with_key_type(t.type, [&](auto u) {
    using U = decltype(u);
    const bool are_keys = t.kind == sorting_kind::rank;
    return run(g, t.other_count,
               searcher<U>{sort_key<U>(t.type, t.is_descending, !are_keys || t.is_merged),
                           reinterpret_cast<const U*>(t.from), reinterpret_cast<const U*>(t.other),
                           reinterpret_cast<std::int64_t*>(t.positions), t.length, t.is_after_equal, are_keys});
  });
}

cudaError_t store_unique(const grid& g, const sorting_task& t, const key_mapping& m, const void* keys,
                         const std::int64_t* starts, const std::uint64_t* found) {
  return with_keys(m, [&](auto u, auto k) {
    using U = decltype(u);
    using K = decltype(k);
    return run(
        g, std::max<std::uint64_t>(1, std::min(t.length, t.kept)),
        unique_results<U, K>{sort_key<U>(m.type, m.is_descending, m.is_merged), static_cast<const K*>(keys), starts,
                             found, t.length, t.kept, reinterpret_cast<U*>(t.values),
                             reinterpret_cast<std::int64_t*>(t.counts), reinterpret_cast<std::uint64_t*>(t.found)});
  });
}

cudaError_t store_inverse(const grid& g, const sorting_task& t, const void* numbers, std::size_t bytes,
                          const std::int64_t* starts, const std::uint64_t* found) {
  return with_number(bytes, [&](auto v) {
    return run(g, t.length,
               inverse_results<decltype(v)>{static_cast<const decltype(v)*>(numbers), starts, found,
                                            reinterpret_cast<std::int64_t*>(t.inverse)});
  });
}

cudaError_t store_selected(const grid& g, const sorting_task& t, const std::int64_t* indices,
                           const std::uint64_t* found) {
  auto* const positions = reinterpret_cast<std::int64_t*>(t.positions);
  return run(g, std::max<std::uint64_t>(1, std::min(t.length, t.kept)),
             selected_results{indices, found, t.kept, positions == indices ? nullptr : positions,
                              copy_of(t.type, t.other, t.values), reinterpret_cast<std::uint64_t*>(t.found)});
}

}  // namespace ferry::inline FERRY_ABI::detail::cuda
