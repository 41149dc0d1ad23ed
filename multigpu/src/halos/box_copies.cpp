#include "halos/box_copies.hpp"

#include <cstring>

#include "ferry/core/error.hpp"
#include "ferry/core/runtime.hpp"

namespace ferry::inline FERRY_ABI::detail {
namespace {

struct dimension {
  std::size_t extent;
  std::ptrdiff_t to, from;
};

// Returns the greatest power of two, at most 16, that divides all of them.
unsigned widest_word(std::uintptr_t all) {
  unsigned w = 16;
  while (all % w) w /= 2;
  return w;
}

void copy_on_cpu(const box_copy& b, std::byte* to, const std::byte* from) {
  std::size_t index[box_rank] = {};
  for (std::size_t done = 0; done < b.words; ++done) {
    std::ptrdiff_t t = 0, f = 0;
    for (unsigned d = 0; d < b.rank; ++d) {
      t += static_cast<std::ptrdiff_t>(index[d]) * b.to_stride[d];
      f += static_cast<std::ptrdiff_t>(index[d]) * b.from_stride[d];
    }
    std::memcpy(to + t, from + f, b.word);
    for (unsigned d = 0; d < b.rank && ++index[d] == b.extent[d]; ++d) index[d] = 0;
  }
}

}  // namespace

box_copy plan_box(const strided_bytes& to, const strided_bytes& from, const strided_shape& shape) {
  std::vector<dimension> dims{{shape.element_bytes, 1, 1}};  // fastest dimension first
  for (std::size_t d = shape.rank; d-- > 0;) {
    const dimension next{shape.extent[d], to.stride_bytes[d], from.stride_bytes[d]};
    dimension& last = dims.back();
    const auto run = static_cast<std::ptrdiff_t>(last.extent);
    if (next.extent == 1) continue;
    if (next.to == run * last.to && next.from == run * last.from)
      last.extent *= next.extent;
    else
      dims.push_back(next);
  }
  std::uintptr_t all =
      reinterpret_cast<std::uintptr_t>(to.base) | reinterpret_cast<std::uintptr_t>(from.base) | dims[0].extent;
  for (std::size_t d = 1; d < dims.size(); ++d)
    all |= static_cast<std::uintptr_t>(dims[d].to) | static_cast<std::uintptr_t>(dims[d].from);
  box_copy b;
  b.to = to.base, b.from = from.base;
  b.word = widest_word(all);
  b.rank = static_cast<unsigned>(dims.size());
  b.words = 1;
  for (std::size_t d = 0; d < dims.size(); ++d) {
    b.extent[d] = d == 0 ? dims[d].extent / b.word : dims[d].extent;
    b.to_stride[d] = d == 0 ? static_cast<std::ptrdiff_t>(b.word) : dims[d].to;
    b.from_stride[d] = d == 0 ? static_cast<std::ptrdiff_t>(b.word) : dims[d].from;
    b.words *= b.extent[d];
  }
  return b;
}

void copy_boxes(native_stream s, [[maybe_unused]] int device, std::span<const box_copy> boxes,
                std::span<const kernel_use> uses) {
#if FERRY_HAS_CUDA
  if (!runtime::current().is_simulated()) return cuda::launch_box_copies(s, device, boxes);
#endif
  runtime::current().backend().launch(
      s, {"halo exchange", uses, [all = std::vector<box_copy>(boxes.begin(), boxes.end())](const relocation& move) {
            for (const box_copy& b : all) copy_on_cpu(b, move(b.to), move(b.from));
          }});
}

}  // namespace ferry::inline FERRY_ABI::detail
