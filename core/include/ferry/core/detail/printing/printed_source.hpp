// Elements that are printed, wherever they are. No templates.
#pragma once
#include <array>
#include <cstddef>
#include <span>

#include "ferry/core/detail/expressions/expression_program.hpp"
#include "ferry/core/detail/support/internal.hpp"

namespace ferry::inline FERRY_ABI::detail {

class printed_source {
 public:
  using strides = std::array<std::ptrdiff_t, max_rank>;  // in bytes, by axis from the last
  printed_source(const program_shape& s, scalar_type t) : shape_(s), type_(t) {}
  virtual ~printed_source() = default;
  const program_shape& shape() const { return shape_; }
  scalar_type type() const { return type_; }
  // Copies a box of elements to memory of the CPU. Blocks.
  virtual void copy(const program_part& box, std::byte* to, const strides& s) const = 0;
  // Called when all boxes have been copied. `all`: zeros, except for what was copied.
  virtual void complete(std::span<std::byte> all) const { static_cast<void>(all); }

 private:
  program_shape shape_;
  scalar_type type_;
};

// Copies elements of an array to memory of the CPU, with strides in bytes. Blocks.
void copy_to_cpu(const program_operand& from, std::byte* to, const printed_source::strides& s);

}  // namespace ferry::inline FERRY_ABI::detail
