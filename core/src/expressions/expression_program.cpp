#include "ferry/core/detail/expressions/expression_program.hpp"

#include <algorithm>
#include <cstring>
#include <type_traits>
#include <utility>

#include "ferry/core/detail/operations/convert_scalar.hpp"
#include "ferry/core/detail/support/concat.hpp"
#include "ferry/core/error.hpp"

namespace ferry::inline FERRY_ABI::detail {
namespace {

// Numbers of values have 8 bits, which limits the size of an expression.
[[noreturn]] void throw_too_long(const expression_program& p) {
  throw invalid_argument(concat("the expression ", text_of(p), " has more than ", most_instructions,
                                " operations: evaluate a part of it into an array first (fr::evaluate)"));
}

// "array 'a' of 3 x 4 floats", or "'a + b' of 3 x 4".
std::string described(const program_operand& o) {
  array_look look{&o.owner, o.kind, name_of(o.type), o.shape.rank, {}};
  for (std::size_t d = 0; d != o.shape.rank; ++d) look.extent[d] = o.shape.extent[o.shape.rank - 1 - d];
  if (o.is_placeholder) return "'" + placeholder_of(o).text() + "' of " + text_of(o.shape);
  return array_text(look);
}
std::string described(const expression_program& p) {
  if (p.code[p.root].what != operation::load) return "'" + text_of(p) + "' of " + text_of(p.shape);
  return described(p.operands[p.code[p.root].a]);
}

std::string described(const program_source& s) {
  switch (s.what) {
    case program_source::from::array: return described(array_program(s.array));
    case program_source::from::number: return described(constant_program(s.number.value, s.number.type));
    default: return described(*s.program);
  }
}

// Elements along axis d, counted from the last; 1 for axes that it lacks.
std::size_t extent_of(const program_source& s, std::size_t d) {
  if (s.what == program_source::from::array) return d < s.array.rank ? s.array.extents[s.array.rank - 1 - d] : 1;
  return d < s.program->shape.rank ? s.program->shape.extent[d] : 1;
}
std::size_t rank_of(const program_source& s) {
  if (s.what == program_source::from::number) return 0;
  return s.what == program_source::from::array ? s.array.rank : s.program->shape.rank;
}

program_shape common_shape(std::span<const program_source> of) {
  program_shape all;
  for (const program_source& s : of) {
    const std::size_t rank = rank_of(s);
    for (std::size_t d = 0; d != rank; ++d) {
      const std::size_t extent = extent_of(s, d);
      if (d >= all.rank || all.extent[d] == 1)
        all.extent[d] = extent;
      else if (extent != 1 && extent != all.extent[d]) [[unlikely]]
        throw invalid_argument(described(of[0]) + " and " + described(s) +
                               " do not broadcast: from the last dimension on, extents must be equal, or one of them 1 "
                               "(fr::new_axis adds a dimension)");
    }
    all.rank = std::max(all.rank, rank);
  }
  return all;
}

// The bytes of an instruction as one number; it has no padding.
std::uint64_t as_number(const instruction& i) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, &i, sizeof i);
  return bits;
}

// The lowest number that an equal instruction can have: an instruction comes behind the values that it uses.
std::size_t first_equal(const instruction& i) {
  const bool uses_values = is_listed(i.what) || i.what == operation::cast || i.what == operation::round_to_half ||
                           i.what == operation::round_to_bfloat16 || i.what == operation::bounded_offset;
  if (i.what == operation::gather) return i.a + std::size_t{1};
  return uses_values ? std::max({i.a, i.b, i.c}) + std::size_t{1} : 0;
}

bool are_equal(const program_constant& a, const program_constant& b) {
  std::uint64_t x[2], y[2];
  std::memcpy(x, a.bytes, sizeof x), std::memcpy(y, b.bytes, sizeof y);
  return x[0] == y[0] && x[1] == y[1];
}

program_constant converted_constant(const void* value, scalar_type from, scalar_type to) {
  program_constant c{};
  convert_scalar(c.bytes, to, value, from);
  return c;
}

// Appends the conversion of a value to a type of elements, and returns its number.
std::uint8_t cast_value(expression_program& p, std::uint8_t value, scalar_type to) {
  if (computed_as(to) == to) return p.converted(value, to);
  if (p.code[value].what == operation::load && p.code[value].from == to) return value;
  if (!is_floating(p.code[value].type)) value = p.converted(value, scalar_type::float64);
  const operation round = to == scalar_type::half ? operation::round_to_half : operation::round_to_bfloat16;
  return p.add({round, scalar_type::float32, p.code[value].type, value});
}

}  // namespace

byte_range program_operand::bytes() const {
  std::ptrdiff_t low = 0, high = static_cast<std::ptrdiff_t>(size_of(type));
  for (std::size_t d = 0; d != shape.rank; ++d) {
    if (shape.extent[d] == 0) return {};
    const std::ptrdiff_t reach = stride_bytes[d] * static_cast<std::ptrdiff_t>(shape.extent[d] - 1);
    (reach < 0 ? low : high) += reach;
  }
  return {data + low, data + high};
}

std::array<std::ptrdiff_t, max_rank> program_operand::mapped_strides() const {
  if (!is_gathered()) return stride_bytes;
  std::array<std::ptrdiff_t, max_rank> mapped{};
  for (std::size_t d = 0; d != shape.rank; ++d)
    if (const std::uint32_t axis = axis_map >> (4 * d) & 15; axis != 0) mapped[axis - 1] = stride_bytes[d];
  return mapped;
}

expression_program::expression_program() = default;
expression_program::expression_program(const expression_program&) = default;
expression_program::expression_program(expression_program&&) noexcept = default;
expression_program& expression_program::operator=(const expression_program&) = default;
expression_program& expression_program::operator=(expression_program&&) noexcept = default;
expression_program::~expression_program() = default;

std::uint8_t expression_program::add(const instruction& i) {
  const std::uint64_t bits = as_number(i);
  for (std::size_t k = first_equal(i); k < code.size(); ++k)
    if (as_number(code[k]) == bits) return static_cast<std::uint8_t>(k);
  return add_new(i);
}

std::uint8_t expression_program::add_new(const instruction& i) {
  if (code.size() == most_instructions) [[unlikely]]
    throw_too_long(*this);
  code.emplace_back(i);
  return static_cast<std::uint8_t>(code.size() - 1);
}

std::uint8_t expression_program::add(const program_constant& c, scalar_type type) {
  std::size_t at = 0;
  while (at != constants.size() && !are_equal(constants[at], c)) ++at;
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

std::uint8_t expression_program::add(program_operand o) {
  operands.push_back(std::move(o));
  return add_last_operand();
}

std::uint8_t expression_program::add_gather(program_operand o, std::uint8_t offsets) {
  operands.push_back(std::move(o));
  const scalar_type type = operands[operands.size() - 1].type;
  const std::size_t at = place_last_operand();
  if (at + 1 < operands.size()) operands.pop_back();
  return add({operation::gather, computed_as(type), type, offsets, static_cast<std::uint8_t>(at)});
}

// Returns the number of the first operand that has the same elements as the last one.
std::size_t expression_program::place_last_operand() {
  std::size_t at = 0;
  while (!operands[at].is_same(operands[operands.size() - 1])) ++at;
  return at;
}

// Appends the load of the last operand. Removes the operand if an earlier one has the same elements.
std::uint8_t expression_program::add_last_operand() {
  const std::size_t at = place_last_operand();
  const scalar_type type = operands[at].type;
  const instruction load{operation::load, computed_as(type), type, static_cast<std::uint8_t>(at)};
  if (at + 1 == operands.size()) return add_new(load);
  operands.pop_back();
  return add(load);
}

template <class Program>
std::uint8_t expression_program::append_each(Program& other) {
  std::array<std::uint8_t, most_instructions> here;
  for (std::size_t k = 0; k != other.code.size(); ++k) {
    instruction i = other.code[k];
    switch (i.what) {
      case operation::load:  // an operand has one load
        if constexpr (std::is_const_v<Program>)
          operands.emplace_back(other.operands[i.a]);
        else
          operands.emplace_back(std::move(other.operands[i.a]));
        here[k] = add_last_operand();
        continue;
      case operation::constant: here[k] = add(other.constants[i.a], i.type); continue;
      case operation::call: {
        function_call c = other.calls[i.a];
        for (std::size_t x = 0; x != c.function->parameters; ++x) c.value[x] = here[c.value[x]];
        here[k] = add(c);
        continue;
      }
      case operation::index: break;
      case operation::gather: here[k] = add_gather(other.operands[i.b], here[i.a]); continue;
      case operation::bounded_offset: i.b = here[i.b], i.c = here[i.c]; [[fallthrough]];
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

std::uint8_t expression_program::append(const expression_program& other) { return append_each(other); }
std::uint8_t expression_program::append(expression_program&& other) { return append_each(other); }

// Appends the value of an operand, and returns its number. Does not change the shape, except in an empty program.
std::uint8_t expression_program::add(const program_source& s) {
  switch (s.what) {
    case program_source::from::program:
      if (code.size() != 0) return append_each(*s.program);
      *this = *s.program;
      return root;
    case program_source::from::temporary:
      if (code.size() != 0) return append_each(s.temporary());
      *this = std::move(s.temporary());
      return root;
    case program_source::from::array: describe(operands.emplace_back(), s.array); return add_last_operand();
    case program_source::from::number: break;
  }
  const scalar_type type = computed_as(s.number.type);
  return add(converted_constant(s.number.value, s.number.type, type), type);
}

expression_program::expression_program(operation what, scalar_type operands_type,
                                       std::initializer_list<program_source> of) {
  const std::span<const program_source> all(of.begin(), of.size());
  const program_shape common = common_shape(all);
  // The largest temporary is moved as a whole, so that its instructions need no new numbers.
  std::size_t first = 0, most = 0;
  for (std::size_t k = 0; k != all.size(); ++k)
    if (all[k].what == program_source::from::temporary && all[k].program->code.size() > most)
      first = k, most = all[k].program->code.size();
  const scalar_type t = computed_as(operands_type);
  std::array<std::uint8_t, 3> value{};
  value[first] = add(all[first]);
  for (std::size_t k = 0; k != all.size(); ++k) {
    if (k != first) value[k] = add(all[k]);
    value[k] = converted(value[k], k == 0 && what == operation::select ? scalar_type::boolean : t);
  }
  root = add({what, result_type(what, t), t, value[0], value[1], value[2]});
  shape = common;
}

std::uint8_t expression_program::converted(std::uint8_t value, scalar_type to) {
  const instruction i = code[value];
  if (i.type == to) return value;
  if (i.what != operation::constant) return add({operation::cast, to, i.type, value});
  return add(converted_constant(constants[i.a].bytes, i.type, to), to);
}

void describe(program_operand& to, const array_elements& a) {
  to.owner = *a.owner;
  describe_elements(to, a);
}

void describe_elements(program_operand& to, const array_elements& a) {
  to.data = static_cast<const std::byte*>(a.data);
  to.shape.rank = a.rank;
  to.type = a.type;
  to.kind = a.kind;
  const auto size = static_cast<std::ptrdiff_t>(size_of(a.type));
  for (std::size_t d = 0; d != a.rank; ++d) {
    const std::size_t axis = a.rank - 1u - d;
    to.shape.extent[axis] = a.extents[d];
    to.stride_bytes[axis] = a.extents[d] == 1 ? 0 : a.strides[d] * size;
  }
}

expression_program array_program(program_operand o) {
  expression_program p;
  p.shape = o.shape;
  p.add(std::move(o));
  return p;
}

expression_program array_program(const array_elements& a) {
  expression_program p;
  describe(p.operands.emplace_back(), a);
  p.shape = p.operands[0].shape;
  p.code.push_back({operation::load, computed_as(a.type), a.type});
  return p;
}

expression_program constant_program(const void* value, scalar_type type) {
  expression_program p;
  p.root = p.add(converted_constant(value, type, computed_as(type)), computed_as(type));
  return p;
}

expression_program index_program(int axis) {
  constexpr int ranks = static_cast<int>(max_rank);
  if (axis < -ranks || axis >= ranks)
    throw invalid_argument(
        concat("fr::index(", axis, "): axes are 0 to ", ranks - 1, ", or -1 to -", ranks, " from the last dimension"));
  const int code = axis >= 0 ? axis : expression_program::last_axes - 1 - axis;
  expression_program p;
  p.root = p.add({operation::index, scalar_type::int64, scalar_type::int64, static_cast<std::uint8_t>(code)});
  return p;
}

expression_program range_program(std::size_t n) {
  // An axis of one element broadcasts: then its index is 0, not that of the destination.
  const std::int64_t zero = 0;
  expression_program p = n == 1 ? constant_program(&zero, scalar_type::int64) : index_program(-1);
  p.shape.rank = 1;
  p.shape.extent[0] = n;
  return p;
}

expression_program apply(operation what, scalar_type operands, expression_program a) {
  return {what, operands, {program_source(std::move(a))}};
}

expression_program apply(operation what, scalar_type operands, expression_program a, const expression_program& b) {
  return {what, operands, {program_source(std::move(a)), program_source(b)}};
}

expression_program apply(operation what, scalar_type operands, expression_program a, const expression_program& b,
                         const expression_program& c) {
  return {what, operands, {program_source(std::move(a)), program_source(b), program_source(c)}};
}

expression_program cast_program(expression_program p, scalar_type to) {
  p.root = cast_value(p, p.root, to);
  return p;
}

expression_program call_program(const function_definition& f, std::span<expression_program> arguments) {
  expression_program p = std::move(arguments[0]);
  for (const expression_program& other : arguments.subspan(1)) {
    const program_source both[] = {program_source(std::as_const(p)), program_source(other)};
    p.shape = common_shape(both);
  }
  function_call c{&f, {}};
  c.value[0] = cast_value(p, p.root, f.parameter[0]);
  for (std::size_t k = 1; k != arguments.size(); ++k)
    c.value[k] = cast_value(p, p.append(arguments[k]), f.parameter[k]);
  p.root = p.add(c);
  return p;
}

}  // namespace ferry::inline FERRY_ABI::detail
