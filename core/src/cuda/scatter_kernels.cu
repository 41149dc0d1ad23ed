#include "scatter_kernels.hpp"

#include <algorithm>
#include <cstdio>

#include <cuda_bf16.h>
#include <cuda_fp16.h>

namespace ferry::inline FERRY_ABI::detail::cuda {
namespace {

constexpr unsigned scatter_threads = 256;

template <class Part, int Parts>
struct store_element {
  __device__ void operator()(std::byte* to, const std::byte* value) const {
#pragma unroll
    for (int p = 0; p < Parts; ++p) reinterpret_cast<Part*>(to)[p] = reinterpret_cast<const Part*>(value)[p];
  }
};

// One word, in one access.
template <class Word>
struct store_word {
  __device__ void operator()(std::byte* to, const std::byte* value) const {
    *reinterpret_cast<Word*>(to) = *reinterpret_cast<const Word*>(value);
  }
};

// Adds numbers for which there are atomic additions.
template <class T, int Parts>
struct add_words {
  __device__ void operator()(std::byte* to, const std::byte* value) const {
#pragma unroll
    for (int p = 0; p < Parts; ++p) atomicAdd(reinterpret_cast<T*>(to) + p, reinterpret_cast<const T*>(value)[p]);
  }
};

// Adds a number of 1 or 2 bytes by exchanging the aligned word that contains it. The word's other bytes keep their
// values, and a store to them in between makes the exchange fail.
template <class Bits, class Sum>
struct add_in_word {
  __device__ void operator()(std::byte* to, const std::byte* value) const {
    const auto address = reinterpret_cast<std::uintptr_t>(to);
    auto* const word = reinterpret_cast<unsigned*>(address & ~std::uintptr_t{3});
    const unsigned shift = static_cast<unsigned>(address & 3) * 8;
    const unsigned mask = ((1u << (8 * sizeof(Bits))) - 1u) << shift;
    const Bits by = *reinterpret_cast<const Bits*>(value);
    unsigned now = *reinterpret_cast<volatile unsigned*>(word), expected = 0;
    do {
      expected = now;
      const Bits sum = Sum()(static_cast<Bits>(expected >> shift), by);
      now = atomicCAS(word, expected, (expected & ~mask) | (static_cast<unsigned>(sum) << shift));
    } while (now != expected);
  }
};
template <class Bits>
struct integer_sum {
  __device__ Bits operator()(Bits a, Bits b) const { return static_cast<Bits>(a + b); }
};
struct half_sum {
  __device__ std::uint16_t operator()(std::uint16_t a, std::uint16_t b) const {
    return __half_as_ushort(__float2half_rn(__half2float(__ushort_as_half(a)) + __half2float(__ushort_as_half(b))));
  }
};
struct bfloat16_sum {
  __device__ std::uint16_t operator()(std::uint16_t a, std::uint16_t b) const {
    return __bfloat16_as_ushort(
        __float2bfloat16_rn(__bfloat162float(__ushort_as_bfloat16(a)) + __bfloat162float(__ushort_as_bfloat16(b))));
  }
};

template <class Apply>
__global__ void __launch_bounds__(scatter_threads)
    scatter_values(const __grid_constant__ scatter_task t, unsigned size, bool check_indices, Apply apply) {
  const std::size_t step = std::size_t{gridDim.x} * scatter_threads;
  for (std::size_t k = std::size_t{blockIdx.x} * scatter_threads + threadIdx.x; k < t.count; k += step) {
    std::ptrdiff_t offset = 0;
    std::int64_t i = 0;
    if (t.place(k, offset, i)) {
      apply(t.to + offset, t.values + k * size);
    } else if (check_indices) {
      printf("ferry: index %lld is outside of an axis of extent %lld, thread %u of block %u\n",
             static_cast<long long>(i), static_cast<long long>(t.indexed), threadIdx.x, blockIdx.x);
      __trap();
    }
  }
}

struct launcher {
  const scatter_task& t;
  bool check_indices;
  unsigned most_blocks;
  cudaStream_t stream;
  template <class Apply>
  cudaError_t operator()(Apply apply) const {
    const std::size_t wanted = (t.count + scatter_threads - 1) / scatter_threads;
    const auto blocks = static_cast<unsigned>(std::min<std::size_t>(wanted, std::max(1u, most_blocks)));
    scatter_values<<<blocks, scatter_threads, 0, stream>>>(t, static_cast<unsigned>(size_of(t.type)), check_indices,
                                                           apply);
    return cudaGetLastError();
  }
};

// True if every element and every value is aligned to its size.
bool is_aligned(const scatter_task& t) {
  std::size_t bits = reinterpret_cast<std::uintptr_t>(t.to) | reinterpret_cast<std::uintptr_t>(t.values);
  for (std::size_t d = 0; d != t.rank; ++d) bits |= static_cast<std::size_t>(t.stride_bytes[d]);
  return bits % size_of(t.type) == 0;
}

cudaError_t store_values(const scatter_task& t, const launcher& launch) {
  switch (size_of(t.type)) {
    case 1: return launch(store_word<std::uint8_t>());
    case 2: return launch(store_word<std::uint16_t>());
    case 4: return launch(store_word<std::uint32_t>());
    case 8: return is_aligned(t) ? launch(store_word<std::uint64_t>()) : launch(store_element<std::uint32_t, 2>());
    default: return is_aligned(t) ? launch(store_word<uint4>()) : launch(store_element<std::uint64_t, 2>());
  }
}

cudaError_t add_values(scalar_type type, const launcher& launch) {
  switch (type) {
    case scalar_type::int8:
    case scalar_type::uint8: return launch(add_in_word<std::uint8_t, integer_sum<std::uint8_t>>());
    case scalar_type::int16:
    case scalar_type::uint16: return launch(add_in_word<std::uint16_t, integer_sum<std::uint16_t>>());
    case scalar_type::half: return launch(add_in_word<std::uint16_t, half_sum>());
    case scalar_type::bfloat16: return launch(add_in_word<std::uint16_t, bfloat16_sum>());
    case scalar_type::int32:
    case scalar_type::uint32: return launch(add_words<unsigned, 1>());
    case scalar_type::int64:
    case scalar_type::uint64: return launch(add_words<unsigned long long, 1>());
    case scalar_type::float32: return launch(add_words<float, 1>());
    case scalar_type::float64: return launch(add_words<double, 1>());
    case scalar_type::complex64: return launch(add_words<float, 2>());
    case scalar_type::complex128: return launch(add_words<double, 2>());
    default: return cudaErrorNotSupported;
  }
}

}  // namespace

cudaError_t launch_scatter(const scatter_task& t, bool check_indices, unsigned most_blocks, cudaStream_t s) {
  const launcher launch{t, check_indices, most_blocks, s};
  return t.is_sum ? add_values(t.type, launch) : store_values(t, launch);
}

}  // namespace ferry::inline FERRY_ABI::detail::cuda
