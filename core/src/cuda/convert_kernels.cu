#include "convert_kernels.hpp"

#include <algorithm>

namespace ferry::inline FERRY_ABI::detail::cuda {
namespace {

constexpr unsigned threads = 256;

// Dimensions fastest first; strides in bytes.
struct convert_walk {
  int rank;
  std::uint64_t extent[max_rank];
  std::ptrdiff_t to[max_rank], from[max_rank];
};

template <class To, class From>
__global__ void __launch_bounds__(threads)
    convert_numbers(std::byte* to, const std::byte* from, convert_walk w, std::uint64_t count) {
  const std::uint64_t step = std::uint64_t{gridDim.x} * threads;
  for (std::uint64_t i = std::uint64_t{blockIdx.x} * threads + threadIdx.x; i < count; i += step) {
    std::ptrdiff_t at_to = 0, at_from = 0;
    std::uint64_t rest = i;
#pragma unroll
    for (int d = 0; d < static_cast<int>(max_rank); ++d) {
      if (d >= w.rank) break;
      std::uint64_t at = rest;
      if (d + 1 < w.rank) {
        rest /= w.extent[d];
        at -= rest * w.extent[d];
      }
      at_to += static_cast<std::ptrdiff_t>(at) * w.to[d];
      at_from += static_cast<std::ptrdiff_t>(at) * w.from[d];
    }
    *reinterpret_cast<To*>(to + at_to) = static_cast<To>(*reinterpret_cast<const From*>(from + at_from));
  }
}

// True if dimension d continues dimension d - 1 (the next slower) on both sides.
bool continues(const strided_bytes& to, const strided_bytes& from, const strided_shape& shape, std::size_t d) {
  const auto n = static_cast<std::ptrdiff_t>(shape.extent[d]);
  return to.stride_bytes[d - 1] == n * to.stride_bytes[d] && from.stride_bytes[d - 1] == n * from.stride_bytes[d];
}

convert_walk make_walk(const strided_bytes& to, const strided_bytes& from, const strided_shape& shape) {
  convert_walk w{};
  for (std::size_t d = shape.rank; d-- > 0;) {
    if (d + 1 < shape.rank && continues(to, from, shape, d + 1)) {
      w.extent[w.rank - 1] *= shape.extent[d];
      continue;
    }
    w.extent[w.rank] = shape.extent[d];
    w.to[w.rank] = to.stride_bytes[d];
    w.from[w.rank++] = from.stride_bytes[d];
  }
  return w;
}

}  // namespace

cudaError_t launch_strided_convert(const strided_bytes& to, number_type to_type, const strided_bytes& from,
                                   number_type from_type, const strided_shape& shape, unsigned most_blocks,
                                   cudaStream_t s) {
  std::uint64_t count = 1;
  for (std::size_t d = 0; d < shape.rank; ++d) count *= shape.extent[d];
  if (count == 0) return cudaSuccess;
  const convert_walk w = make_walk(to, from, shape);
  const auto blocks = static_cast<unsigned>(std::min<std::uint64_t>((count + threads - 1) / threads, most_blocks));
  with_number(to_type, [&](auto t) {
    with_number(from_type, [&](auto f) {
      convert_numbers<decltype(t), decltype(f)><<<blocks, threads, 0, s>>>(to.base, from.base, w, count);
    });
  });
  return cudaGetLastError();
}

}  // namespace ferry::inline FERRY_ABI::detail::cuda
