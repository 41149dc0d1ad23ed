// Functions of FERRY_FUNCTION as operations of programs: their types, their loop over blocks, their definition.
#pragma once
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include "ferry/core/detail/operations/function_definition.hpp"
#include "ferry/core/detail/support/internal.hpp"
#include "ferry/core/detail/support/vector_loop.hpp"

namespace ferry::inline FERRY_ABI::detail {

// An element in registers.
template <class T>
struct register_element {
  using type = T;
  static T load(T x) { return x; }
  static T store(T x) { return x; }
};
template <>
struct register_element<bool> {
  using type = unsigned char;
  static bool load(unsigned char x) { return x != 0; }
  static unsigned char store(bool x) { return x ? 1 : 0; }
};
template <>
struct register_element<half> {
  using type = float;
  static half load(float x) { return half(x); }
  static float store(half x) { return x; }
};
template <>
struct register_element<bfloat16> {
  using type = float;
  static bfloat16 load(float x) { return bfloat16(x); }
  static float store(bfloat16 x) { return x; }
};
template <class T>
using register_type_of = typename register_element<T>::type;

template <class R, class... P>
constexpr void need_function_types() {
  static_assert(sizeof...(P) >= 1 && sizeof...(P) <= most_parameters, "a FERRY_FUNCTION has 1 to 8 parameters");
  static_assert(
      (... && (scalar_type_of<P>() != scalar_type::none)) && scalar_type_of<R>() != scalar_type::none,
      "the parameters and the result of a FERRY_FUNCTION are values: bool, integers of at most 64 bits, half, "
      "bfloat16, float, double, or std::complex of float or double");
}

// F: the class that FERRY_FUNCTION defines.
template <class F, class Signature>
struct function_traits;
template <class F, class R, class... P>
struct function_traits<F, R(P...)> {
  using result = R;
  static constexpr std::size_t parameters = sizeof...(P);
  static constexpr std::array<scalar_type, most_parameters> parameter{scalar_type_of<P>()...};

  static void run(std::byte* to, const std::byte* const* operands, std::size_t n) {
    run_on(std::index_sequence_for<P...>(), to, operands, n);
  }
  static inline std::atomic<std::uint32_t> number{0};
  static constexpr auto uses = F::used();
  static constexpr function_definition definition{F::label(),
                                                  F::result_text(),
                                                  F::parameter_text(),
                                                  F::body(),
                                                  F::file(),
                                                  F::line(),
                                                  scalar_type_of<R>(),
                                                  static_cast<std::uint8_t>(parameters),
                                                  parameter,
                                                  &run,
                                                  std::span<const function_definition* const>(uses),
                                                  number};

 private:
  template <std::size_t... K>
  static void run_on(std::index_sequence<K...>, std::byte* to, const std::byte* const* operands, std::size_t n) {
    run_over(reinterpret_cast<register_type_of<R>*>(to), n,
             reinterpret_cast<const register_type_of<P>*>(operands[K])...);
  }
  static void run_over(register_type_of<R>* to, std::size_t n, const register_type_of<P>*... from) {
    vector_loop(
        static_cast<std::ptrdiff_t>(n),
        [&](std::ptrdiff_t i) { return register_element<R>::store(F::compute(register_element<P>::load(from[i])...)); },
        [&](std::ptrdiff_t i, const register_type_of<R>& value) { to[i] = value; });
  }
};
template <class R, class... P>
std::type_identity<R(P...)> signature_of(R (*)(P...));
template <class F>
using traits_of_function = function_traits<F, typename decltype(signature_of(&F::compute))::type>;

// The definitions of functions that another one calls.
template <class... F>
constexpr std::array<const function_definition*, sizeof...(F)> definitions_of(const F&...) {
  return {&F::definition()...};
}

}  // namespace ferry::inline FERRY_ABI::detail

// The text of code after the expansion of its macros.
#define FERRY_DETAIL_TEXT(...) FERRY_DETAIL_TEXT_OF(__VA_ARGS__)
#define FERRY_DETAIL_TEXT_OF(...) #__VA_ARGS__
// g++ contracts multiplications and additions only for processors with FMA, and has no directive for a block.
#ifdef __clang__
#define FERRY_DETAIL_NO_CONTRACTION _Pragma("clang fp contract(off)")
#else
#define FERRY_DETAIL_NO_CONTRACTION
#endif
