#include "transport/ordered_keys.hpp"

#include <cuda_runtime.h>

#include <algorithm>

#include "ferry/core/runtime.hpp"

namespace ferry::inline FERRY_ABI::detail::cuda {
namespace {

constexpr unsigned threads = 256, most_blocks = 4096;

template <class Format>
__global__ void __launch_bounds__(threads)
    to_keys(const typename Format::bits* from, typename Format::key* to, std::size_t count, typename Format::key nan) {
  const std::size_t step = std::size_t{gridDim.x} * threads;
  for (std::size_t i = std::size_t{blockIdx.x} * threads + threadIdx.x; i < count; i += step)
    to[i] = Format::to_key(from[i], nan);
}

template <class Format>
__global__ void __launch_bounds__(threads)
    from_keys(const typename Format::key* from, typename Format::bits* to, std::size_t count) {
  const std::size_t step = std::size_t{gridDim.x} * threads;
  for (std::size_t i = std::size_t{blockIdx.x} * threads + threadIdx.x; i < count; i += step)
    to[i] = Format::from_key(from[i]);
}

}  // namespace

void launch_key_conversion(native_stream s, int device, const detail::key_conversion& c) {
  runtime& m = runtime::current();
  const int before = m.backend().exchange_current_device(device);
  const auto blocks = static_cast<unsigned>(std::clamp<std::size_t>((c.count + threads - 1) / threads, 1, most_blocks));
  const auto stream = static_cast<cudaStream_t>(s.handle);
  detail::with_float_format(c.type, [&]<class Format>(Format) {
    using bits = typename Format::bits;
    using key = typename Format::key;
    if (c.to_keys)
      to_keys<Format><<<blocks, threads, 0, stream>>>(
          reinterpret_cast<const bits*>(c.from), reinterpret_cast<key*>(c.to), c.count,
          detail::is_least(c.op) == detail::ignores_nan(c.op) ? Format::highest : Format::lowest);
    else
      from_keys<Format><<<blocks, threads, 0, stream>>>(reinterpret_cast<const key*>(c.from),
                                                        reinterpret_cast<bits*>(c.to), c.count);
  });
  m.backend().exchange_current_device(before);
  m.backend().check_launch(s, "floats as integers");
}

}  // namespace ferry::inline FERRY_ABI::detail::cuda
