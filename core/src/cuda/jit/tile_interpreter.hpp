// The device code of the tile kernel: each block loads one tile of all operands, executes the steps on it, and stores
// the outputs.
#pragma once
#include "cuda/jit/tile_elements.hpp"

namespace ferry::inline FERRY_ABI::detail::cuda {
namespace interpreter {

// Loads elements of another type than T: half, bfloat16 or bool.
template <class T>
__device__ __forceinline__ uint4 converted(scalar_type type, long long stride, unsigned lanes, const char* at) {
  chunk<T> r;
#pragma unroll
  for (unsigned l = 0; l < lanes_of<T>; ++l) {
    const char* const from = at + (l < lanes ? l : 0) * stride;
    if (type == scalar_type::boolean)
      r.v[l] = *reinterpret_cast<const unsigned char*>(from);
    else if (type == scalar_type::half)
      r.v[l] = float_of_half(*reinterpret_cast<const unsigned short*>(from));
    else
      r.v[l] = float_of_bfloat16(*reinterpret_cast<const unsigned short*>(from));
  }
  return r.bits;
}
// Loads what is no whole chunk, or of another type.
template <class T>
__device__ __noinline__ void load_elements(scalar_type type, long long stride, unsigned lanes, const char* at,
                                           unsigned to) {
  if (type != type_of<T>) return put_chunk(to, converted<T>(type, stride, lanes, at));
#pragma unroll
  for (unsigned l = 0; l < lanes_of<T>; ++l)
    if (l < lanes) copy_async<sizeof(T)>(to + l * sizeof(T), at + l * stride);
}
template <class T>
__device__ __forceinline__ uint4 repeated(T x) {
  chunk<T> r;
#pragma unroll
  for (unsigned l = 0; l < lanes_of<T>; ++l) r.v[l] = x;
  return r.bits;
}

// Loads the elements of a transposed operand for all threads of the block, in the order of its memory.
template <class T, unsigned Axes>
__device__ __forceinline__ void load_transposed(const tile_program& p, const tile_access& a, elements<Axes> tile,
                                                unsigned slots) {
  constexpr unsigned width = tile_width * lanes_of<T>, step = tile_threads / tile_height;
  constexpr unsigned rows = tile_threads / tile_width;
  const unsigned y = threadIdx.x % tile_height, first = threadIdx.x / tile_height;
  if (!advance(p, tile, y)) return;
  const long long stride = a.stride[0];
  const char* from = address(p, a, tile) + first * stride;
  const unsigned to = slots + a.slot + y / rows * tile_threads * chunk_bytes;
#pragma unroll
  for (unsigned j = 0; j < width / step; ++j) {
    const unsigned x = first + j * step, chunk_of_x = swizzled(y % rows * tile_width + x / lanes_of<T>);
    if (tile.at[0] + x < p.row)
      copy_async<sizeof(T)>(to + chunk_of_x * chunk_bytes + x % lanes_of<T> * sizeof(T), from);
    from += step * stride;
  }
}

template <class T, unsigned Axes, unsigned Chunks>
__device__ __forceinline__ void load_chunks(const tile_program& p, tile_thread t, const elements<Axes> (&e)[Chunks]) {
  const bool is_whole = are_whole<T>(e);
#pragma unroll 1
  for (unsigned k = 0; k < p.operands; ++k) {
    const tile_access& a = p.access[k];
    const tile_access_kind kind = a.kind;
    const unsigned to = t.slots + a.slot;
    if (kind == tile_access_kind::chunks && is_whole) {
#pragma unroll
      for (unsigned u = 0; u < Chunks; ++u) copy_async<chunk_bytes>(to + u * t.next, address(p, a, e[u]));
    } else if (kind == tile_access_kind::one) {
#pragma unroll
      for (unsigned u = 0; u < Chunks; ++u)
        if (e[u].lanes != 0) put_chunk(to + u * t.next, repeated(*reinterpret_cast<const T*>(address(p, a, e[u]))));
    } else if (kind != tile_access_kind::transposed) {
#pragma unroll
      for (unsigned u = 0; u < Chunks; ++u)
        if (e[u].lanes != 0) load_elements<T>(a.type, a.stride[0], e[u].lanes, address(p, a, e[u]), to + u * t.next);
    }
  }
}

template <class T>
__device__ __noinline__ void store_elements(scalar_type type, long long stride, unsigned lanes, char* at,
                                            unsigned value, unsigned mask) {
  chunk<T> x, m;
  x.bits = get_chunk(value);
  m.bits = mask != tile_program::no_mask ? get_chunk(mask) : repeated(T(1));
#pragma unroll
  for (unsigned l = 0; l < lanes_of<T>; ++l) {
    if (l >= lanes || m.v[l] == T(0)) continue;
    char* const to = at + l * stride;
    switch (type) {
      case scalar_type::boolean: *reinterpret_cast<bool*>(to) = x.v[l] != T(0); break;
      case scalar_type::half: *reinterpret_cast<unsigned short*>(to) = half_of(x.v[l]); break;
      case scalar_type::bfloat16: *reinterpret_cast<unsigned short*>(to) = bfloat16_of(x.v[l]); break;
      default: *reinterpret_cast<T*>(to) = x.v[l];
    }
  }
}
template <class T, unsigned Axes, unsigned Chunks>
__device__ __forceinline__ void store_chunks(const tile_program& p, tile_thread t, const elements<Axes> (&e)[Chunks]) {
  const bool is_whole = are_whole<T>(e);
  const unsigned end = static_cast<unsigned>(p.operands) + p.outputs;
#pragma unroll 1
  for (unsigned k = p.operands; k < end; ++k) {
    const tile_access& a = p.access[k];
    const unsigned from = t.slots + a.slot, mask = a.mask;
    if (a.kind == tile_access_kind::chunks && mask == tile_program::no_mask && is_whole) {
#pragma unroll
      for (unsigned u = 0; u < Chunks; ++u)
        *reinterpret_cast<uint4*>(address(p, a, e[u])) = get_chunk(from + u * t.next);
    } else {
#pragma unroll
      for (unsigned u = 0; u < Chunks; ++u)
        if (e[u].lanes != 0)
          store_elements<T>(a.type, a.stride[0], e[u].lanes, address(p, a, e[u]), from + u * t.next,
                            mask == tile_program::no_mask ? mask : t.slots + mask + u * t.next);
    }
  }
}

// Calls f(thread, elements) for the chunks of a thread: for all of them at once if their indices fit the registers.
// make(u) returns the elements of chunk u.
template <unsigned Axes, class Make, class F>
__device__ __forceinline__ void for_chunks(tile_thread t, Make make, F f) {
  constexpr unsigned together = Axes <= 2 ? tile_chunks : 1;
#pragma unroll 1
  for (unsigned first = 0; first < tile_chunks; first += together, t.slots += together * t.next) {
    elements<Axes> e[together];
#pragma unroll
    for (unsigned u = 0; u < together; ++u) e[u] = make(first + u);
    f(t, e);
  }
}
// The usual numbers of axes have code of their own, which computes less.
template <class T, unsigned Axes>
__device__ __forceinline__ void load_rows(const tile_program& p, tile_thread t) {
  for_chunks<Axes>(
      t, [&](unsigned u) { return locate<T, Axes>(p, u); }, [&](tile_thread at, auto& e) { load_chunks<T>(p, at, e); });
}
template <class T, unsigned Axes>
__device__ __forceinline__ void store_rows(const tile_program& p, tile_thread t) {
  for_chunks<Axes>(
      t, [&](unsigned u) { return locate<T, Axes>(p, u); },
      [&](tile_thread at, auto& e) { store_chunks<T>(p, at, e); });
}
template <class T, unsigned Axes>
__device__ __forceinline__ void load_tile(const tile_program& p, tile_thread t, unsigned slots) {
  const elements<Axes> tile = locate_tile<T, Axes>(p);
#pragma unroll 1
  for (unsigned k = 0; k < p.operands; ++k)
    if (p.access[k].kind == tile_access_kind::transposed) load_transposed<T>(p, p.access[k], tile, slots);
  for_chunks<Axes>(
      t, [&](unsigned u) { return locate_in_tile<T>(p, tile, u); },
      [&](tile_thread at, auto& e) { load_chunks<T>(p, at, e); });
}
template <class T, unsigned Axes>
__device__ __forceinline__ void store_tile(const tile_program& p, tile_thread t) {
  const elements<Axes> tile = locate_tile<T, Axes>(p);
  for_chunks<Axes>(
      t, [&](unsigned u) { return locate_in_tile<T>(p, tile, u); },
      [&](tile_thread at, auto& e) { store_chunks<T>(p, at, e); });
}
template <class T>
__device__ __forceinline__ void load(const tile_program& p, tile_thread t, unsigned slots) {
  if (p.tile_axis != 0)
    p.rank == 2 ? load_tile<T, 2>(p, t, slots) : load_tile<T, max_rank>(p, t, slots);
  else if (p.rank == 1)
    load_rows<T, 1>(p, t);
  else if (p.rank == 2)
    load_rows<T, 2>(p, t);
  else
    load_rows<T, max_rank>(p, t);
  wait_for_copies();
  if (p.tile_axis != 0) __syncthreads();
}
template <class T>
__device__ __forceinline__ void store(const tile_program& p, tile_thread t) {
  if (p.tile_axis != 0)
    p.rank == 2 ? store_tile<T, 2>(p, t) : store_tile<T, max_rank>(p, t);
  else if (p.rank == 1)
    store_rows<T, 1>(p, t);
  else if (p.rank == 2)
    store_rows<T, 2>(p, t);
  else
    store_rows<T, max_rank>(p, t);
}

// Values of bool are 0 or 1, of type T.
template <operation What, class T>
__device__ __forceinline__ T computed(T a, T b, T c) {
  if constexpr (What == operation::logical_and)
    return a != T(0) && b != T(0);
  else if constexpr (What == operation::logical_or)
    return a != T(0) || b != T(0);
  else if constexpr (What == operation::logical_not)
    return a == T(0);
  else if constexpr (is_call(What, type_of<T>))
    return called<What, type_of<T>>(a, b, c);
  else
    return wrapped<What, T>(a, b, c);
}
template <operation What, class T>
__device__ __forceinline__ void run(const tile_step& s, tile_thread t) {
  constexpr bool is_logical =
      What == operation::logical_and || What == operation::logical_or || What == operation::logical_not;
  if constexpr (is_logical || (is_defined(What, type_of<T>) && !is_complex(result_type(What, type_of<T>)))) {
    constexpr int operands = info_of(What).operands;
    constexpr int unroll = is_call(What, type_of<T>) && !is_logical ? 1 : int(tile_chunks);
#pragma unroll unroll
    for (unsigned u = 0; u < tile_chunks; ++u, t.slots += t.next) {
      chunk<T> x, y, z, r;
      x.bits = get_chunk(t.slots + s.a);
      y.bits = operands > 1 ? get_chunk(t.slots + s.b) : x.bits;
      z.bits = operands > 2 ? get_chunk(t.slots + s.c) : x.bits;
#pragma unroll
      for (unsigned l = 0; l < lanes_of<T>; ++l) r.v[l] = computed<What, T>(x.v[l], y.v[l], z.v[l]);
      put_chunk(t.slots + s.to, r.bits);
    }
  }
}

template <class T>
__device__ __forceinline__ void put_constants(const tile_program& p, tile_thread t) {
#pragma unroll 1
  for (unsigned k = 0; k < p.constants; ++k) {
    const uint4 x = repeated(*reinterpret_cast<const T*>(&p.constant[k]));
    const unsigned to = t.slots + p.constant_slot[k];
#pragma unroll
    for (unsigned u = 0; u < tile_chunks; ++u) put_chunk(to + u * t.next, x);
  }
}

template <class T>
__device__ __forceinline__ void execute_steps(const tile_program& p, tile_thread t) {
#pragma unroll 1
  for (unsigned k = 0; k < p.steps; ++k) {
    const tile_step s = p.step[k];
    switch (s.what) {
#define FERRY_OPERATION(name, operands, domain, result, code) \
  case static_cast<std::uint16_t>(operation::name): run<operation::name, T>(s, t); break;
      FERRY_OPERATIONS(FERRY_OPERATION)
#undef FERRY_OPERATION
      default: break;
    }
  }
}

__device__ __forceinline__ tile_thread thread_of_block(unsigned slots) {
  return {slots + swizzled(threadIdx.x) * chunk_bytes, blockDim.x * chunk_bytes};
}

constexpr int blocks_of_tiles = 6;  // of a multiprocessor

template <class T>
__global__ void __launch_bounds__(tile_threads, blocks_of_tiles)
    interpret_tile(const __grid_constant__ tile_program p) {
  const unsigned slots = first_slot();
  const tile_thread t = thread_of_block(slots);
  put_constants<T>(p, t);
  load<T>(p, t, slots);
  execute_steps<T>(p, t);
  store<T>(p, t);
}

}  // namespace interpreter
}  // namespace ferry::inline FERRY_ABI::detail::cuda
