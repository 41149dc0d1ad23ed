#include "ferry/core/arguments.hpp"

#include <array>
#include <utility>

#include "ferry/core/runtime.hpp"

namespace ferry::inline FERRY_ABI {

using namespace detail;

void detail::output_poison::fill_outputs(native_stream s, const relocation& move) const {
  std::array<std::byte, 16> nan;
  nan.fill(std::byte{0xFF});
  for (output_elements e : outputs_) {
    e.at.base = move(e.at.base);
    if (e.shape.element_bytes > nan.size()) {  // filled byte by byte, with an additional dimension
      if (e.shape.rank == max_rank) continue;
      e.shape.extent[e.shape.rank] = std::exchange(e.shape.element_bytes, 1);
      e.at.stride_bytes[e.shape.rank++] = 1;
    }
    runtime::current().backend().fill_strided(s, e.at, e.shape, nan.data());
  }
}

}  // namespace ferry::inline FERRY_ABI
