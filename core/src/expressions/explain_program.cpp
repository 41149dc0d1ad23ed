// explain() and precompile() of expressions.
#include <vector>

#include "expressions/bound_program.hpp"
#include "expressions/joined_arrays.hpp"
#include "expressions/operand_memory.hpp"
#include "ferry/core/detail/expressions/assignment.hpp"
#include "ferry/core/detail/support/concat.hpp"
#include "ferry/core/memory_size.hpp"
#include "ferry/core/runtime.hpp"

namespace ferry::inline FERRY_ABI::detail {

namespace {

// Returns an operand like a new array of the program's shape. Its address must not be accessed.
program_operand new_array(const program_shape& shape, scalar_type type) {
  program_operand to = dense_operand(shape, type);
  to.data = reinterpret_cast<const std::byte*>(std::uintptr_t{1} << 20);  // aligned as arrays are
  return to;
}

// Calls f(evaluation) for an assignment of the program. The elements of the destination are not accessed.
template <class F>
auto with_output(const expression_program& p, const program_operand& to, F f) {
  expression_program converted = p;
  const bound_output output{&to, converted.converted(converted.root, computed_as(to.type))};
  const bound_program bound(converted, {&output, 1}, false);
  evaluation e = bound.view();
  e.fast_math = fast_math_depth() > 0;
  return f(e);
}

// Calls f(evaluation) for each kernel that an assignment of the program to a new array runs. Returns their number.
template <class F>
std::size_t for_each_kernel(const expression_program& p, scalar_type type, F f) {
  const program_operand to = new_array(p.shape, type);
  if (p.joined)
    if (const std::vector<assignment> parts = assignments_of_parts(p, to); !parts.empty()) {
      for (const assignment& part : parts) with_output(*part.value, part.to, f);
      return parts.size();
    }
  with_output(p, to, f);
  return 1;
}

}  // namespace

std::string explain_program(const expression_program& p, scalar_type type) {
  std::string text = concat("expression ", text_of(p), "\n  result: ", text_of(p.shape), " of ", name_of(type), ", ",
                            p.code.size(), " instructions\n");
  const std::size_t written = element_count(p.shape) * size_of(type);
  std::size_t read = 0;
  for (const program_operand& o : p.operands) {
    read += element_count(o.shape) * size_of(o.type);
    text += "  reads " + array_text(look_at(o)) +
            (o.is_gathered()      ? ", at indices\n"
             : o.shape == p.shape ? "\n"
                                  : ", which is stretched\n");
  }
  text += concat("  moves ", read + written, " bytes: ", read, " read, ", written, " written\n");
  if (p.shape.is_empty()) return text;

  const device on = home_of(p);
  std::string kernels;
  const std::size_t count = for_each_kernel(
      p, type, [&](const evaluation& e) { kernels += runtime::current().backend().explain_evaluation(on.index(), e); });
  if (count > 1) text += concat("  is copied array by array, in ", count, " submissions\n");
  return text + kernels;
}

bool precompile_program(const expression_program& p, scalar_type type) {
  if (p.shape.is_empty()) return true;
  const device on = home_of(p);
  bool is_compiled = true;
  for_each_kernel(p, type, [&](const evaluation& e) {
    is_compiled = runtime::current().backend().prepare_evaluation(on.index(), e) && is_compiled;
  });
  return is_compiled;
}

bool precompile_assignment(const expression_program& p, const program_operand& to, device on) {
  if (to.shape.is_empty()) return true;
  return with_output(
      p, to, [&](const evaluation& e) { return runtime::current().backend().prepare_evaluation(on.index(), e); });
}

}  // namespace ferry::inline FERRY_ABI::detail
