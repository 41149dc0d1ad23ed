// Assignments of programs to memory.
#pragma once
#include <span>
#include <string>

#include "ferry/core/detail/expressions/expression_program.hpp"
#include "ferry/core/detail/support/internal.hpp"
#include "ferry/core/source_line.hpp"
#include "ferry/core/stream.hpp"

namespace ferry::inline FERRY_ABI::detail {

// One destination, and the program of its elements.
struct assignment {
  program_operand to;
  const expression_program* value;
};

// Assigns all in one submission: every program reads the values from before the assignment. If a program reads bytes of
// an output at other indices than those that it writes, the output goes through a temporary, with a second submission.
//
// Ordered on the stream, or on the calling thread's stream of the first destination's device. Does not block, except
// where memory for a temporary or a staging copy is needed, and on the first use of a pair of devices. Throws
// invalid_argument for shapes that do not fit, overlapping destinations, and what admit() refuses; use_after_free.
void assign_programs(const stream_ref* s, std::span<const assignment> all, source_line at);
// One assignment. The caller must hold a reference to the owner of the elements.
void assign_program(const stream_ref* s, const array_elements& to, const expression_program& value, source_line at);

// Describes elements of an array. Does not throw.
program_operand operand_of(const allocation_ref& owner, const void* data, std::span<const std::size_t> extents,
                           std::span<const std::ptrdiff_t> strides, scalar_type type, memory_kind kind);

// Returns the device of the first operand; the default device if there is none. Throws use_after_free.
device home_of(const expression_program& p);

// Returns a text: the program, its operands, the bytes that it moves, and how the device runs it.
std::string explain_program(const expression_program& p, scalar_type type);

// Describes elements of a shape in the order of their indices, without gaps. The operand has no memory yet.
program_operand dense_operand(const program_shape& shape, scalar_type type);
// The same, in device memory that it allocates.
program_operand new_elements(const program_shape& shape, scalar_type type, const device& on);
std::size_t element_count(const program_shape& shape);

// Compiles the kernel that evaluates the program to a new array. Blocks until that is done. Returns false if nothing
// can be compiled.
bool precompile_program(const expression_program& p, scalar_type type);
// The same, for an assignment to these elements on a device. They are not accessed.
bool precompile_assignment(const expression_program& p, const program_operand& to, device on);

// True with FERRY_MATH=fast. Reads the variable once. Throws parse_error.
bool math_is_fast_by_environment();
// While the value is positive, programs of this thread may be evaluated with faster, less exact functions. Begins at 1
// in each thread with FERRY_MATH=fast.
int& fast_math_depth();

}  // namespace ferry::inline FERRY_ABI::detail
