// Programs over a part of the elements, for members of a team.
#include <utility>

#include "ferry/core/detail/expressions/expression_program.hpp"

namespace ferry::inline FERRY_ABI::detail {
namespace {

// Appends the index along an axis, counted from the first element of the whole.
std::uint8_t index_in_whole(expression_program& to, const instruction& i, const program_part& part) {
  const bool from_last = i.a >= expression_program::last_axes;
  const std::size_t axis = from_last ? std::size_t{i.a} - expression_program::last_axes : part.whole.rank - 1 - i.a;
  const std::uint8_t value = to.add(i);
  if (axis >= part.whole.rank || part.shape.extent[axis] == part.whole.extent[axis]) return value;
  const auto first = static_cast<std::int64_t>(part.first[axis]);
  const expression_program offset = constant_program(&first, scalar_type::int64);
  return to.add({operation::add, scalar_type::int64, scalar_type::int64, value, to.append(offset)});
}

// Returns the elements of a gathered operand for the indices of a part. Along axes that `gather` indexes, these are
// all.
program_operand sliced_where_mapped(const program_operand& o, const program_part& part) {
  program_operand s = o;
  for (std::size_t d = 0; d != o.shape.rank; ++d) {
    const std::uint32_t axis = o.axis_map >> (4 * d) & 15;
    if (axis == 0 || o.shape.extent[d] == 1) continue;
    s.data += part.first[axis - 1] * o.stride_bytes[d];
    s.shape.extent[d] = part.shape.extent[axis - 1];
  }
  return s;
}

}  // namespace

expression_program placeholder_program(const operand_placeholder& what, const program_shape& shape, scalar_type type,
                                       memory_kind kind) {
  program_operand o;
  o.data = reinterpret_cast<const std::byte*>(&what);
  o.shape = shape, o.type = type, o.kind = kind, o.is_placeholder = true;
  return array_program(std::move(o));
}

const operand_placeholder& placeholder_of(const program_operand& o) {
  return *reinterpret_cast<const operand_placeholder*>(o.data);
}

program_operand sliced(const program_operand& o, const program_part& part) {
  program_operand s = o;
  for (std::size_t d = 0; d != o.shape.rank; ++d) {
    if (o.shape.extent[d] == 1) continue;
    s.data += part.first[d] * o.stride_bytes[d];
    s.shape.extent[d] = part.shape.extent[d];
    if (s.shape.extent[d] == 1) s.stride_bytes[d] = 0;
  }
  return s;
}

expression_program part_program(const expression_program& p, const program_part& part, std::uint8_t* also) {
  expression_program to;
  std::array<std::uint8_t, most_instructions> here;
  for (std::size_t k = 0; k != p.code.size(); ++k) {
    instruction i = p.code[k];
    switch (i.what) {
      case operation::load: {
        const program_operand& o = p.operands[i.a];
        here[k] = to.add(o.is_placeholder ? placeholder_of(o).elements(part) : sliced(o, part));
        continue;
      }
      case operation::constant: here[k] = to.add(p.constants[i.a], i.type); continue;
      case operation::index: here[k] = index_in_whole(to, i, part); continue;
      case operation::call: {
        function_call c = p.calls[i.a];
        for (std::size_t x = 0; x != c.function->parameters; ++x) c.value[x] = here[c.value[x]];
        here[k] = to.add(c);
        continue;
      }
      case operation::gather: here[k] = to.add_gather(sliced_where_mapped(p.operands[i.b], part), here[i.a]); continue;
      default: break;
    }
    const std::size_t values = read_by(i, p.calls).count;
    i.a = here[i.a];
    if (values > 1) i.b = here[i.b];
    if (values > 2) i.c = here[i.c];
    here[k] = to.add(i);
  }
  to.root = here[p.root];
  if (also) *also = here[*also];
  to.shape = p.shape;
  for (std::size_t d = 0; d != p.shape.rank; ++d)
    if (p.shape.extent[d] != 1) to.shape.extent[d] = part.shape.extent[d];
  return to;
}

}  // namespace ferry::inline FERRY_ABI::detail
