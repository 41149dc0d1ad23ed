/// @file
/// Functors with a text: loops that need no nvcc.
#pragma once
#include <array>
#include <cstddef>
#include <span>

#include "ferry/core/detail/operations/functor_definition.hpp"
#include "ferry/core/macros.hpp"
#include "ferry/version.hpp"

namespace ferry::inline FERRY_ABI::detail {

template <class F>
concept has_functor_text = requires(const F* f) {
  ferry_functor_definition(f);
};

// The definitions of functors that another one uses.
template <class... F>
constexpr std::array<const functor_definition*, sizeof...(F)> definitions_of_functors() {
  static_assert((... && has_functor_text<F>),
                "FERRY_FUNCTOR_USING lists a type that has no text: define it by FERRY_FUNCTOR");
  return {&ferry_functor_definition(static_cast<const F*>(nullptr))...};
}

}  // namespace ferry::inline FERRY_ABI::detail

/// @addtogroup kernels
/// @{

/// 1 if multiplications and additions of functors with a text are contracted on CUDA devices, as by nvcc; 0 for the
/// results of a CPU without contraction. Define it in front of the first header of ferry, or by the compiler's option
/// -D.
#ifndef FERRY_FUNCTOR_CONTRACTION
#define FERRY_FUNCTOR_CONTRACTION 1
#endif

/// Defines a functor, `struct name { ... }`, in the enclosing namespace, with its text:
/// `FERRY_FUNCTOR(axpy, { float a; FERRY_HOST_DEVICE void operator()(std::size_t i, const float* x, float* y) const {
/// y[i] += a * x[i]; } });`
/// The compiler of the source compiles it as any class. A source that g++ or clang++ compiles for a ferry with CUDA
/// can use it in parallel_for and parallel_reduce: NVRTC compiles the text then. docs/functors.md says what the text
/// may use.
/// @param name of the functor
/// @note Use it outside of functions and classes.
#define FERRY_FUNCTOR(name, ...) FERRY_FUNCTOR_USING((), name, __VA_ARGS__)
/// As FERRY_FUNCTOR, for a functor that uses others of these macros.
/// @param functors their names, in parentheses, separated by commas
/// @param name of the functor
#define FERRY_FUNCTOR_USING(functors, name, ...)                                                             \
  struct name __VA_ARGS__;                                                                                   \
  [[maybe_unused]] inline const ::ferry::detail::functor_definition& ferry_functor_definition(const name*) { \
    static constexpr const char* text = FERRY_DETAIL_FUNCTOR_TEXT(__VA_ARGS__);                              \
    static const auto uses = FERRY_DETAIL_FUNCTORS functors;                                                 \
    static const ::ferry::detail::functor_definition definition{                                             \
        #name, text, __FILE__, __LINE__, uses, FERRY_DETAIL_IS_CHECKED, FERRY_FUNCTOR_CONTRACTION != 0};     \
    return definition;                                                                                       \
  }                                                                                                          \
  static_assert(sizeof(name) != 0)

/// @}

// The text of code after the expansion of its macros.
#define FERRY_DETAIL_FUNCTOR_TEXT(...) FERRY_DETAIL_FUNCTOR_TEXT_OF(__VA_ARGS__)
#define FERRY_DETAIL_FUNCTOR_TEXT_OF(...) #__VA_ARGS__
#define FERRY_DETAIL_FUNCTORS(...) ::ferry::detail::definitions_of_functors<__VA_ARGS__>()
#ifdef NDEBUG
#define FERRY_DETAIL_IS_CHECKED false
#else
#define FERRY_DETAIL_IS_CHECKED true
#endif
