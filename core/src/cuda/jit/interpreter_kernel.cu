#include "cuda/jit/interpreter_kernel.hpp"

#include <algorithm>
#include <cstring>
#include <type_traits>

#include "cuda/jit/interpreter_functions.hpp"

namespace ferry::inline FERRY_ABI::detail::cuda {
namespace interpreter {

extern __shared__ uint4 block_memory[];  // the program, then the slots

// The lanes of a thread: their slots, and their indices.
struct place {
  unsigned slots;    // index of its first chunk in block_memory
  unsigned threads;  // distance between its chunks
  unsigned chunks;
  unsigned lanes;                   // number of lanes with elements
  unsigned long long at[max_rank];  // index of the first lane along each axis
};

// The lanes of a slot: chunks of 16 bytes, `threads` apart.
template <class T>
struct quad {
  T v[interpreter_lanes];
};
template <class T>
constexpr unsigned chunks_of = sizeof(T) * interpreter_lanes <= 16 ? 1u : sizeof(T) * interpreter_lanes / 16;

template <class T>
union packed {
  __device__ packed() {}
  uint4 chunk[chunks_of<T>];
  quad<T> lanes;
};
template <class T>
__device__ __forceinline__ quad<T> get(const place& p, unsigned slot) {
  packed<T> r;
  const unsigned first = p.slots + slot * p.chunks * p.threads;
  if constexpr (sizeof(T) == 1) {
    r.chunk[0].x = block_memory[first].x;
  } else if constexpr (sizeof(T) == 2) {
    *reinterpret_cast<uint2*>(&r.chunk[0]) = *reinterpret_cast<const uint2*>(&block_memory[first]);
  } else {
#pragma unroll
    for (unsigned c = 0; c < chunks_of<T>; ++c) r.chunk[c] = block_memory[first + c * p.threads];
  }
  return r.lanes;
}
template <class T>
__device__ __forceinline__ void put(const place& p, unsigned slot, const quad<T>& value) {
  packed<T> r;
  r.lanes = value;
  const unsigned first = p.slots + slot * p.chunks * p.threads;
  if constexpr (sizeof(T) == 1) {
    block_memory[first].x = r.chunk[0].x;
  } else if constexpr (sizeof(T) == 2) {
    *reinterpret_cast<uint2*>(&block_memory[first]) = *reinterpret_cast<const uint2*>(&r.chunk[0]);
  } else {
#pragma unroll
    for (unsigned c = 0; c < chunks_of<T>; ++c) block_memory[first + c * p.threads] = r.chunk[c];
  }
}

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

__device__ __noinline__ void run_rounding(const place& p, const interpreter_step& s) {
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

template <class Index>
__device__ __forceinline__ void locate(place& p, const interpreter_header& h, Index at) {
#pragma unroll
  for (unsigned d = 0; d < max_rank; ++d) {
    p.at[d] = 0;
    if (d >= h.rank) continue;
    if (d + 1u == h.rank) {
      p.at[d] = at;
      continue;
    }
    const Index rest = at / static_cast<Index>(h.digits[d]);
    p.at[d] = at - rest * static_cast<Index>(h.digits[d]);
    at = rest;
  }
  p.at[0] *= interpreter_lanes;
  p.lanes = h.row - p.at[0] < interpreter_lanes ? static_cast<unsigned>(h.row - p.at[0]) : interpreter_lanes;
}

// Interprets the program that is in block_memory. Not inline: it is compiled once for all kernels.
__device__ __noinline__ void interpret_block() {
  const auto& h = *reinterpret_cast<const interpreter_header*>(block_memory);
  const auto* const constants = reinterpret_cast<const program_constant*>(&h + 1);
  const auto* const accesses = reinterpret_cast<const interpreter_access*>(constants + h.constants);
  const auto* const steps = reinterpret_cast<const interpreter_step*>(accesses + h.accesses);
  const unsigned count = h.steps, rank = h.rank;
  place p;
  p.threads = blockDim.x;
  p.chunks = h.chunks;
  p.slots = h.bytes / 16 + threadIdx.x;
  for (unsigned k = 0; k < h.first_step; ++k) run_constant(p, steps[k], &constants[steps[k].number]);
  const unsigned long long step = static_cast<unsigned long long>(gridDim.x) * blockDim.x;
  for (unsigned long long at = blockIdx.x * static_cast<unsigned long long>(blockDim.x) + threadIdx.x; at < h.positions;
       at += step) {
    if (h.is_narrow)
      locate(p, h, static_cast<unsigned>(at));
    else
      locate(p, h, at);
    for (unsigned k = h.first_step; k < count; ++k) {
      const interpreter_step s = steps[k];
      switch (s.what) {
#define FERRY_OPERATION(name, operands, domain, result, code) \
  case static_cast<std::uint8_t>(operation::name): run_typed<operation::name>(p, s); break;
        FERRY_OPERATIONS(FERRY_OPERATION)
#undef FERRY_OPERATION
        case static_cast<std::uint8_t>(operation::load): run_load(p, s, accesses[s.number], rank); break;
        case static_cast<std::uint8_t>(operation::index): run_index(p, s); break;
        case static_cast<std::uint8_t>(operation::cast): run_any_cast(p, s); break;
        case static_cast<std::uint8_t>(operation::round_to_half):
        case static_cast<std::uint8_t>(operation::round_to_bfloat16): run_rounding(p, s); break;
        case store_code: run_store(p, s, accesses[s.number], rank); break;
        default: break;
      }
    }
  }
}

constexpr unsigned most_threads = 256, blocks_of_multiprocessor = 6;

template <std::size_t Bytes>
struct alignas(16) parameters {
  uint4 words[Bytes / 16];
};
constexpr std::size_t small_bytes = 4080;
#if CUDART_VERSION >= 12010
constexpr std::size_t large_bytes = 32752;
#endif

template <std::size_t Bytes>
__global__ void __launch_bounds__(most_threads, blocks_of_multiprocessor)
    interpret_program(const __grid_constant__ parameters<Bytes> program) {
  const unsigned words = reinterpret_cast<const interpreter_header*>(&program)->bytes / 16;
  for (unsigned k = threadIdx.x; k < words; k += blockDim.x) block_memory[k] = program.words[k];
  __syncthreads();
  interpret_block();
}

template <std::size_t Bytes>
cudaError_t launch(const interpreter_program& p, int multiprocessors, cudaStream_t s) {
  const auto kernel = interpret_program<Bytes>;
  int device = 0, most = 0;
  if (const cudaError_t e = cudaGetDevice(&device)) return e;
  if (const cudaError_t e = cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, device)) return e;
  const unsigned threads = p.threads_for(static_cast<std::size_t>(most));
  if (threads == 0) return cudaErrorNotSupported;
  const std::size_t shared = p.shared_bytes(threads);
  if (shared > std::size_t{48} << 10)
    if (const cudaError_t e = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, most)) return e;
  parameters<Bytes> program;
  std::memcpy(&program, p.data(), p.size());
  const std::uint64_t needed = (p.header().positions + threads - 1) / threads;
  const std::uint64_t resident =
      static_cast<std::uint64_t>(multiprocessors) * 4 * blocks_of_multiprocessor * (most_threads / threads);
  kernel<<<static_cast<unsigned>(std::min(needed, resident)), threads, shared, s>>>(program);
  return cudaGetLastError();
}

}  // namespace interpreter

cudaError_t launch_interpreter(const interpreter_program& p, int multiprocessors, cudaStream_t s) {
  if (p.size() <= interpreter::small_bytes) return interpreter::launch<interpreter::small_bytes>(p, multiprocessors, s);
#if CUDART_VERSION >= 12010
  if (p.size() <= interpreter::large_bytes) return interpreter::launch<interpreter::large_bytes>(p, multiprocessors, s);
#endif
  return cudaErrorNotSupported;
}

}  // namespace ferry::inline FERRY_ABI::detail::cuda
