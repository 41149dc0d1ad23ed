// The steps of the interpreting kernel that access memory, or that write constants and indices to slots.
#pragma once
#include <cstdint>

#include "cuda/jit/interpreter_functions.hpp"
#include "cuda/jit/interpreter_slots.hpp"

namespace ferry::inline FERRY_ABI::detail::cuda {
namespace interpreter {

template <class T>
constexpr unsigned vector_bytes = sizeof(T) * interpreter_lanes < 16 ? sizeof(T) * interpreter_lanes : 16;

__device__ __forceinline__ char* address(const place& p, const interpreter_access& a, unsigned rank) {
  char* at = a.data;
#pragma unroll
  for (unsigned d = 0; d < max_rank; ++d)
    if (d < rank) at += static_cast<long long>(p.at[d]) * a.stride[d];
  return at;
}
template <class T>
__device__ __forceinline__ bool is_vector(const place& p, const char* at, long long stride) {
  return p.lanes == interpreter_lanes && stride == static_cast<long long>(sizeof(T)) &&
         reinterpret_cast<std::uintptr_t>(at) % vector_bytes<T> == 0;
}

template <class T>
__device__ __forceinline__ quad<T> load(const place& p, const char* at, long long stride) {
  packed<T> r;
  if (is_vector<T>(p, at, stride)) {
    if constexpr (sizeof(T) == 1)
      r.chunk[0].x = *reinterpret_cast<const unsigned*>(at);
    else if constexpr (sizeof(T) == 2)
      *reinterpret_cast<uint2*>(&r.chunk[0]) = *reinterpret_cast<const uint2*>(at);
    else
#pragma unroll
      for (unsigned c = 0; c < chunks_of<T>; ++c) r.chunk[c] = reinterpret_cast<const uint4*>(at)[c];
    return r.lanes;
  }
#pragma unroll
  for (unsigned l = 0; l < interpreter_lanes; ++l) {
    const unsigned within = l < p.lanes ? l : 0;
    r.lanes.v[l] = *reinterpret_cast<const T*>(at + static_cast<long long>(within) * stride);
  }
  return r.lanes;
}
template <class T>
__device__ __forceinline__ void load_plain(const place& p, const interpreter_step& s, const char* at,
                                           long long stride) {
  put(p, s.to, load<T>(p, at, stride));
}
__device__ __forceinline__ void run_load(const place& p, const interpreter_step& s, const interpreter_access& a,
                                         unsigned rank) {
  const char* const at = address(p, a, rank);
  const long long stride = a.stride[0];
  const auto type = static_cast<scalar_type>(s.from);
  if (type == scalar_type::half || type == scalar_type::bfloat16) {
    const quad<unsigned short> bits = load<unsigned short>(p, at, stride);
    quad<float> r;
#pragma unroll
    for (unsigned l = 0; l < interpreter_lanes; ++l)
      r.v[l] = type == scalar_type::half ? float_of_half(bits.v[l]) : float_of_bfloat16(bits.v[l]);
    return put(p, s.to, r);
  }
  switch (type) {
    case scalar_type::boolean:
    case scalar_type::int8:
    case scalar_type::uint8: return load_plain<unsigned char>(p, s, at, stride);
    case scalar_type::int16:
    case scalar_type::uint16: return load_plain<unsigned short>(p, s, at, stride);
    case scalar_type::int32:
    case scalar_type::uint32:
    case scalar_type::float32: return load_plain<unsigned>(p, s, at, stride);
    case scalar_type::int64:
    case scalar_type::uint64:
    case scalar_type::float64: return load_plain<unsigned long long>(p, s, at, stride);
    case scalar_type::complex64: return load_plain<unsigned long long>(p, s, at, stride);
    case scalar_type::complex128: return load_plain<complex<double>>(p, s, at, stride);
    default: return;
  }
}

template <class T>
__device__ __forceinline__ void store(const place& p, const quad<T>& value, const quad<bool>& mask, char* at,
                                      long long stride) {
  packed<T> r;
  r.lanes = value;
  if (mask.v[0] && mask.v[1] && mask.v[2] && mask.v[3] && is_vector<T>(p, at, stride)) {
    if constexpr (sizeof(T) == 1)
      *reinterpret_cast<unsigned*>(at) = r.chunk[0].x;
    else if constexpr (sizeof(T) == 2)
      *reinterpret_cast<uint2*>(at) = *reinterpret_cast<const uint2*>(&r.chunk[0]);
    else
#pragma unroll
      for (unsigned c = 0; c < chunks_of<T>; ++c) reinterpret_cast<uint4*>(at)[c] = r.chunk[c];
    return;
  }
#pragma unroll
  for (unsigned l = 0; l < interpreter_lanes; ++l)
    if (l < p.lanes && mask.v[l]) *reinterpret_cast<T*>(at + static_cast<long long>(l) * stride) = r.lanes.v[l];
}
__device__ __forceinline__ void run_store(const place& p, const interpreter_step& s, const interpreter_access& a,
                                          unsigned rank) {
  char* const at = address(p, a, rank);
  const long long stride = a.stride[0];
  quad<bool> mask{{true, true, true, true}};
  if (s.to != no_slot) mask = get<bool>(p, s.to);
  const auto type = static_cast<scalar_type>(s.type);
  if (type == scalar_type::half || type == scalar_type::bfloat16) {
    const quad<float> f = get<float>(p, s.a);
    quad<unsigned short> bits;
#pragma unroll
    for (unsigned l = 0; l < interpreter_lanes; ++l)
      bits.v[l] = type == scalar_type::half ? half_of(f.v[l]) : bfloat16_of(f.v[l]);
    return store(p, bits, mask, at, stride);
  }
  switch (size_of(type)) {
    case 1: return store(p, get<unsigned char>(p, s.a), mask, at, stride);
    case 2: return store(p, get<unsigned short>(p, s.a), mask, at, stride);
    case 4: return store(p, get<unsigned>(p, s.a), mask, at, stride);
    case 8: return store(p, get<unsigned long long>(p, s.a), mask, at, stride);
    default: return store(p, get<complex<double>>(p, s.a), mask, at, stride);
  }
}

template <class T>
__device__ __forceinline__ void put_everywhere(const place& p, const interpreter_step& s, const void* constant) {
  const T x = *static_cast<const T*>(constant);
  put(p, s.to, quad<T>{{x, x, x, x}});
}
__device__ __forceinline__ void run_constant(const place& p, const interpreter_step& s, const void* constant) {
  switch (size_of(static_cast<scalar_type>(s.type))) {
    case 1: return put_everywhere<unsigned char>(p, s, constant);
    case 2: return put_everywhere<unsigned short>(p, s, constant);
    case 4: return put_everywhere<unsigned>(p, s, constant);
    case 8: return put_everywhere<unsigned long long>(p, s, constant);
    default: return put_everywhere<complex<double>>(p, s, constant);
  }
}
__device__ __forceinline__ void run_index(const place& p, const interpreter_step& s) {
  quad<long long> r;
#pragma unroll
  for (unsigned l = 0; l < interpreter_lanes; ++l) {
    unsigned long long at = 0;
#pragma unroll
    for (unsigned d = 0; d < max_rank; ++d)
      if (d == s.number) at = p.at[d];
    r.v[l] = static_cast<long long>(at) + (s.number == 0 ? l : 0);
  }
  put(p, s.to, r);
}

}  // namespace interpreter
}  // namespace ferry::inline FERRY_ABI::detail::cuda
