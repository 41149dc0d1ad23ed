#include "expressions/joined_parts.hpp"

namespace ferry::inline FERRY_ABI::detail {
namespace {

expression_program either(const expression_program& a, const expression_program& b) {
  return apply(operation::logical_or, scalar_type::boolean, a, b);
}
expression_program both(const expression_program& a, const expression_program& b) {
  return apply(operation::logical_and, scalar_type::boolean, a, b);
}
expression_program whole_number(std::size_t n) {
  const auto value = static_cast<std::int64_t>(n);
  return constant_program(&value, scalar_type::int64);
}

expression_program negated(const expression_program& a) {
  return apply(operation::logical_not, scalar_type::boolean, a);
}

// Returns the program of: a is less (argmin) or greater (argmax) than b. NaN counts as less and greater than all
// numbers.
expression_program is_better(reduction_function f, scalar_type t, const expression_program& a,
                             const expression_program& b) {
  const bool is_least = f == reduction_function::argmin;
  expression_program better = apply(is_least ? operation::less : operation::greater, t, a, b);
  if (!is_floating(t)) return better;
  return either(better, both(apply(operation::isnan, t, a), negated(apply(operation::isnan, t, b))));
}

// Returns the program of the lesser or greater of two values. NaN if one is NaN; -0 is less than +0.
expression_program extreme(operation is_better, scalar_type t, const expression_program& a,
                           const expression_program& b) {
  expression_program take_b = apply(is_better, t, b, a);
  if (is_floating(t)) {
    const expression_program& negative = is_better == operation::less ? b : a;
    take_b = either(take_b, apply(operation::isnan, t, b));
    take_b = either(take_b, both(apply(operation::equal, t, a, b), apply(operation::signbit, t, negative)));
  }
  return apply(operation::select, t, take_b, b, a);
}

}  // namespace

expression_program joined_values(reduction_function f, scalar_type t, const expression_program& a,
                                 const expression_program& b) {
  using enum reduction_function;
  switch (f) {
    case prod: return apply(operation::multiply, t, a, b);
    case min: return extreme(operation::less, t, a, b);
    case max: return extreme(operation::greater, t, a, b);
    case any: return either(a, b);
    case all: return both(a, b);
    case norm: return apply(operation::hypot, t, a, b);
    default: return apply(operation::add, t, a, b);
  }
}

value_at_position first_found(reduction_function f, scalar_type t, const value_at_position& a,
                              const value_at_position& b) {
  constexpr scalar_type whole = scalar_type::int64;
  // Chooses the lower position among equal values: if the axis of distribution is not the outermost, the positions of
  // several members are interleaved.
  const expression_program is_before = apply(operation::less, whole, b.position, a.position);
  const expression_program tie = negated(either(is_better(f, t, a.value, b.value), is_better(f, t, b.value, a.value)));
  const expression_program wins = either(is_better(f, t, b.value, a.value), both(tie, is_before));
  return {apply(operation::select, t, wins, b.value, a.value),
          apply(operation::select, whole, wins, b.position, a.position)};
}

expression_program position_in_whole(const expression_program& position, const program_part& own, std::uint8_t axes) {
  // A position is (outer * count + along) * inner + rest, where `along` is the index along an axis. Axes are converted
  // one after the other, the last one first: `inner` is that of the whole, and `outer` is still that of the member.
  constexpr scalar_type t = scalar_type::int64;
  expression_program p = position;
  std::size_t inner = 1;
  for (std::size_t d = 0; d != own.shape.rank; ++d) {
    if (!(axes >> d & 1)) continue;
    const std::size_t count = own.shape.extent[d], all = own.whole.extent[d];
    if (count != all) {
      expression_program more = whole_number(inner * static_cast<std::size_t>(own.first[d]));
      if ((axes >> (d + 1)) != 0) {
        const expression_program outer = apply(operation::divide, t, p, whole_number(inner * count));
        more = apply(operation::add, t, std::move(more),
                     apply(operation::multiply, t, outer, whole_number(inner * (all - count))));
      }
      p = apply(operation::add, t, p, more);
    }
    inner *= all;
  }
  return p;
}

}  // namespace ferry::inline FERRY_ABI::detail
