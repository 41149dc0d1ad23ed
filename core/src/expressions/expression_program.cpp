#include "ferry/core/detail/expressions/expression_program.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "ferry/core/detail/operations/convert_scalar.hpp"
#include "ferry/core/error.hpp"

namespace ferry::inline FERRY_ABI::detail {
namespace {

// Limits the expression's size before numbers of values leave 8 bits.
[[noreturn]] void throw_too_long(const expression_program& p) {
  throw invalid_argument("the expression " + text_of(p) + " has more than " + std::to_string(most_instructions) +
                         " operations: evaluate a part of it into an array first (fr::evaluate)");
}

// "array 'a' of 3 x 4 floats", or "'a + b' of 3 x 4".
std::string described(const expression_program& p) {
  if (p.code[p.root].what != operation::load) return "'" + text_of(p) + "' of " + text_of(p.shape);
  const program_operand& o = p.operands[p.code[p.root].a];
  array_look look{&o.owner, o.kind, name_of(o.type), o.shape.rank, {}};
  for (std::size_t d = 0; d != o.shape.rank; ++d) look.extent[d] = o.shape.extent[o.shape.rank - 1 - d];
  return array_text(look);
}

program_shape common_shape(const expression_program& a, const expression_program& b) {
  program_shape s = a.shape;
  s.rank = std::max(a.shape.rank, b.shape.rank);
  for (std::size_t d = 0; d != b.shape.rank; ++d) {
    if (d >= a.shape.rank || s.extent[d] == 1)
      s.extent[d] = b.shape.extent[d];
    else if (b.shape.extent[d] != 1 && b.shape.extent[d] != s.extent[d])
      throw invalid_argument(described(a) + " and " + described(b) +
                             " do not broadcast: from the last dimension on, extents must be equal, or one of them 1 "
                             "(fr::new_axis adds a dimension)");
  }
  return s;
}

// The value converted to a type of elements.
std::uint8_t cast_value(expression_program& p, std::uint8_t value, scalar_type to) {
  if (computed_as(to) == to) return p.converted(value, to);
  if (p.code[value].what == operation::load && p.code[value].from == to) return value;
  if (!is_floating(p.code[value].type)) value = p.converted(value, scalar_type::float64);
  const operation round = to == scalar_type::half ? operation::round_to_half : operation::round_to_bfloat16;
  return p.add({round, scalar_type::float32, p.code[value].type, value});
}

}  // namespace

byte_range program_operand::bytes() const {
  if (shape.is_empty()) return {};
  std::ptrdiff_t low = 0, high = static_cast<std::ptrdiff_t>(size_of(type));
  for (std::size_t d = 0; d != shape.rank; ++d) {
    const std::ptrdiff_t reach = stride_bytes[d] * static_cast<std::ptrdiff_t>(shape.extent[d] - 1);
    (reach < 0 ? low : high) += reach;
  }
  return {data + low, data + high};
}

expression_program::expression_program() = default;
expression_program::expression_program(const expression_program&) = default;
expression_program::expression_program(expression_program&&) noexcept = default;
expression_program& expression_program::operator=(const expression_program&) = default;
expression_program& expression_program::operator=(expression_program&&) noexcept = default;
expression_program::~expression_program() = default;

std::uint8_t expression_program::add(const instruction& i) {
  for (std::size_t k = 0; k != code.size(); ++k)
    if (code[k] == i) return static_cast<std::uint8_t>(k);
  if (code.size() == most_instructions) [[unlikely]]
    throw_too_long(*this);
  code.push_back(i);
  return static_cast<std::uint8_t>(code.size() - 1);
}

std::uint8_t expression_program::add(const program_constant& c, scalar_type type) {
  std::size_t at = 0;
  while (at != constants.size() && std::memcmp(constants[at].bytes, c.bytes, sizeof c.bytes) != 0) ++at;
  if (at == constants.size()) constants.push_back(c);
  return add({operation::constant, type, type, static_cast<std::uint8_t>(at)});
}

std::uint8_t expression_program::add(const function_call& c) {
  std::size_t at = 0;
  while (at != calls.size() && calls[at] != c) ++at;
  if (at == calls.size()) calls.push_back(c);
  const scalar_type t = computed_as(c.function->result);
  return add({operation::call, t, t, static_cast<std::uint8_t>(at)});
}

std::uint8_t expression_program::add(const program_operand& o) {
  std::size_t at = 0;
  while (at != operands.size() && !operands[at].is_same(o)) ++at;
  if (at == operands.size()) operands.push_back(o);
  return add({operation::load, computed_as(o.type), o.type, static_cast<std::uint8_t>(at)});
}

std::uint8_t expression_program::append(const expression_program& other) {
  std::array<std::uint8_t, most_instructions> here;
  for (std::size_t k = 0; k != other.code.size(); ++k) {
    instruction i = other.code[k];
    switch (i.what) {
      case operation::load: here[k] = add(other.operands[i.a]); continue;
      case operation::constant: here[k] = add(other.constants[i.a], i.type); continue;
      case operation::call: {
        function_call c = other.calls[i.a];
        for (std::size_t x = 0; x != c.function->parameters; ++x) c.value[x] = here[c.value[x]];
        here[k] = add(c);
        continue;
      }
      case operation::index: break;
      default: i.a = here[i.a];
    }
    if (is_listed(i.what)) {
      const int operands_of_it = info_of(i.what).operands;
      if (operands_of_it > 1) i.b = here[i.b];
      if (operands_of_it > 2) i.c = here[i.c];
    }
    here[k] = add(i);
  }
  return here[other.root];
}

std::uint8_t expression_program::converted(std::uint8_t value, scalar_type to) {
  const instruction i = code[value];
  if (i.type == to) return value;
  if (i.what != operation::constant) return add({operation::cast, to, i.type, value});
  program_constant c{};
  convert_scalar(c.bytes, to, constants[i.a].bytes, i.type);
  return add(c, to);
}

expression_program array_program(program_operand o) {
  expression_program p;
  p.shape = o.shape;
  p.code.push_back({operation::load, computed_as(o.type), o.type});
  p.operands.push_back(std::move(o));
  return p;
}

expression_program constant_program(const void* value, scalar_type type) {
  expression_program p;
  program_constant c{};
  convert_scalar(c.bytes, computed_as(type), value, type);
  p.root = p.add(c, computed_as(type));
  return p;
}

expression_program index_program(int axis) {
  constexpr int ranks = static_cast<int>(max_rank);
  if (axis < -ranks || axis >= ranks)
    throw invalid_argument("fr::index(" + std::to_string(axis) + "): axes are 0 to " + std::to_string(ranks - 1) +
                           ", or -1 to -" + std::to_string(ranks) + " from the last dimension");
  const int code = axis >= 0 ? axis : expression_program::last_axes - 1 - axis;
  expression_program p;
  p.root = p.add({operation::index, scalar_type::int64, scalar_type::int64, static_cast<std::uint8_t>(code)});
  return p;
}

expression_program range_program(std::size_t n) {
  // One element broadcasts, so that its index is not that of the destination.
  const std::int64_t zero = 0;
  expression_program p = n == 1 ? constant_program(&zero, scalar_type::int64) : index_program(-1);
  p.shape.rank = 1;
  p.shape.extent[0] = n;
  return p;
}

expression_program apply(operation what, scalar_type operands, expression_program a) {
  const scalar_type t = computed_as(operands);
  const std::uint8_t x = a.converted(a.root, t);
  a.root = a.add({what, result_type(what, t), t, x});
  return a;
}

expression_program apply(operation what, scalar_type operands, expression_program a, const expression_program& b) {
  const scalar_type t = computed_as(operands);
  const program_shape shape = common_shape(a, b);
  const std::uint8_t x = a.converted(a.root, t), y = a.converted(a.append(b), t);
  a.root = a.add({what, result_type(what, t), t, x, y});
  a.shape = shape;
  return a;
}

expression_program apply(operation what, scalar_type operands, expression_program a, const expression_program& b,
                         const expression_program& c) {
  const scalar_type t = computed_as(operands);
  a.shape = common_shape(a, b);
  a.shape = common_shape(a, c);
  const std::uint8_t x = a.converted(a.root, what == operation::select ? scalar_type::boolean : t);
  const std::uint8_t y = a.converted(a.append(b), t), z = a.converted(a.append(c), t);
  a.root = a.add({what, result_type(what, t), t, x, y, z});
  return a;
}

expression_program cast_program(expression_program p, scalar_type to) {
  p.root = cast_value(p, p.root, to);
  return p;
}

expression_program call_program(const function_definition& f, std::span<expression_program> arguments) {
  expression_program p = std::move(arguments[0]);
  for (const expression_program& other : arguments.subspan(1)) p.shape = common_shape(p, other);
  function_call c{&f, {}};
  c.value[0] = cast_value(p, p.root, f.parameter[0]);
  for (std::size_t k = 1; k != arguments.size(); ++k)
    c.value[k] = cast_value(p, p.append(arguments[k]), f.parameter[k]);
  p.root = p.add(c);
  return p;
}

}  // namespace ferry::inline FERRY_ABI::detail
