// The slots of the interpreting kernel: values of a thread's lanes in the shared memory of its block.
#pragma once
#include <cuda_runtime.h>

#include "cuda/jit/interpreter_program.hpp"

namespace ferry::inline FERRY_ABI::detail::cuda {
namespace interpreter {

extern __shared__ uint4 block_memory[];  // the program, then the slots

// The lanes of a thread: their slots, and their indices.
struct place {
  unsigned slots;    // index of its first chunk in block_memory
  unsigned threads;  // distance between its chunks
  unsigned chunks;
  unsigned lanes;                   // number of lanes with elements
  unsigned long long at[max_rank];  // index of the first lane along each axis
};

// The lanes of a slot: chunks of 16 bytes, `threads` apart.
template <class T>
struct quad {
  T v[interpreter_lanes];
};
template <class T>
constexpr unsigned chunks_of = sizeof(T) * interpreter_lanes <= 16 ? 1u : sizeof(T) * interpreter_lanes / 16;

template <class T>
union packed {
  __device__ packed() {}
  uint4 chunk[chunks_of<T>];
  quad<T> lanes;
};
template <class T>
__device__ __forceinline__ quad<T> get(const place& p, unsigned slot) {
  packed<T> r;
  const unsigned first = p.slots + slot * p.chunks * p.threads;
  if constexpr (sizeof(T) == 1) {
    r.chunk[0].x = block_memory[first].x;
  } else if constexpr (sizeof(T) == 2) {
    *reinterpret_cast<uint2*>(&r.chunk[0]) = *reinterpret_cast<const uint2*>(&block_memory[first]);
  } else {
#pragma unroll
    for (unsigned c = 0; c < chunks_of<T>; ++c) r.chunk[c] = block_memory[first + c * p.threads];
  }
  return r.lanes;
}
template <class T>
__device__ __forceinline__ void put(const place& p, unsigned slot, const quad<T>& value) {
  packed<T> r;
  r.lanes = value;
  const unsigned first = p.slots + slot * p.chunks * p.threads;
  if constexpr (sizeof(T) == 1) {
    block_memory[first].x = r.chunk[0].x;
  } else if constexpr (sizeof(T) == 2) {
    *reinterpret_cast<uint2*>(&block_memory[first]) = *reinterpret_cast<const uint2*>(&r.chunk[0]);
  } else {
#pragma unroll
    for (unsigned c = 0; c < chunks_of<T>; ++c) block_memory[first + c * p.threads] = r.chunk[c];
  }
}

}  // namespace interpreter
}  // namespace ferry::inline FERRY_ABI::detail::cuda
