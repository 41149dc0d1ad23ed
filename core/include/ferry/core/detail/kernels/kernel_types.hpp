// How the kernels of functors with a text name the types of their parameters.
#pragma once
#include <array>
#include <cstddef>
#include <string>
#include <type_traits>

#include "ferry/core/detail/kernels/loop_layout.hpp"
#include "ferry/core/detail/operations/kernel_writer.hpp"
#include "ferry/core/detail/support/concat.hpp"
#include "ferry/core/detail/support/internal.hpp"
#include "ferry/core/detail/support/type_name.hpp"
#include "ferry/core/functor.hpp"
#include "ferry/core/half.hpp"
#include "ferry/core/mdspan.hpp"
#include "ferry/core/reduction_operations.hpp"

namespace ferry::inline FERRY_ABI {

template <class... M>
class soa_span;

namespace detail {

// Specializations have a static function name(kernel_writer&).
template <class T>
struct kernel_type {};
template <class T>
concept kernel_parameter = requires(kernel_writer& w) {
  kernel_type<T>::name(w);
};
template <class T>
std::string kernel_type_name(kernel_writer& w) {
  static_assert(
      kernel_parameter<T>,
      "NVRTC knows no definition of this parameter's type (it is named below): a loop with a FERRY_FUNCTOR in a "
      "source that nvcc does not compile takes arrays, scalars, numbers, std::array of these, and structures "
      "that FERRY_FUNCTOR defines; or let nvcc compile the source: add it by ferry_add_executable()");
  if constexpr (kernel_parameter<T>)
    return kernel_type<T>::name(w);
  else
    return "";
}

template <class T, class... Known>
inline constexpr bool is_one_of = (... || std::is_same_v<T, Known>);
// Types that device code names as the compiler of the program does.
template <class T>
inline constexpr bool is_device_type =
    is_one_of<T, void, bool, char, signed char, unsigned char, short, unsigned short, int, unsigned, long,
              unsigned long, long long, unsigned long long, float, double, std::byte, half, bfloat16, tile, plus,
              multiplies, minimum, maximum, minimum_number, maximum_number, space_1d, space_2d, space_3d, box_space_1d,
              box_space_2d, box_space_3d, space_of_tiles, block_layout>;

template <class T>
requires is_device_type<T>
struct kernel_type<T> {
  static std::string name(kernel_writer&) { return std::string(type_name<T>()); }
};
template <>
struct kernel_type<from_zero> {
  static std::string name(kernel_writer&) { return "from_zero"; }
};
template <std::size_t Rank>
struct kernel_type<from_first<Rank>> {
  static std::string name(kernel_writer&) { return concat("from_first<", Rank, ">"); }
};
template <std::size_t Rank, class Along>
struct kernel_type<space_nd<Rank, Along>> {
  static std::string name(kernel_writer& w) { return concat("space_nd<", Rank, ", ", kernel_type_name<Along>(w), ">"); }
};
template <has_functor_text T>
struct kernel_type<T> {
  static std::string name(kernel_writer& w) {
    return w.name_of(ferry_functor_definition(static_cast<const T*>(nullptr)));
  }
};
template <class T>
struct kernel_type<const T> {
  static std::string name(kernel_writer& w) { return "const " + kernel_type_name<T>(w); }
};
template <class T>
struct kernel_type<T*> {
  static std::string name(kernel_writer& w) { return kernel_type_name<T>(w) + "*"; }
};
template <class T, std::size_t N>
struct kernel_type<std::array<T, N>> {
  static std::string name(kernel_writer& w) { return concat("std::array<", kernel_type_name<T>(w), ", ", N, ">"); }
};
template <class T, std::size_t Rank>
struct kernel_type<mdspan<T, Rank>> {
  static std::string name(kernel_writer& w) {
    return concat("ferry::mdspan<", kernel_type_name<T>(w), ", ", Rank, ">");
  }
};
template <class First, class... M>
struct kernel_type<soa_span<First, M...>> {
  static std::string name(kernel_writer& w) {
    return "ferry::soa_span<" + kernel_type_name<First>(w) + (std::string() + ... + (", " + kernel_type_name<M>(w))) +
           ">";
  }
};
template <class P>
struct kernel_type<unit_strided<P>> {
  static std::string name(kernel_writer& w) { return "unit_strided<" + kernel_type_name<P>(w) + ">"; }
};

// The kernel of a body (kernel_bodies.hpp) with parameters of these types, for the functor F.
template <class Body, class F, class... P>
kernel_text kernel_text_of() {
  kernel_writer w(ferry_functor_definition(static_cast<const F*>(nullptr)), Body::text);
  (w.add_parameter(kernel_type_name<P>(w), sizeof(P), alignof(P)), ...);
  return w.text();
}

}  // namespace detail
}  // namespace ferry::inline FERRY_ABI
