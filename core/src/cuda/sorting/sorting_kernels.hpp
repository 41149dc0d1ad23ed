// The kernels around CUB's sorting: keys of elements and back, positions, search. Each function launches one kernel on
// a stream whose device is current, and returns its error. `blocks`: the greatest number of blocks of a grid.
#pragma once
#include <cstddef>
#include <cstdint>

#include <cuda_runtime_api.h>

#include "ferry/core/detail/operations/scalar_type.hpp"
#include "ferry/core/detail/operations/sorting_task.hpp"
#include "ferry/version.hpp"

namespace ferry::inline FERRY_ABI::detail::cuda {

struct grid {
  unsigned blocks;
  cudaStream_t stream;
};
// How elements are mapped to keys, as by sort_key. Keys have the size of the elements, or 4 bytes for smaller ones.
struct key_mapping {
  scalar_type type;
  bool is_descending, is_merged;
  std::size_t key_bytes;
};

cudaError_t make_keys(const grid& g, const key_mapping& m, const void* elements, void* keys, std::uint64_t n);
cudaError_t restore_elements(const grid& g, const key_mapping& m, const void* keys, void* elements, std::uint64_t n);
// Integers of 4 or 8 bytes: to[i] = i; to[i] = i / length, of 4 bytes; to[i] = from[i] / length, `to` of 4 bytes.
cudaError_t number_elements(const grid& g, void* to, std::size_t bytes, std::uint64_t n);
cudaError_t number_rows(const grid& g, std::uint32_t* to, std::uint64_t length, std::uint64_t n);
cudaError_t rows_of_numbers(const grid& g, const void* from, std::size_t bytes, std::uint32_t* to, std::uint64_t length,
                            std::uint64_t n);
// Stores the results of `order`: numbers of elements, of 4 or 8 bytes, in the order of rows and keys.
cudaError_t store_order(const grid& g, const sorting_task& t, const void* numbers, std::size_t bytes);
// Stores the results of `search`.
cudaError_t search_elements(const grid& g, const sorting_task& t);
// Stores the results of `unique`: keys in order, the index of the first of each value, and the number of values.
cudaError_t store_unique(const grid& g, const sorting_task& t, const key_mapping& m, const void* keys,
                         const std::int64_t* starts, const std::uint64_t* found);
// Sets inverse[numbers[i]] to the number of the run that contains index i. The runs begin at `starts`.
cudaError_t store_inverse(const grid& g, const sorting_task& t, const void* numbers, std::size_t bytes,
                          const std::int64_t* starts, const std::uint64_t* found);
// Stores the results of `select`: all selected indices, and their number.
cudaError_t store_selected(const grid& g, const sorting_task& t, const std::int64_t* indices,
                           const std::uint64_t* found);

}  // namespace ferry::inline FERRY_ABI::detail::cuda
