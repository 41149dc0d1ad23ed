// The function that computes one element of a program: a part of all generated kernels.
#pragma once
#include <string>
#include <string_view>

#include "ferry/core/detail/operations/evaluation.hpp"
#include "generator/source_builder.hpp"

namespace ferry::inline FERRY_ABI::detail::generator {

// Returns the type of the parameter for an operand: its element, or for a gathered operand the address at the index.
std::string operand_type(const evaluation_operand& o);
inline bool has_mask(const evaluation_output& o) { return o.mask != evaluation_output::no_mask; }
// True if an instruction needs the index along an axis.
bool uses_index(const evaluation& e, std::size_t axis);

// Writes `element(g, v0, v1, ..., x0, ..., y0, w0, ...)`: g are the kernel's arguments with the constants, v the loaded
// operands, x the indices that are used, y the outputs as they are in memory, and w their masks.
void write_element(source_builder& s, const evaluation& e);

// Returns a call of element(). at(i) is the text for the value of operand i, index(d) for the index along axis d, to(i)
// for a variable of output i, and mask(i) for one of its mask.
template <class At, class Index, class To, class Mask>
std::string element_call(const evaluation& e, At at, Index index, To to, Mask mask) {
  std::string call = "element(g";
  for (std::size_t i = 0; i < e.operands.size(); ++i) call += ", " + at(i);
  for (std::size_t d = 0; d < max_rank; ++d)
    if (uses_index(e, d)) call += ", (long long)(" + index(d) + ")";
  for (std::size_t i = 0; i < e.outputs.size(); ++i) {
    call += ", " + to(i);
    if (has_mask(e.outputs[i])) call += ", " + mask(i);
  }
  return call + ");";
}

// Returns a value as an expression of the operands v0, v1, ..., in the names of the list of operations.
std::string expression_text(const evaluation& e, std::size_t value, int depth);

}  // namespace ferry::inline FERRY_ABI::detail::generator
