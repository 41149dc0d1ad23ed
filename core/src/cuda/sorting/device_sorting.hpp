// A sorting task on a CUDA device: a sequence of CUB's algorithms and kernels on one stream.
#pragma once
#include <bit>
#include <cstddef>
#include <cstdint>

#include <cuda_runtime_api.h>

#include "cuda/sorting/cub_calls.hpp"
#include "cuda/sorting/sorting_kernels.hpp"
#include "ferry/core/detail/operations/sorting_task.hpp"
#include "ferry/version.hpp"

namespace ferry::inline FERRY_ABI::detail::cuda {

// The sequence depends on the task alone. It is walked twice: first to find its scratch memory, then to run it. Steps
// are in stream order, and none blocks. The stream's device must be current.
class device_sorting {
 public:
  // blocks: the most blocks of a grid.
  device_sorting(const sorting_task& t, unsigned blocks) : t_(t), grid_{blocks, nullptr} {}
  // Bytes of scratch memory, unless this fails.
  cudaError_t measure(std::size_t& bytes);
  // Runs the task in its scratch memory.
  cudaError_t run(cudaStream_t s);

 private:
  cudaError_t walk();
  cudaError_t sort_rows();
  cudaError_t sort_one_row(const std::byte* from, std::byte* to, std::uint64_t n);
  cudaError_t sort_short_rows();
  cudaError_t order_rows();
  cudaError_t find_unique();
  cudaError_t select();

  bool is_running() const { return t_.scratch != nullptr; }
  // The next bytes of scratch memory, 256-byte aligned; null while measuring.
  void* take(std::size_t bytes);
  buffer_pair take_pair(std::size_t bytes);
  // Calls f(memory, size) of CUB: with null for its size, then with that much scratch memory.
  template <class F>
  cudaError_t with_scratch(F f);
  // Runs a step unless measuring.
  template <class F>
  cudaError_t step(F f) {
    return is_running() ? f() : cudaSuccess;
  }
  std::size_t number_bytes() const { return t_.count() >> 32 == 0 ? 4 : 8; }
  int row_bits() const { return static_cast<int>(std::bit_width(t_.rows - 1)); }
  key_mapping mapping(bool is_merged, bool is_wide) const;

  sorting_task t_;
  grid grid_;
  std::size_t used_ = 0, most_ = 0;
};

}  // namespace ferry::inline FERRY_ABI::detail::cuda
