// A program with its memory, ready to run: the input of evaluators.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "ferry/core/detail/operations/function_definition.hpp"
#include "ferry/core/detail/operations/operation_list.hpp"
#include "ferry/core/detail/support/internal.hpp"
#include "ferry/core/extents.hpp"

namespace ferry::inline FERRY_ABI::detail {

// One instruction; its result is the value with the instruction's own number. Values are assigned once, and used by
// later instructions only. No padding: instructions are compared and hashed as bytes.
struct instruction {
  operation what;
  scalar_type type;                  // of the result
  scalar_type from;                  // of the operands; for `select` of b and c, since a is bool
  std::uint8_t a = 0, b = 0, c = 0;  // numbers of values; see `load`, `constant`, `index`, `call`, `gather`
  bool operator==(const instruction&) const = default;
};
static_assert(sizeof(instruction) == 6);
// Greatest number of instructions, operands and constants of one program.
inline constexpr std::size_t most_instructions = 250;

// The values that an instruction reads.
struct values_read {
  std::array<std::uint8_t, most_parameters> number{};
  std::size_t count = 0;
  const std::uint8_t* begin() const { return number.data(); }
  const std::uint8_t* end() const { return number.data() + count; }
};
inline values_read read_by(const instruction& i, std::span<const function_call> calls) {
  if (i.what == operation::call) return {calls[i.a].value, calls[i.a].function->parameters};
  values_read all{{i.a, i.b, i.c}, 1};
  if (is_listed(i.what))
    all.count = static_cast<std::size_t>(info_of(i.what).operands);
  else if (i.what == operation::load || i.what == operation::constant || i.what == operation::index)
    all.count = 0;
  else if (i.what == operation::bounded_offset)
    all.count = 3;
  return all;
}

// A constant: one value of the type of its instruction, the other bytes 0.
struct program_constant {
  alignas(16) std::byte bytes[16];
};

// Elements in memory, for all indices of an evaluation.
struct evaluation_operand {
  std::byte* data;                                    // element at index 0
  std::array<std::ptrdiff_t, max_rank> stride_bytes;  // by axis of the evaluation; 0 where the operand broadcasts
  scalar_type type;                                   // in memory
  bool is_gathered = false;  // read by `gather` only, at offsets from the address for the index
};

// Memory to which a value is stored. Values are rounded if the type in memory is half or bfloat16; otherwise the types
// are equal.
struct evaluation_output {
  evaluation_operand to;
  std::uint8_t value;           // number of the value
  std::uint8_t mask = no_mask;  // number of a bool value: elements for which it is false are not written
  static constexpr std::uint8_t no_mask = 255;
};

// An evaluator executes the code for all indices, and stores the outputs. All spans are valid during the call only.
//
// Axes are numbered from the fastest: axis 0 is the inner loop. Axes of extent 1 are removed. Axes that all operands
// and outputs traverse as one are joined, except those of `index` instructions. Axis 0 is the one with the smallest
// stride of the first output. No extent is 0, and rank 0 means one element.
//
// An operand may be memory of an output only as the same elements (equal address, strides and type). Evaluators load
// all operands of an index before they store the outputs of that index. Outputs do not overlap each other. The elements
// of an operand may repeat (stride 0), those of an output never do.
struct evaluation {
  std::size_t rank = 0;
  std::array<std::size_t, max_rank> extent{};
  std::span<const instruction> code;
  std::span<const evaluation_operand> operands;
  std::span<const program_constant> constants;
  std::span<const function_call> calls;
  std::span<const evaluation_output> outputs;
  bool fast_math = false;  // contraction and faster functions are allowed (fr::math::fast)

  std::size_t count() const {
    std::size_t n = 1;
    for (std::size_t d = 0; d != rank; ++d) n *= extent[d];
    return n;
  }
};

// True if the interpreter kernel of CUDA devices cannot run it: it calls functions of the program, or gathers elements.
inline bool needs_compiled_kernel(const evaluation& e) {
  if (!e.calls.empty()) return true;
  for (const instruction& i : e.code)
    if (i.what >= operation::call) return true;
  return false;
}

}  // namespace ferry::inline FERRY_ABI::detail
