// The algorithms of CUB that sorting uses. Only cub_calls.cu includes CUB's sorting, which takes nvcc 13 s.
//
// If scratch is null, a function only sets scratch_bytes. The stream's device must be current, and n above 0.
#pragma once
#include <cstddef>
#include <cstdint>

#include <cuda_runtime_api.h>

#include "ferry/version.hpp"

namespace ferry::inline FERRY_ABI::detail::cuda {

// Two buffers of equal size: sorting reads `now`, overwrites both, and exchanges them so that `now` has the result.
struct buffer_pair {
  void* now = nullptr;
  void* other = nullptr;
};

// Sorts unsigned integers of 1, 2, 4 or 8 bytes.
cudaError_t cub_sort_keys(void* scratch, std::size_t& scratch_bytes, buffer_pair& keys, std::size_t key_bytes,
                          std::uint64_t n, cudaStream_t s);
// Sorts integers of 4 or 8 bytes to other memory. n is below 2^32.
cudaError_t cub_sort_integers(void* scratch, std::size_t& scratch_bytes, const void* from, void* to,
                              std::size_t key_bytes, bool is_signed, std::uint64_t n, cudaStream_t s);
// Sorts keys of 4 or 8 bytes, which are unsigned integers, with values of 4 or 8 bytes. Compares the lowest `bits`
// bits. Stable.
cudaError_t cub_sort_pairs(void* scratch, std::size_t& scratch_bytes, buffer_pair& keys, std::size_t key_bytes,
                           buffer_pair& values, std::size_t value_bytes, std::uint64_t n, int bits, cudaStream_t s);

// Selects some of the indices 0 to n - 1.
struct index_filter {
  const void* data = nullptr;
  int key_bytes = 0;  // 0: `data` are bool, and selects true ones; else keys, and selects those that differ from the
                      // one before
};
// Writes the selected indices in ascending order to `to`, which has room for n, and their number.
cudaError_t cub_select_indices(void* scratch, std::size_t& scratch_bytes, const index_filter& filter, std::int64_t* to,
                               std::uint64_t* found, std::uint64_t n, cudaStream_t s);

}  // namespace ferry::inline FERRY_ABI::detail::cuda
