#include "strided_kernels.hpp"

#include <algorithm>
#include <cstring>
#include <type_traits>

namespace ferry::inline FERRY_ABI::detail::cuda {

namespace {

constexpr unsigned threads = 256;

// A plan in the form that kernels use, with dimensions fastest first: the loop below then ends at the slowest, which
// needs no division.
template <class Index>
struct walk {
  int rank;
  Index extent[plan_rank];
  std::ptrdiff_t to[plan_rank], from[plan_rank];
};

template <class Index>
walk<Index> make_walk(const strided_plan& p) {
  walk<Index> w{};
  w.rank = static_cast<int>(p.rank);
  for (std::size_t d = 0; d < p.rank; ++d) {
    w.extent[d] = static_cast<Index>(p.extent[p.rank - 1 - d]);
    w.to[d] = p.to_stride[p.rank - 1 - d];
    w.from[d] = p.from_stride[p.rank - 1 - d];
  }
  return w;
}

// Computes the offsets of word i on both sides. Returns its index within the innermost dimension.
template <class Index>
__device__ Index locate(const walk<Index>& w, Index i, std::ptrdiff_t& to, std::ptrdiff_t& from) {
  to = from = 0;
  Index innermost = 0;
#pragma unroll
  for (int d = 0; d < static_cast<int>(plan_rank); ++d) {
    if (d >= w.rank) break;
    Index at = i;
    if (d + 1 < w.rank) {
      i /= w.extent[d];
      at -= i * w.extent[d];
    }
    if (d == 0) innermost = at;
    to += static_cast<std::ptrdiff_t>(at) * w.to[d];
    from += static_cast<std::ptrdiff_t>(at) * w.from[d];
  }
  return innermost;
}

template <class Word, class Index>
__global__ void __launch_bounds__(threads)
    copy_words(std::byte* to, const std::byte* from, walk<Index> w, Index words) {
  const Index step = static_cast<Index>(gridDim.x) * threads;
  for (Index i = static_cast<Index>(blockIdx.x) * threads + threadIdx.x; i < words; i += step) {
    std::ptrdiff_t at_to, at_from;
    locate(w, i, at_to, at_from);
    *reinterpret_cast<Word*>(to + at_to) = *reinterpret_cast<const Word*>(from + at_from);
  }
}

constexpr int tile = 32, tile_rows = threads / tile;

// One plane of a transposition: `a` is the source's contiguous dimension, `b` the target's.
struct plane {
  std::uint64_t a, b, a_tiles, b_tiles;
  std::ptrdiff_t to_a, to_b, from_a, from_b;
};

// Reads along a and writes along b, so that both sides transfer whole lines. The padding column avoids bank conflicts
// (NVIDIA, "An Efficient Matrix Transpose in CUDA C/C++").
template <class Word>
__global__ void __launch_bounds__(threads)
    copy_tiles(std::byte* to, const std::byte* from, plane p, walk<std::uint64_t> others, std::uint64_t tiles) {
  __shared__ Word held[tile][tile + 1];
  const unsigned x = threadIdx.x % tile, y = threadIdx.x / tile;
  for (std::uint64_t t = blockIdx.x; t < tiles; t += gridDim.x) {
    const std::uint64_t b0 = t % p.b_tiles * tile, a0 = t / p.b_tiles % p.a_tiles * tile;
    std::ptrdiff_t at_to, at_from;
    locate(others, t / p.b_tiles / p.a_tiles, at_to, at_from);
#pragma unroll
    for (unsigned j = y; j < tile; j += tile_rows)
      if (a0 + x < p.a && b0 + j < p.b)
        held[j][x] = *reinterpret_cast<const Word*>(from + at_from + static_cast<std::ptrdiff_t>(a0 + x) * p.from_a +
                                                    static_cast<std::ptrdiff_t>(b0 + j) * p.from_b);
    __syncthreads();
#pragma unroll
    for (unsigned j = y; j < tile; j += tile_rows)
      if (a0 + j < p.a && b0 + x < p.b)
        *reinterpret_cast<Word*>(to + at_to + static_cast<std::ptrdiff_t>(a0 + j) * p.to_a +
                                 static_cast<std::ptrdiff_t>(b0 + x) * p.to_b) = held[x][j];
    __syncthreads();
  }
}

template <class Word>
struct fill_values {
  Word word[16 / sizeof(Word)];
};

template <class Word, class Index>
__global__ void __launch_bounds__(threads)
    fill_words(std::byte* to, walk<Index> w, Index words, fill_values<Word> values, unsigned period) {
  const Index step = static_cast<Index>(gridDim.x) * threads;
  for (Index i = static_cast<Index>(blockIdx.x) * threads + threadIdx.x; i < words; i += step) {
    std::ptrdiff_t at, unused;
    const Index run = locate(w, i, at, unused);
    *reinterpret_cast<Word*>(to + at) = period == 1 ? values.word[0] : values.word[run % period];
  }
}

// Calls f with a null pointer of the word type that is `bytes` wide and aligned.
template <class F>
void with_word(std::size_t bytes, F f) {
  switch (bytes) {
    case 1: return f(static_cast<unsigned char*>(nullptr));
    case 2: return f(static_cast<unsigned short*>(nullptr));
    case 4: return f(static_cast<unsigned int*>(nullptr));
    case 8: return f(static_cast<unsigned long long*>(nullptr));
    default: return f(static_cast<uint4*>(nullptr));
  }
}

// Division of 64-bit indices is several times slower, so small operations use 32 bits. Below 2^31 words the step past
// the end, less than one grid of 2^31 threads, cannot wrap around.
template <class F>
void with_index(std::size_t words, F f) {
  if (words < (std::size_t{1} << 31)) return f(std::uint32_t{});
  return f(std::uint64_t{});
}

unsigned blocks_for(std::size_t words, unsigned most_blocks) {
  const std::size_t wanted = (words + threads - 1) / threads;
  return static_cast<unsigned>(std::min<std::size_t>({wanted, most_blocks, (1u << 31) / threads}));
}

cudaError_t launch_tiles(const strided_plan& plan, std::size_t a, unsigned most_blocks, cudaStream_t s) {
  const std::size_t b = plan.rank - 1;
  const std::uint64_t a_tiles = (plan.extent[a] + tile - 1) / tile, b_tiles = (plan.extent[b] + tile - 1) / tile;
  const plane p{plan.extent[a],      plan.extent[b],     a_tiles, b_tiles, plan.to_stride[a], plan.to_stride[b],
                plan.from_stride[a], plan.from_stride[b]};
  strided_plan rest = plan;  // the dimensions outside the plane
  rest.rank = 0;
  std::uint64_t tiles = a_tiles * b_tiles;
  for (std::size_t d = 0; d < b; ++d) {
    if (d == a) continue;
    rest.extent[rest.rank] = plan.extent[d];
    rest.to_stride[rest.rank] = plan.to_stride[d];
    rest.from_stride[rest.rank++] = plan.from_stride[d];
    tiles *= plan.extent[d];
  }
  const auto blocks = static_cast<unsigned>(std::min<std::uint64_t>(tiles, most_blocks));
  with_word(plan.word, [&](auto* null) {
    using word = std::remove_pointer_t<decltype(null)>;
    copy_tiles<word><<<blocks, threads, 0, s>>>(plan.to, plan.from, p, make_walk<std::uint64_t>(rest), tiles);
  });
  return cudaGetLastError();
}

}  // namespace

cudaError_t launch_strided_copy(const strided_plan& plan, unsigned most_blocks, cudaStream_t s) {
  if (const std::size_t a = plan.source_run(); a < plan.rank) return launch_tiles(plan, a, most_blocks, s);
  with_word(plan.word, [&](auto* null) {
    using word = std::remove_pointer_t<decltype(null)>;
    with_index(plan.words, [&](auto zero) {
      using index = decltype(zero);
      copy_words<word, index><<<blocks_for(plan.words, most_blocks), threads, 0, s>>>(
          plan.to, plan.from, make_walk<index>(plan), static_cast<index>(plan.words));
    });
  });
  return cudaGetLastError();
}

cudaError_t launch_strided_fill(const fill_plan& plan, unsigned most_blocks, cudaStream_t s) {
  with_word(plan.where.word, [&](auto* null) {
    using word = std::remove_pointer_t<decltype(null)>;
    fill_values<word> values;
    std::memcpy(&values, plan.what.bytes.data(), sizeof values);
    with_index(plan.where.words, [&](auto zero) {
      using index = decltype(zero);
      fill_words<word, index><<<blocks_for(plan.where.words, most_blocks), threads, 0, s>>>(
          plan.where.to, make_walk<index>(plan.where), static_cast<index>(plan.where.words), values, plan.what.period);
    });
  });
  return cudaGetLastError();
}

}  // namespace ferry::inline FERRY_ABI::detail::cuda
