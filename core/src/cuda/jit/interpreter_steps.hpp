// The steps of the interpreting kernel that compute: operations, casts and rounding, from slots to slots.
#pragma once
#include <cstdint>
#include <type_traits>

#include "cuda/jit/interpreter_functions.hpp"
#include "cuda/jit/interpreter_slots.hpp"

namespace ferry::inline FERRY_ABI::detail::cuda {
namespace interpreter {

template <operation What, scalar_type Type>
__device__ __forceinline__ void run(const place& p, const interpreter_step& s) {
  using T = value<Type>;
  using R = value<result_type(What, Type)>;
  constexpr int operands = info_of(What).operands;
  quad<R> r;
  if constexpr (What == operation::select) {
    const quad<bool> a = get<bool>(p, s.a);
    const quad<T> b = get<T>(p, s.b), c = get<T>(p, s.c);
#pragma unroll
    for (unsigned l = 0; l < interpreter_lanes; ++l) r.v[l] = a.v[l] ? b.v[l] : c.v[l];
  } else {
    const quad<T> a = get<T>(p, s.a);
    quad<T> b = a, c = a;
    if constexpr (operands > 1) b = get<T>(p, s.b);
    if constexpr (operands > 2) c = get<T>(p, s.c);
#pragma unroll
    for (unsigned l = 0; l < interpreter_lanes; ++l) {
      if constexpr (is_call(What, Type))
        r.v[l] = static_cast<R>(called<What, Type>(a.v[l], b.v[l], c.v[l]));
      else
        r.v[l] = static_cast<R>(wrapped<What, T>(a.v[l], b.v[l], c.v[l]));
    }
  }
  put(p, s.to, r);
}

template <operation What, scalar_type Type>
__device__ __forceinline__ void run_if_defined(const place& p, const interpreter_step& s) {
  if constexpr (is_defined(What, Type)) run<What, Type>(p, s);
}
template <operation What>
__device__ __forceinline__ void run_typed(const place& p, const interpreter_step& s) {
  switch (static_cast<scalar_type>(s.from)) {
    case scalar_type::boolean: return run_if_defined<What, scalar_type::boolean>(p, s);
    case scalar_type::int8: return run_if_defined<What, scalar_type::int8>(p, s);
    case scalar_type::uint8: return run_if_defined<What, scalar_type::uint8>(p, s);
    case scalar_type::int16: return run_if_defined<What, scalar_type::int16>(p, s);
    case scalar_type::uint16: return run_if_defined<What, scalar_type::uint16>(p, s);
    case scalar_type::int32: return run_if_defined<What, scalar_type::int32>(p, s);
    case scalar_type::uint32: return run_if_defined<What, scalar_type::uint32>(p, s);
    case scalar_type::int64: return run_if_defined<What, scalar_type::int64>(p, s);
    case scalar_type::uint64: return run_if_defined<What, scalar_type::uint64>(p, s);
    case scalar_type::float32: return run_if_defined<What, scalar_type::float32>(p, s);
    case scalar_type::float64: return run_if_defined<What, scalar_type::float64>(p, s);
    case scalar_type::complex64: return run_if_defined<What, scalar_type::complex64>(p, s);
    case scalar_type::complex128: return run_if_defined<What, scalar_type::complex128>(p, s);
    default: return;
  }
}

template <class To, class From>
__device__ __forceinline__ To cast(From a) {
  constexpr bool from_complex = std::is_class_v<From>;
  if constexpr (std::is_same_v<To, bool>) {
    return is_nonzero(a);
  } else if constexpr (std::is_class_v<To>) {
    using part = decltype(To().re);
    if constexpr (from_complex)
      return To(part(a.re), part(a.im));
    else
      return To(part(a), part(0));
  } else if constexpr (from_complex) {
    return To(0);  // never used: programs have no such cast
  } else if constexpr (std::is_integral_v<To> && std::is_floating_point_v<From>) {
    return to_integer<To>(a);
  } else {
    return static_cast<To>(a);
  }
}
template <scalar_type To, scalar_type From>
__device__ __forceinline__ void run_cast(const place& p, const interpreter_step& s) {
  const quad<value<From>> a = get<value<From>>(p, s.a);
  quad<value<To>> r;
#pragma unroll
  for (unsigned l = 0; l < interpreter_lanes; ++l) r.v[l] = cast<value<To>>(a.v[l]);
  put(p, s.to, r);
}
template <scalar_type To>
__device__ __noinline__ void cast_to(const place& p, const interpreter_step& s) {
  switch (static_cast<scalar_type>(s.from)) {
    case scalar_type::boolean: return run_cast<To, scalar_type::boolean>(p, s);
    case scalar_type::int8: return run_cast<To, scalar_type::int8>(p, s);
    case scalar_type::uint8: return run_cast<To, scalar_type::uint8>(p, s);
    case scalar_type::int16: return run_cast<To, scalar_type::int16>(p, s);
    case scalar_type::uint16: return run_cast<To, scalar_type::uint16>(p, s);
    case scalar_type::int32: return run_cast<To, scalar_type::int32>(p, s);
    case scalar_type::uint32: return run_cast<To, scalar_type::uint32>(p, s);
    case scalar_type::int64: return run_cast<To, scalar_type::int64>(p, s);
    case scalar_type::uint64: return run_cast<To, scalar_type::uint64>(p, s);
    case scalar_type::float32: return run_cast<To, scalar_type::float32>(p, s);
    case scalar_type::float64: return run_cast<To, scalar_type::float64>(p, s);
    case scalar_type::complex64: return run_cast<To, scalar_type::complex64>(p, s);
    case scalar_type::complex128: return run_cast<To, scalar_type::complex128>(p, s);
    default: return;
  }
}
__device__ __forceinline__ void run_any_cast(const place& p, const interpreter_step& s) {
  switch (static_cast<scalar_type>(s.type)) {
    case scalar_type::boolean: return cast_to<scalar_type::boolean>(p, s);
    case scalar_type::int8: return cast_to<scalar_type::int8>(p, s);
    case scalar_type::uint8: return cast_to<scalar_type::uint8>(p, s);
    case scalar_type::int16: return cast_to<scalar_type::int16>(p, s);
    case scalar_type::uint16: return cast_to<scalar_type::uint16>(p, s);
    case scalar_type::int32: return cast_to<scalar_type::int32>(p, s);
    case scalar_type::uint32: return cast_to<scalar_type::uint32>(p, s);
    case scalar_type::int64: return cast_to<scalar_type::int64>(p, s);
    case scalar_type::uint64: return cast_to<scalar_type::uint64>(p, s);
    case scalar_type::float32: return cast_to<scalar_type::float32>(p, s);
    case scalar_type::float64: return cast_to<scalar_type::float64>(p, s);
    case scalar_type::complex64: return cast_to<scalar_type::complex64>(p, s);
    case scalar_type::complex128: return cast_to<scalar_type::complex128>(p, s);
    default: return;
  }
}

static __device__ __noinline__ void run_rounding(const place& p, const interpreter_step& s) {
  const bool to_half = s.what == static_cast<std::uint8_t>(operation::round_to_half);
  quad<double> a;  // exact for floats
  if (static_cast<scalar_type>(s.from) == scalar_type::float64) {
    a = get<double>(p, s.a);
  } else {
    const quad<float> f = get<float>(p, s.a);
    for (unsigned l = 0; l < interpreter_lanes; ++l) a.v[l] = f.v[l];
  }
  quad<float> r;
#pragma unroll
  for (unsigned l = 0; l < interpreter_lanes; ++l)
    r.v[l] = to_half ? float_of_half(half_of(a.v[l])) : float_of_bfloat16(bfloat16_of(a.v[l]));
  put(p, s.to, r);
}

}  // namespace interpreter
}  // namespace ferry::inline FERRY_ABI::detail::cuda
