/// @file
/// Functions of the program in array expressions: one text for the CPU and for CUDA devices.
#pragma once
#include <math.h>  // overloads of <cmath> outside of std, as in device code

#include <cmath>
#include <complex>
#include <utility>

#include "ferry/core/detail/expressions/function_traits.hpp"
#include "ferry/core/expression.hpp"
#include "ferry/version.hpp"

namespace ferry::inline FERRY_ABI {

/// @addtogroup expressions
/// @{

/// The type of the objects that FERRY_FUNCTION defines. Called with values, such an object is an ordinary C++ function.
/// Called with at least one array, view, expression or scalar of a device, it is an expression.
/// @tparam F the class that the macro defines
template <class F, class Signature = typename decltype(detail::signature_of(&F::compute))::type>
class element_function;
/// @cond
template <class F, class R, class... P>
class element_function<F, R(P...)> {
  using traits = detail::function_traits<F, R(P...)>;

 public:
  constexpr element_function() { detail::need_function_types<R, P...>(); }
  /// The function's value.
  R operator()(P... values) const { return F::compute(values...); }
  /// The expression of the function's values. Arguments are converted to the types of the parameters as by cast, and
  /// broadcast.
  template <class... X>
  requires(sizeof...(X) == sizeof...(P) &&
           (... || (detail::kind_of_operand<X>.role >= detail::operand_role::value))) auto
  operator()(X&&... arguments) const {
    (detail::need_element_type<X>(), ...);
    static_assert((... && (!detail::is_complex(detail::kind_of_operand<X>.type) ||
                           detail::is_complex(detail::scalar_type_of<P>()))),
                  "a FERRY_FUNCTION gets complex elements for a real parameter: pass real(e), imag(e) or abs(e)");
    detail::expression_program programs[] = {
        detail::expression_program(detail::program_of(std::forward<X>(arguments)))...};
    return detail::make_expression<detail::scalar_type_of<R>(), detail::common_rank<X...>>(
        detail::call_program(definition(), programs), arguments...);
  }
  /// Rejects other numbers of arguments at compile time.
  template <class... X>
  requires(sizeof...(X) != sizeof...(P)) auto operator()(X&&...) const {
    static_assert(sizeof...(X) == sizeof...(P),
                  "a FERRY_FUNCTION is called with another number of arguments than it has parameters");
    if constexpr ((... || (detail::kind_of_operand<X>.role >= detail::operand_role::value)))
      return detail::make_expression<detail::scalar_type_of<R>(), detail::common_rank<X...>>({});
    else
      return R();
  }
  /// Used by FERRY_FUNCTION_USING.
  static constexpr const detail::function_definition& definition() { return traits::definition; }
};
/// @endcond

/// @}

}  // namespace ferry::inline FERRY_ABI

/// Defines a function of elements, `name`, in the enclosing namespace. Its text is compiled by the compiler of the
/// source, and by NVRTC where an expression runs on a CUDA device:
/// `FERRY_FUNCTION(float, gelu, (float x), { return 0.5f * x * (1 + erf(x * 0.70710678f)); });`
/// The body may use its parameters, local variables, loops, ternaries, constants, macros that are constants, and the
/// functions of `<cmath>`, with or without `std::`. It may use no other variable or function.
/// @param type of the result; it and the parameters are of the types of elements, without references
/// @param name of the function
/// @param parameters in parentheses: 1 to 8
/// @note Use it outside of functions and classes. docs/expressions.md has the details.
#define FERRY_FUNCTION(type, name, parameters, ...) FERRY_FUNCTION_USING((), type, name, parameters, __VA_ARGS__)
/// As FERRY_FUNCTION, for a body that calls other functions defined by these macros.
/// @param functions their names, in parentheses, separated by commas
/// @param type of the result, as for FERRY_FUNCTION
/// @param name of the function
/// @param parameters in parentheses: 1 to 8
#define FERRY_FUNCTION_USING(functions, type, name, parameters, ...)                                                 \
  struct ferry_function_##name {                                                                                     \
    __attribute__((always_inline)) static inline type compute parameters { FERRY_DETAIL_NO_CONTRACTION __VA_ARGS__ } \
    static constexpr const char* label() { return #name; }                                                           \
    static constexpr const char* result_text() { return FERRY_DETAIL_TEXT(type); }                                   \
    static constexpr const char* parameter_text() { return FERRY_DETAIL_TEXT(parameters); }                          \
    static constexpr const char* body() { return FERRY_DETAIL_TEXT(__VA_ARGS__); }                                   \
    static constexpr const char* file() { return __FILE__; }                                                         \
    static constexpr unsigned line() { return __LINE__; }                                                            \
    static constexpr auto used() { return ::ferry::detail::definitions_of functions; }                               \
  };                                                                                                                 \
  inline constexpr ::ferry::element_function<ferry_function_##name> name {}
