// Shared memory of the tile kernel, and the elements of each thread.
#pragma once
#include <cuda_runtime.h>

#include "cuda/jit/interpreter_functions.hpp"
#include "cuda/jit/tile_program.hpp"

namespace ferry::inline FERRY_ABI::detail::cuda {
namespace interpreter {

template <class T>
constexpr unsigned lanes_of = chunk_bytes / sizeof(T);
template <class T>
constexpr scalar_type type_of = sizeof(T) == 4 ? scalar_type::float32 : scalar_type::float64;

template <class T>
union chunk {
  __device__ chunk() {}
  uint4 bits;
  T v[lanes_of<T>];
};

extern __shared__ uint4 tile_memory[];  // the slots

// Chunks of shared memory, by 32-bit addresses: the compiler would read special registers for each generic address.
__device__ __forceinline__ uint4 get_chunk(unsigned at) {
  uint4 x;
  asm volatile("ld.shared.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(x.x), "=r"(x.y), "=r"(x.z), "=r"(x.w)
               : "r"(at)
               : "memory");
  return x;
}
__device__ __forceinline__ void put_chunk(unsigned at, uint4 x) {
  asm volatile("st.shared.v4.u32 [%0], {%1, %2, %3, %4};" ::"r"(at), "r"(x.x), "r"(x.y), "r"(x.z), "r"(x.w) : "memory");
}
// Copies Bytes bytes to shared memory: asynchronously, where the architecture can.
template <unsigned Bytes>
__device__ __forceinline__ void copy_async(unsigned to, const void* from) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
  if constexpr (Bytes == 16)
    put_chunk(to, *static_cast<const uint4*>(from));
  else if constexpr (Bytes == 8)
    asm volatile("st.shared.u64 [%0], %1;" ::"r"(to), "l"(*static_cast<const unsigned long long*>(from)) : "memory");
  else
    asm volatile("st.shared.u32 [%0], %1;" ::"r"(to), "r"(*static_cast<const unsigned*>(from)) : "memory");
#else
  if constexpr (Bytes == 16)
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(from) : "memory");
  else
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(to), "l"(from), "n"(Bytes) : "memory");
#endif
}
__device__ __forceinline__ void wait_for_copies() {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
  asm volatile("cp.async.wait_all;" ::: "memory");
#endif
}
// Returns the address of shared memory. Opaque, so that it stays in a register.
__device__ __forceinline__ unsigned first_slot() {
  unsigned at = static_cast<unsigned>(__cvta_generic_to_shared(tile_memory));
  asm volatile("mov.u32 %0, %0;" : "+r"(at));
  return at;
}

// Threads that compute 8 adjacent rows of a tile are on different banks.
__device__ __forceinline__ unsigned swizzled(unsigned thread) { return thread ^ (thread / tile_width % 8); }

// A thread of a block: the address of its first chunk in slot 0, and the distance of its chunks.
struct tile_thread {
  unsigned slots, next;
};

// The elements of one chunk: `lanes` along axis 0 from index at[0]. Axes: the rank, or max_rank.
template <unsigned Axes>
struct elements {
  unsigned at[Axes];
  unsigned lanes;
};
// Divides a position into digits.
template <unsigned Axes>
__device__ __forceinline__ elements<Axes> digits_of(const tile_program& p, unsigned position) {
  elements<Axes> e;
#pragma unroll
  for (unsigned d = 0; d < Axes; ++d) {
    const bool is_last = Axes == max_rank ? d + 1 >= p.rank : d + 1 == Axes;
    const unsigned rest = is_last ? 0 : static_cast<unsigned long long>(position) * p.factor[d] >> p.shift[d];
    e.at[d] = is_last ? position : position - rest * p.digits[d];
    position = rest;
  }
  return e;
}
template <class T, unsigned Axes>
__device__ __forceinline__ void limit_lanes(const tile_program& p, elements<Axes>& e, bool is_inside) {
  e.lanes = is_inside && e.at[0] < p.row ? min(p.row - e.at[0], lanes_of<T>) : 0;
}
template <class T, unsigned Axes>
__device__ __forceinline__ elements<Axes> locate(const tile_program& p, unsigned u) {
  const unsigned position = (blockIdx.x * tile_chunks + u) * blockDim.x + threadIdx.x;
  elements<Axes> e = digits_of<Axes>(p, position);
  e.at[0] *= lanes_of<T>;
  limit_lanes<T>(p, e, position < p.positions);
  return e;
}
// Returns 1 for the axis of tiles, and 0 for others. No comparison of d, which the compiler would turn into an array in
// local memory.
template <unsigned Axes>
__device__ __forceinline__ unsigned is_tiled(const tile_program& p, unsigned d) {
  return Axes == 2 ? d : p.is_tiled[d];
}
// Returns the indices of the first element of the tile of this block.
template <class T, unsigned Axes>
__device__ __forceinline__ elements<Axes> locate_tile(const tile_program& p) {
  elements<Axes> e = digits_of<Axes>(p, blockIdx.x);
  e.at[0] *= tile_width * lanes_of<T>;
#pragma unroll
  for (unsigned d = 1; d < Axes; ++d) e.at[d] *= 1 + (tile_height - 1) * is_tiled<Axes>(p, d);
  return e;
}
// Moves along the tile's axis. Returns false if that is behind the end.
template <unsigned Axes>
__device__ __forceinline__ bool advance(const tile_program& p, elements<Axes>& e, unsigned rows) {
  bool is_inside = true;
#pragma unroll
  for (unsigned d = 1; d < Axes; ++d) {
    e.at[d] += rows * is_tiled<Axes>(p, d);
    if (Axes == 2 || d < p.rank) is_inside = is_inside && e.at[d] < p.extent[d];
  }
  return is_inside;
}
// Returns the elements of a thread in the tile.
template <class T, unsigned Axes>
__device__ __forceinline__ elements<Axes> locate_in_tile(const tile_program& p, const elements<Axes>& tile,
                                                         unsigned u) {
  elements<Axes> e = tile;
  e.at[0] += threadIdx.x % tile_width * lanes_of<T>;
  limit_lanes<T>(p, e, advance(p, e, u * (tile_threads / tile_width) + threadIdx.x / tile_width));
  return e;
}
template <unsigned Axes>
__device__ __forceinline__ char* address(const tile_program& p, const tile_access& a, const elements<Axes>& e) {
  char* at = a.data;
#pragma unroll
  for (unsigned d = 0; d < Axes; ++d)
    if (Axes != max_rank || d < p.rank) at += static_cast<long long>(static_cast<int>(e.at[d])) * a.stride[d];
  return at;
}
template <class T, unsigned Axes, unsigned Chunks>
__device__ __forceinline__ bool are_whole(const elements<Axes> (&e)[Chunks]) {
  bool all = true;
#pragma unroll
  for (unsigned u = 0; u < Chunks; ++u) all = all && e[u].lanes == lanes_of<T>;
  return all;
}

}  // namespace interpreter
}  // namespace ferry::inline FERRY_ABI::detail::cuda
