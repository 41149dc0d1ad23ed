#include "cuda/sorting/cub_calls.hpp"

#include <iterator>
#include <limits>

#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_select.cuh>

namespace ferry::inline FERRY_ABI::detail::cuda {
// An iterator over the integers from `at` on.
struct index_iterator {
  using value_type = std::int64_t;
  using difference_type = std::int64_t;
  using pointer = const std::int64_t*;
  using reference = std::int64_t;
  using iterator_category = std::random_access_iterator_tag;

  __host__ __device__ std::int64_t operator*() const { return at; }
  __host__ __device__ std::int64_t operator[](std::int64_t k) const { return at + k; }
  __host__ __device__ index_iterator operator+(std::int64_t k) const { return {at + k}; }
  __host__ __device__ index_iterator& operator+=(std::int64_t k) {
    at += k;
    return *this;
  }
  __host__ __device__ index_iterator& operator++() { return *this += 1; }
  __host__ __device__ std::int64_t operator-(const index_iterator& o) const { return at - o.at; }
  __host__ __device__ bool operator==(const index_iterator& o) const { return at == o.at; }
  __host__ __device__ bool operator!=(const index_iterator& o) const { return at != o.at; }

  std::int64_t at = 0;
};

namespace {

struct is_selected {
  index_filter filter;
  template <class U>
  __device__ bool is_new(std::int64_t i) const {
    const U* const keys = static_cast<const U*>(filter.data);
    return i == 0 || keys[i] != keys[i - 1];
  }
  __device__ bool operator()(std::int64_t i) const {
    switch (filter.key_bytes) {
      case 0: return static_cast<const std::uint8_t*>(filter.data)[i] != 0;
      case 1: return is_new<std::uint8_t>(i);
      case 2: return is_new<std::uint16_t>(i);
      case 4: return is_new<std::uint32_t>(i);
      default: return is_new<std::uint64_t>(i);
    }
  }
};

template <class K>
cub::DoubleBuffer<K> double_buffer(const buffer_pair& b) {
  return {static_cast<K*>(b.now), static_cast<K*>(b.other)};
}
template <class K>
void take(buffer_pair& b, cub::DoubleBuffer<K>& d) {
  b.now = d.Current(), b.other = d.Alternate();
}

template <class K>
cudaError_t sort_keys_of(void* scratch, std::size_t& bytes, buffer_pair& keys, std::uint64_t n, cudaStream_t s) {
  auto k = double_buffer<K>(keys);
  const cudaError_t r = cub::DeviceRadixSort::SortKeys(scratch, bytes, k, n, 0, static_cast<int>(8 * sizeof(K)), s);
  if (scratch) take(keys, k);
  return r;
}

template <class K>
cudaError_t sort_integers_of(void* scratch, std::size_t& bytes, const void* from, void* to, std::uint64_t n,
                             cudaStream_t s) {
  return cub::DeviceRadixSort::SortKeys(scratch, bytes, static_cast<const K*>(from), static_cast<K*>(to),
                                        static_cast<std::uint32_t>(n), 0, static_cast<int>(8 * sizeof(K)), s);
}

template <class K, class V>
cudaError_t sort_pairs_of(void* scratch, std::size_t& bytes, buffer_pair& keys, buffer_pair& values, std::uint64_t n,
                          int bits, cudaStream_t s) {
  auto k = double_buffer<K>(keys);
  auto v = double_buffer<V>(values);
  const cudaError_t r = cub::DeviceRadixSort::SortPairs(scratch, bytes, k, v, n, 0, bits, s);
  if (scratch) take(keys, k), take(values, v);
  return r;
}

}  // namespace

cudaError_t cub_sort_keys(void* scratch, std::size_t& bytes, buffer_pair& keys, std::size_t key_bytes, std::uint64_t n,
                          cudaStream_t s) {
  switch (key_bytes) {
    case 1: return sort_keys_of<std::uint8_t>(scratch, bytes, keys, n, s);
    case 2: return sort_keys_of<std::uint16_t>(scratch, bytes, keys, n, s);
    case 4: return sort_keys_of<std::uint32_t>(scratch, bytes, keys, n, s);
    default: return sort_keys_of<std::uint64_t>(scratch, bytes, keys, n, s);
  }
}

cudaError_t cub_sort_integers(void* scratch, std::size_t& bytes, const void* from, void* to, std::size_t key_bytes,
                              bool is_signed, std::uint64_t n, cudaStream_t s) {
  if (key_bytes == 4)
    return is_signed ? sort_integers_of<std::int32_t>(scratch, bytes, from, to, n, s)
                     : sort_integers_of<std::uint32_t>(scratch, bytes, from, to, n, s);
  return is_signed ? sort_integers_of<std::int64_t>(scratch, bytes, from, to, n, s)
                   : sort_integers_of<std::uint64_t>(scratch, bytes, from, to, n, s);
}

cudaError_t cub_sort_pairs(void* scratch, std::size_t& bytes, buffer_pair& keys, std::size_t key_bytes,
                           buffer_pair& values, std::size_t value_bytes, std::uint64_t n, int bits, cudaStream_t s) {
  if (key_bytes == 4)
    return value_bytes == 4 ? sort_pairs_of<std::uint32_t, std::uint32_t>(scratch, bytes, keys, values, n, bits, s)
                            : sort_pairs_of<std::uint32_t, std::uint64_t>(scratch, bytes, keys, values, n, bits, s);
  return value_bytes == 4 ? sort_pairs_of<std::uint64_t, std::uint32_t>(scratch, bytes, keys, values, n, bits, s)
                          : sort_pairs_of<std::uint64_t, std::uint64_t>(scratch, bytes, keys, values, n, bits, s);
}

cudaError_t cub_select_indices(void* scratch, std::size_t& bytes, const index_filter& filter, std::int64_t* to,
                               std::uint64_t* found, std::uint64_t n, cudaStream_t s) {
#if CUB_VERSION < 300000
  if (n > static_cast<std::uint64_t>(std::numeric_limits<int>::max())) return cudaErrorNotSupported;
  const int count = static_cast<int>(n);
#else
  const auto count = static_cast<std::int64_t>(n);
#endif
  return cub::DeviceSelect::If(scratch, bytes, index_iterator(), to, found, count, is_selected{filter}, s);
}

}  // namespace ferry::inline FERRY_ABI::detail::cuda
