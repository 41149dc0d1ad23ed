#include "generator/kernel_arguments.hpp"

#include <bit>
#include <cstring>

namespace ferry::inline FERRY_ABI::detail::generator {
namespace {

std::size_t argument_words(access_class c, const kernel_plan& p) {
  return p.rank + (kernel_plan::needs_stride(c, 0) ? 1u : 0u);  // the address, and strides
}

}  // namespace

divider divider_for(std::size_t by) {
  const auto bits = static_cast<std::uint64_t>(std::bit_width(by - 1));  // of by <= 2^bits
  const std::uint64_t shift = 31 + bits;
  return {(std::uint64_t{1} << shift) / by + 1, shift};
}

std::size_t argument_bytes(const evaluation& e, const kernel_plan& p) {
  std::size_t words = 0;
  for (std::size_t i = 0; i < e.operands.size(); ++i) words += argument_words(p.of_operand(i), p);
  for (std::size_t i = 0; i < e.outputs.size(); ++i) words += argument_words(p.of_output(i), p);
  words += p.rank + 1u + 2u * (p.rank - 1u);
  return sizeof(program_constant) * e.constants.size() + (words * 8 + 15) / 16 * 16;
}

void write_arguments(const evaluation& e, const kernel_plan& p, std::byte* to) {
  if (!e.constants.empty()) std::memcpy(to, e.constants.data(), e.constants.size_bytes());
  to += e.constants.size_bytes();
  const auto put = [&](auto word) {
    static_assert(sizeof word == 8);
    std::memcpy(to, &word, 8);
    to += 8;
  };
  for_each_access(e, [&](std::size_t i, const evaluation_operand& o) {
    const access_class c = i < e.operands.size() ? p.of_operand(i) : p.of_output(i - e.operands.size());
    put(o.data);
    for (std::size_t d = 0; d < p.rank; ++d)
      if (kernel_plan::needs_stride(c, d)) put(o.stride_bytes[d]);
  });
  for (std::size_t d = 0; d < p.rank; ++d) put(p.extent[d]);
  put(p.positions);
  for (std::size_t d = 0; d + 1 < p.rank; ++d) {
    const divider by = p.is_wide ? divider{p.digits[d], 0} : divider_for(p.digits[d]);
    put(by.multiplier), put(by.shift);
  }
}

}  // namespace ferry::inline FERRY_ABI::detail::generator
