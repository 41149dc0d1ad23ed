// Addresses that a call hides from ferry: in members of functors, captures of lambdas, and arguments that are no arrays.
#pragma once
#include <cstring>
#include <string_view>
#include <type_traits>

#include "ferry/core/detail/kernels/arguments.hpp"
#include "ferry/core/detail/support/type_name.hpp"

// Whether the compiler can set padding to zero, which may hold stale addresses.
#if defined(__has_builtin)
#if __has_builtin(__builtin_clear_padding)
#define FERRY_CLEARS_PADDING 1
#endif
#endif
#ifndef FERRY_CLEARS_PADDING
#define FERRY_CLEARS_PADDING 0
#endif

namespace ferry::detail {

// Where the bytes of a value are used: kernels do not reach all memory of the CPU.
enum class used_by : std::uint8_t { kernel, cpu };

// One value of a call, as bytes.
struct plain_value {
  const void* bytes = nullptr;
  std::size_t size = 0;
  std::string_view type;
  std::size_t argument = 0;  // counted from 1; 0: the functor
  bool is_capture = false;   // of the functor, a lambda
};

// Looks at each aligned word whose value is a multiple of 4. Throws invalid_argument for an address of memory that an array
// of this machine has, unless ferry::pointer took it for this stream and no other use has ended that; with check::uses, of
// memory that an array had; and, with used_by::kernel, for one of memory of the CPU that devices do not reach and that was
// written. With used_by::cpu, arrays that the CPU reaches may be pointed at, outside of captures.
void search_value(stream_ref s, source_line at, used_by by, const plain_value& v);

// Types that cannot hold a pointer are left out, and those whose padding cannot be cleared.
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

// nvcc makes an object of each lambda for host and device that is not trivially copyable: the captures in order, and then a
// pointer of its own. Its name is known to the host compiler alone, hence the template of templates.
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

template <class F>
void search_functor(stream_ref s, source_line at, used_by by, const F& f) {
  if constexpr (requires { search_captures(s, at, by, f); })
    search_captures(s, at, by, f);
  else
    search_one(s, at, by, 0, f);
}

template <class F, class... A>
void search_values(stream_ref s, source_line at, used_by by, const F& f, const A&... a) {
  search_functor(s, at, by, f);
  [[maybe_unused]] std::size_t argument = 0;
  (search_one(s, at, by, ++argument, a), ...);
}

// With check::pointers: what search_value throws for the functor and each argument that is no array.
template <class F, class... A>
void search_call(stream_ref s, source_line at, used_by by, const F& f, const A&... a) {
  if (machine::current().checks.has(check::pointers)) [[unlikely]]
    search_values(s, at, by, f, a...);
}

// All checks of a call before its submission, behind one load: search_call, then poison(), which asks for check::poison.
template <class Poison, class F, class... A>
void check_call(stream_ref s, source_line at, used_by by, Poison poison, const F& f, const A&... a) {
  if (machine::current().checks.any()) [[unlikely]] {
    search_call(s, at, by, f, a...);
    poison();
  }
}

}  // namespace ferry::detail
