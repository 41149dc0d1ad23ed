// The types of results. C++'s usual arithmetic conversions, except that a plain number does not widen a floating point
// or complex array.
#pragma once
#include "ferry/core/detail/operations/operation_list.hpp"
#include "ferry/core/detail/support/internal.hpp"

namespace ferry::inline FERRY_ABI::detail {

// Type of an operand. is_number: a value of C++ instead of elements of an array.
struct operand_type {
  scalar_type type = scalar_type::none;
  bool is_number = false;
};

// int for bool and the integers of 8 and 16 bits; other types unchanged.
constexpr scalar_type integer_promoted(scalar_type t) {
  return t == scalar_type::boolean || (is_integer(t) && size_of(t) < 4) ? scalar_type::int32 : t;
}

// Type of `a + b` for elements of arrays.
constexpr scalar_type usual_conversions(scalar_type a, scalar_type b) {
  using enum scalar_type;
  if (is_complex(a) || is_complex(b)) return real_of(a) == float64 || real_of(b) == float64 ? complex128 : complex64;
  if (is_floating(a) || is_floating(b)) {
    if (a == b) return a;
    if (!is_floating(a)) return b;
    if (!is_floating(b)) return a;
    return a == float64 || b == float64 ? float64 : float32;
  }
  a = integer_promoted(a), b = integer_promoted(b);
  if (is_signed(a) == is_signed(b)) return size_of(a) < size_of(b) ? b : a;
  const scalar_type with_sign = is_signed(a) ? a : b, without = is_signed(a) ? b : a;
  return size_of(with_sign) > size_of(without) ? with_sign : without;
}

// Type of `a + b`. At least one operand is no number.
constexpr scalar_type promoted(operand_type a, operand_type b) {
  if (a.is_number == b.is_number) return usual_conversions(a.type, b.type);
  const scalar_type array = a.is_number ? b.type : a.type, number = a.is_number ? a.type : b.type;
  if (is_complex(array)) return array;
  if (is_floating(array)) return is_complex(number) ? complex_of(array) : array;
  return usual_conversions(array, number);
}
constexpr operand_type promoted_operand(operand_type a, operand_type b) {
  return {promoted(a, b), a.is_number && b.is_number};
}

// Type of the operands of an operation after conversion; none if the operation does not take them. common: promoted()
// over all operands, of `select` over the last two.
constexpr scalar_type operands_of(operation o, scalar_type common) {
  using enum scalar_type;
  if (o == operation::select) return common;
  const bool takes_bool = is_defined(o, boolean), takes_integers = is_defined(o, int32);
  if (common == boolean && takes_bool) return boolean;
  const scalar_type t = integer_promoted(common);
  if (is_integer(t)) {
    if (takes_integers) return t;
    return is_defined(o, float64) ? float64 : none;  // as the functions of <cmath>
  }
  return is_defined(o, computed_as(t)) ? t : none;
}

// Type of the elements of the result, for operands of type t, which may be half: that of half + half is half.
constexpr scalar_type element_result(operation o, scalar_type t) { return result_type(o, t); }

}  // namespace ferry::inline FERRY_ABI::detail
