#include "halos/box_copies.hpp"

#include <cuda_runtime.h>

#include <algorithm>
#include <string>

#include "ferry/core/error.hpp"
#include "ferry/core/runtime.hpp"

namespace ferry::inline FERRY_ABI::detail::cuda {
namespace {

constexpr unsigned threads = 256, most_blocks = 64;  // of one box: few enough to leave multiprocessors for other work
constexpr std::size_t most_boxes = 16;               // of one launch, whose parameters they are

struct box_list {
  detail::box_copy box[most_boxes];
};

template <class Word, class Index>
__device__ void copy_words(const detail::box_copy& b) {
  const Index words = static_cast<Index>(b.words), step = static_cast<Index>(gridDim.x) * threads;
  for (Index i = static_cast<Index>(blockIdx.x) * threads + threadIdx.x; i < words; i += step) {
    std::ptrdiff_t to = 0, from = 0;
    Index rest = i;
    for (unsigned d = 0; d < b.rank; ++d) {
      Index at = rest;
      if (d + 1 < b.rank) {
        rest /= static_cast<Index>(b.extent[d]);
        at -= rest * static_cast<Index>(b.extent[d]);
      }
      to += static_cast<std::ptrdiff_t>(at) * b.to_stride[d];
      from += static_cast<std::ptrdiff_t>(at) * b.from_stride[d];
    }
    *reinterpret_cast<Word*>(b.to + to) = *reinterpret_cast<const Word*>(b.from + from);
  }
}

template <class Index>
__global__ void __launch_bounds__(threads) copy_all(const __grid_constant__ box_list all) {
  const detail::box_copy& b = all.box[blockIdx.y];
  switch (b.word) {
    case 1: return copy_words<unsigned char, Index>(b);
    case 2: return copy_words<unsigned short, Index>(b);
    case 4: return copy_words<unsigned int, Index>(b);
    case 8: return copy_words<unsigned long long, Index>(b);
    default: return copy_words<uint4, Index>(b);
  }
}

}  // namespace

void launch_box_copies(native_stream s, int device, std::span<const detail::box_copy> boxes) {
  runtime& m = runtime::current();
  const int before = m.backend().exchange_current_device(device);
  for (std::size_t first = 0; first < boxes.size(); first += most_boxes) {
    const auto some = boxes.subspan(first, std::min(most_boxes, boxes.size() - first));
    box_list list;
    std::size_t most = 0;
    for (std::size_t i = 0; i < some.size(); ++i) list.box[i] = some[i], most = std::max(most, some[i].words);
    const dim3 grid(static_cast<unsigned>(std::clamp<std::size_t>((most + threads - 1) / threads, 1, most_blocks)),
                    static_cast<unsigned>(some.size()));
    const auto stream = static_cast<cudaStream_t>(s.handle);
    if (most < (std::size_t{1} << 31))
      copy_all<std::uint32_t><<<grid, threads, 0, stream>>>(list);
    else
      copy_all<std::uint64_t><<<grid, threads, 0, stream>>>(list);
  }
  m.backend().exchange_current_device(before);
  m.backend().check_launch(s, "halo exchange");
}

}  // namespace ferry::inline FERRY_ABI::detail::cuda
