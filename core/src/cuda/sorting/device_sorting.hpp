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

// The sequence depends on the task alone. It is executed twice: first to find the size of its scratch memory, then to
// enqueue its steps. They are in stream order, and none blocks. The stream's device must be current.
class device_sorting {
 public:
  // blocks: the greatest number of blocks of a grid.
  device_sorting(const sorting_task& t, unsigned blocks) : t_(t), grid_{blocks, nullptr} {}
  // Sets `bytes` to the size of the scratch memory.
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
  // Returns the next bytes of scratch memory, aligned to 256 bytes; null while measuring.
  void* take(std::size_t bytes);
  buffer_pair take_pair(std::size_t bytes);
  // Calls CUB's f(memory, size) twice: with null, which sets the size, then with scratch memory of that size.
  template <class F>
  cudaError_t with_scratch(F f);
  // Enqueues a step, except while measuring.
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
