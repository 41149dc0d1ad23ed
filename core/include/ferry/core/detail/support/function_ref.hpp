// A reference to a function, for parameters, as std::function_ref of C++26.
#pragma once
#include <memory>
#include <type_traits>
#include <utility>

#include "ferry/core/detail/support/internal.hpp"

namespace ferry::inline FERRY_ABI::detail {

// Unlike std::function, it copies nothing, and compilers generate only one small function for each type. The referenced
// function must outlive it.
template <class Signature>
class function_ref;
template <class R, class... A>
class function_ref<R(A...)> {
  template <class F>
  static constexpr bool fits =
      !std::is_same_v<std::remove_cvref_t<F>, function_ref> && std::is_invocable_r_v<R, F&, A...>;

 public:
  template <class F, class = std::enable_if_t<fits<F>>>
  function_ref(F&& f) noexcept : call_(&call<std::remove_reference_t<F>>) {
    if constexpr (std::is_function_v<std::remove_reference_t<F>>)
      to_.function = reinterpret_cast<void (*)()>(&f);
    else
      to_.object = const_cast<void*>(static_cast<const void*>(std::addressof(f)));
  }
  R operator()(A... a) const { return call_(to_, std::forward<A>(a)...); }

 private:
  union target {
    void* object;
    void (*function)();
  };
  template <class F>
  static F& function_at(target t) {
    if constexpr (std::is_function_v<F>)
      return *reinterpret_cast<F*>(t.function);
    else
      return *static_cast<F*>(t.object);
  }
  template <class F>
  static R call(target t, A... a) {
    if constexpr (std::is_void_v<R>)
      static_cast<void>(function_at<F>(t)(std::forward<A>(a)...));
    else
      return function_at<F>(t)(std::forward<A>(a)...);
  }

  target to_;
  R (*call_)(target, A...);
};

}  // namespace ferry::inline FERRY_ABI::detail
