#include "interpreter/index_outside.hpp"

#include <algorithm>
#include <array>
#include <string>

#include "ferry/core/detail/support/concat.hpp"

namespace ferry::inline FERRY_ABI::detail {
namespace {

std::string text_of_outside(std::span<const std::int64_t> indices, std::int64_t extent) {
  const auto wrong =
      std::find_if(indices.begin(), indices.end(), [&](std::int64_t i) { return i < -extent || i >= extent; });
  return concat("index ", *wrong, " is outside of an axis of extent ", extent, ": indices are 0 to ", extent - 1,
                ", or from the end -1 to ", -extent);
}

// Returns the number of the first operand whose offsets depend on the value of the instruction.
std::size_t gathered_with(const evaluation& e, std::size_t step) {
  std::array<bool, most_instructions> depends{};
  depends[step] = true;
  for (std::size_t k = step + 1; k != e.code.size(); ++k) {
    const values_read used = read_by(e.code[k], e.calls);
    depends[k] = std::any_of(used.begin(), used.end(), [&](std::uint8_t v) { return depends[v]; });
    if (depends[k] && e.code[k].what == operation::gather) return e.code[k].b;
  }
  return 0;
}

}  // namespace

index_outside::index_outside(const evaluation& e, std::size_t step, std::span<const std::int64_t> indices,
                             std::int64_t extent)
    : invalid_argument(text_of_outside(indices, extent)),
      operand_(gathered_with(e, step)) {}

}  // namespace ferry::inline FERRY_ABI::detail
