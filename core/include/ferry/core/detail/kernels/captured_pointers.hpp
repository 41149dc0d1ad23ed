// Search for addresses in values that ferry does not track: functor members, lambda captures, non-array arguments.
#pragma once
#include <cstring>
#include <string_view>
#include <type_traits>

#include "ferry/core/arguments.hpp"
#include "ferry/core/detail/support/internal.hpp"
#include "ferry/core/detail/support/type_name.hpp"

// 1 if the compiler can clear padding, which may contain stale addresses.
#if defined(__has_builtin)
#if __has_builtin(__builtin_clear_padding)
#define FERRY_CLEARS_PADDING 1
#endif
#endif
#ifndef FERRY_CLEARS_PADDING
#define FERRY_CLEARS_PADDING 0
#endif

namespace ferry::inline FERRY_ABI::detail {

// Where the bytes of a value are used: kernels cannot access all host memory. task: by the CPU, but later.
enum class used_by : std::uint8_t { kernel, cpu, task };

// One value of a call, as bytes.
struct plain_value {
  const void* bytes = nullptr;
  std::size_t size = 0;
  std::string_view type;
  std::size_t argument = 0;  // from 1; 0: the functor
  bool is_capture = false;   // of a lambda
};

// Examines each aligned word whose value is a multiple of 4. Throws invalid_argument for these addresses:
// - memory of a live array of this runtime, unless ferry::pointer returned it for this stream and no other access ended
//   that
// - with check::uses, memory of a destroyed array
// - with used_by::kernel, written host memory that devices cannot access
//
// With used_by::cpu, addresses of arrays that the CPU can access are allowed outside of captures.
void search_value(stream_ref s, source_line at, used_by by, const plain_value& v);

// False for types that cannot hold a pointer, and for types whose padding cannot be cleared.
template <class X>
consteval bool is_searched() {
  if constexpr (is_array_argument<X> || !std::is_object_v<X> || std::is_empty_v<X> || std::is_floating_point_v<X>)
    return false;
  else
    return sizeof(X) >= sizeof(void*) && alignof(X) >= alignof(void*) && std::is_trivially_copyable_v<X> &&
           (FERRY_CLEARS_PADDING || std::has_unique_object_representations_v<X>);
}

template <class X>
void search_one([[maybe_unused]] stream_ref s, [[maybe_unused]] source_line at, [[maybe_unused]] used_by by,
                [[maybe_unused]] std::size_t argument, [[maybe_unused]] const X& x,
                [[maybe_unused]] bool is_capture = false) {
  if constexpr (is_searched<X>()) {
    alignas(X) std::byte copy[sizeof(X)];
    std::memcpy(copy, static_cast<const void*>(&x), sizeof(X));
#if FERRY_CLEARS_PADDING
    if constexpr (!std::has_unique_object_representations_v<X>) __builtin_clear_padding(reinterpret_cast<X*>(copy));
#endif
    search_value(s, at, by, {copy, sizeof(X), type_name<X>(), argument, is_capture});
  }
}

#if defined(__CUDACC__)
// nvcc wraps a host-device lambda in an object that is not trivially copyable: the captures in order, then a pointer.
// Only the host compiler can name its type, hence the template template parameter.
template <template <bool, bool, bool, class, class, class...> class Wrapper, bool Mutable, bool Converts, bool NoThrow,
          class Tag, class Signature, class... Captures>
void search_captures(stream_ref s, source_line at, used_by by,
                     const Wrapper<Mutable, Converts, NoThrow, Tag, Signature, Captures...>& lambda) {
  const auto* const bytes = reinterpret_cast<const std::byte*>(&lambda);
  std::size_t offset = 0;
  [[maybe_unused]] const auto search_next = [&]<class C>(std::type_identity<C>) {  // unused without captures
    offset = (offset + alignof(C) - 1) / alignof(C) * alignof(C);
    search_one(s, at, by, 0, *reinterpret_cast<const C*>(bytes + offset), true);
    offset += sizeof(C);
  };
  (search_next(std::type_identity<Captures>()), ...);
}
#endif

template <class F>
void search_functor(stream_ref s, source_line at, used_by by, const F& f) {
#if defined(__CUDACC__)
  if constexpr (__nv_is_extended_host_device_lambda_closure_type(F) && !std::is_trivially_copyable_v<F>)
    return search_captures(s, at, by, f);
#endif
  search_one(s, at, by, 0, f);
}

template <class F, class... A>
void search_values(stream_ref s, source_line at, used_by by, const F& f, const A&... a) {
  search_functor(s, at, by, f);
  [[maybe_unused]] std::size_t argument = 0;
  (search_one(s, at, by, ++argument, a), ...);
}

// With check::pointers: runs search_value for the functor and each argument that is not an array.
template <class F, class... A>
void search_call(stream_ref s, source_line at, used_by by, const F& f, const A&... a) {
  if (runtime::current().checks.has(check::pointers)) [[unlikely]]
    search_values(s, at, by, f, a...);
}

// All checks of a call before its submission, behind one load: search_call, then poison(), which reads check::poison.
template <class Poison, class F, class... A>
void check_call(stream_ref s, source_line at, used_by by, Poison poison, const F& f, const A&... a) {
  if (runtime::current().checks.any()) [[unlikely]] {
    search_call(s, at, by, f, a...);
    poison();
  }
}

}  // namespace ferry::inline FERRY_ABI::detail
