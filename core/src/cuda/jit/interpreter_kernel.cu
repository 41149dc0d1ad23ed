#include "cuda/jit/interpreter_kernel.hpp"

#include <algorithm>
#include <cstring>

#include "cuda/jit/interpreter_accesses.hpp"
#include "cuda/jit/interpreter_steps.hpp"

namespace ferry::inline FERRY_ABI::detail::cuda {
namespace interpreter {

template <class Index>
__device__ __forceinline__ void locate(place& p, const interpreter_header& h, Index at) {
#pragma unroll
  for (unsigned d = 0; d < max_rank; ++d) {
    p.at[d] = 0;
    if (d >= h.rank) continue;
    if (d + 1u == h.rank) {
      p.at[d] = at;
      continue;
    }
    const Index rest = at / static_cast<Index>(h.digits[d]);
    p.at[d] = at - rest * static_cast<Index>(h.digits[d]);
    at = rest;
  }
  p.at[0] *= interpreter_lanes;
  p.lanes = h.row - p.at[0] < interpreter_lanes ? static_cast<unsigned>(h.row - p.at[0]) : interpreter_lanes;
}

// Interprets the program that is in block_memory. Not inline: it is compiled once for all kernels.
__device__ __noinline__ void interpret_block() {
  const auto& h = *reinterpret_cast<const interpreter_header*>(block_memory);
  const auto* const constants = reinterpret_cast<const program_constant*>(&h + 1);
  const auto* const accesses = reinterpret_cast<const interpreter_access*>(constants + h.constants);
  const auto* const steps = reinterpret_cast<const interpreter_step*>(accesses + h.accesses);
  const unsigned count = h.steps, rank = h.rank;
  place p;
  p.threads = blockDim.x;
  p.chunks = h.chunks;
  p.slots = h.bytes / 16 + threadIdx.x;
  for (unsigned k = 0; k < h.first_step; ++k) run_constant(p, steps[k], &constants[steps[k].number]);
  const unsigned long long step = static_cast<unsigned long long>(gridDim.x) * blockDim.x;
  for (unsigned long long at = blockIdx.x * static_cast<unsigned long long>(blockDim.x) + threadIdx.x; at < h.positions;
       at += step) {
    if (h.is_narrow)
      locate(p, h, static_cast<unsigned>(at));
    else
      locate(p, h, at);
    for (unsigned k = h.first_step; k < count; ++k) {
      const interpreter_step s = steps[k];
      switch (s.what) {
#define FERRY_OPERATION(name, operands, domain, result, code) \
  case static_cast<std::uint8_t>(operation::name): run_typed<operation::name>(p, s); break;
        FERRY_OPERATIONS(FERRY_OPERATION)
#undef FERRY_OPERATION
        case static_cast<std::uint8_t>(operation::load): run_load(p, s, accesses[s.number], rank); break;
        case static_cast<std::uint8_t>(operation::index): run_index(p, s); break;
        case static_cast<std::uint8_t>(operation::cast): run_any_cast(p, s); break;
        case static_cast<std::uint8_t>(operation::round_to_half):
        case static_cast<std::uint8_t>(operation::round_to_bfloat16): run_rounding(p, s); break;
        case store_code: run_store(p, s, accesses[s.number], rank); break;
        default: break;
      }
    }
  }
}

constexpr unsigned most_threads = 256, blocks_of_multiprocessor = 6;

template <std::size_t Bytes>
struct alignas(16) parameters {
  uint4 words[Bytes / 16];
};
constexpr std::size_t small_bytes = 4080;
#if CUDART_VERSION >= 12010
constexpr std::size_t large_bytes = 32752;
#endif

template <std::size_t Bytes>
__global__ void __launch_bounds__(most_threads, blocks_of_multiprocessor)
    interpret_program(const __grid_constant__ parameters<Bytes> program) {
  const unsigned words = reinterpret_cast<const interpreter_header*>(&program)->bytes / 16;
  for (unsigned k = threadIdx.x; k < words; k += blockDim.x) block_memory[k] = program.words[k];
  __syncthreads();
  interpret_block();
}

template <std::size_t Bytes>
cudaError_t launch(const interpreter_program& p, int multiprocessors, cudaStream_t s) {
  const auto kernel = interpret_program<Bytes>;
  int device = 0, most = 0;
  if (const cudaError_t e = cudaGetDevice(&device)) return e;
  if (const cudaError_t e = cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, device)) return e;
  const unsigned threads = p.threads_for(static_cast<std::size_t>(most));
  if (threads == 0) return cudaErrorNotSupported;
  const std::size_t shared = p.shared_bytes(threads);
  if (shared > std::size_t{48} << 10)
    if (const cudaError_t e = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, most)) return e;
  parameters<Bytes> program;
  std::memcpy(&program, p.data(), p.size());
  const std::uint64_t needed = (p.header().positions + threads - 1) / threads;
  const std::uint64_t resident =
      static_cast<std::uint64_t>(multiprocessors) * 4 * blocks_of_multiprocessor * (most_threads / threads);
  kernel<<<static_cast<unsigned>(std::min(needed, resident)), threads, shared, s>>>(program);
  return cudaGetLastError();
}

}  // namespace interpreter

cudaError_t launch_interpreter(const interpreter_program& p, int multiprocessors, cudaStream_t s) {
  if (p.size() <= interpreter::small_bytes) return interpreter::launch<interpreter::small_bytes>(p, multiprocessors, s);
#if CUDART_VERSION >= 12010
  if (p.size() <= interpreter::large_bytes) return interpreter::launch<interpreter::large_bytes>(p, multiprocessors, s);
#endif
  return cudaErrorNotSupported;
}

}  // namespace ferry::inline FERRY_ABI::detail::cuda
