#include <algorithm>
#include <utility>

#include "expressions/bound_program.hpp"
#include "ferry/core/detail/expressions/assignment.hpp"
#include "ferry/core/memory_size.hpp"
#include "ferry/core/runtime.hpp"

namespace ferry::inline FERRY_ABI::detail {

namespace {

// Calls f(evaluation) for the program's assignment to elements that are not accessed.
template <class F>
auto with_output(const expression_program& p, const program_operand& to, F f) {
  expression_program converted = p;
  const bound_output output{&to, converted.converted(converted.root, computed_as(to.type))};
  const bound_program bound(converted, {&output, 1}, false);
  evaluation e = bound.view();
  e.fast_math = fast_math_depth() > 0;
  return f(e);
}

// Calls f(evaluation) for the program's evaluation to a new array.
template <class F>
auto with_new_array(const expression_program& p, scalar_type type, F f) {
  program_operand to;
  to.data = reinterpret_cast<const std::byte*>(std::uintptr_t{1} << 20);  // aligned as arrays are; not accessed
  to.shape = p.shape;
  to.type = type;
  auto stride = static_cast<std::ptrdiff_t>(size_of(type));
  for (std::size_t d = 0; d != to.shape.rank; ++d) {
    to.stride_bytes[d] = to.shape.extent[d] == 1 ? 0 : stride;
    stride *= static_cast<std::ptrdiff_t>(to.shape.extent[d]);
  }
  return with_output(p, to, std::move(f));
}

}  // namespace

std::string explain_program(const expression_program& p, scalar_type type) {
  std::string text = "expression " + text_of(p) + "\n  result: " + text_of(p.shape) + " of " +
                     std::string(name_of(type)) + ", " + std::to_string(p.code.size()) + " instructions\n";
  std::size_t all = 1;
  for (std::size_t d = 0; d != p.shape.rank; ++d) all *= p.shape.extent[d];
  const std::size_t written = all * size_of(type);
  std::size_t read = 0;
  for (const program_operand& o : p.operands) {
    array_look look{&o.owner, o.kind, name_of(o.type), o.shape.rank, {}};
    std::size_t count = 1;
    for (std::size_t d = 0; d != o.shape.rank; ++d) {
      look.extent[d] = o.shape.extent[o.shape.rank - 1 - d];
      count *= o.shape.extent[d];
    }
    read += count * size_of(o.type);
    text += "  reads " + array_text(look) +
            (o.is_gathered()      ? ", at indices\n"
             : o.shape == p.shape ? "\n"
                                  : ", which is stretched\n");
  }
  text += "  moves " + std::to_string(read + written) + " bytes: " + std::to_string(read) + " read, " +
          std::to_string(written) + " written\n";
  if (p.shape.is_empty()) return text;

  const device on = home_of(p);
  return text + with_new_array(p, type, [&](const evaluation& e) {
           return runtime::current().backend().explain_evaluation(on.index(), e);
         });
}

bool precompile_program(const expression_program& p, scalar_type type) {
  if (p.shape.is_empty()) return true;
  const device on = home_of(p);
  return with_new_array(
      p, type, [&](const evaluation& e) { return runtime::current().backend().prepare_evaluation(on.index(), e); });
}

bool precompile_assignment(const expression_program& p, const program_operand& to, device on) {
  if (to.shape.is_empty()) return true;
  return with_output(
      p, to, [&](const evaluation& e) { return runtime::current().backend().prepare_evaluation(on.index(), e); });
}

}  // namespace ferry::inline FERRY_ABI::detail
