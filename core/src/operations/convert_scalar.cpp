#include "ferry/core/detail/operations/convert_scalar.hpp"

#include <cstring>
#include <type_traits>

namespace ferry::inline FERRY_ABI::detail {
namespace {

template <class F>
void with_scalar(scalar_type t, F f) {
  switch (t) {
#define FERRY_CASE(type) \
  case scalar_type::type: return f(std::type_identity<scalar_of<scalar_type::type>>())
    FERRY_CASE(boolean);
    FERRY_CASE(int8);
    FERRY_CASE(uint8);
    FERRY_CASE(int16);
    FERRY_CASE(uint16);
    FERRY_CASE(int32);
    FERRY_CASE(uint32);
    FERRY_CASE(int64);
    FERRY_CASE(uint64);
    FERRY_CASE(half);
    FERRY_CASE(bfloat16);
    FERRY_CASE(float32);
    FERRY_CASE(float64);
    FERRY_CASE(complex64);
    FERRY_CASE(complex128);
#undef FERRY_CASE
    case scalar_type::none: return;
  }
}

template <class To, class From>
To converted_scalar(From x) {
  constexpr bool from_complex = is_complex(scalar_type_of<From>()), to_complex = is_complex(scalar_type_of<To>());
  if constexpr (from_complex && !to_complex) {
    return To(0.f);
  } else if constexpr (to_complex) {
    using real = typename To::value_type;
    if constexpr (from_complex)
      return To(static_cast<real>(x.real()), static_cast<real>(x.imag()));
    else
      return To(static_cast<real>(x), real(0));
  } else if constexpr (std::is_same_v<From, half> || std::is_same_v<From, bfloat16>) {
    return converted_scalar<To>(static_cast<float>(x));
  } else if constexpr (std::is_same_v<To, bool>) {
    return x != From(0);
  } else if constexpr (std::is_integral_v<To> && std::is_floating_point_v<From>) {
    return saturated<To>(x);
  } else if constexpr (std::is_same_v<From, bool> && !std::is_integral_v<To>) {
    return To(static_cast<float>(x));
  } else {
    return static_cast<To>(x);
  }
}

}  // namespace

void convert_scalar(void* to, scalar_type to_type, const void* from, scalar_type from_type) {
  with_scalar(from_type, [&](auto from_tag) {
    typename decltype(from_tag)::type x;
    std::memcpy(&x, from, sizeof x);
    with_scalar(to_type, [&](auto to_tag) {
      using to_t = typename decltype(to_tag)::type;
      const to_t y = converted_scalar<to_t>(x);
      std::memcpy(to, &y, sizeof y);
    });
  });
}

}  // namespace ferry::inline FERRY_ABI::detail
