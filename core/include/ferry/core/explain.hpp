/// @file
/// Explanations of the state of an array, and arrays as text.
#pragma once
#include <iosfwd>
#include <string>

#include "ferry/core/array.hpp"
#include "ferry/core/copy.hpp"
#include "ferry/core/detail/support/type_name.hpp"
#include "ferry/version.hpp"

namespace ferry::inline FERRY_ABI {

/// @addtogroup diagnostics
/// @{

namespace detail {
std::string explain_allocation(const allocation_ref& owner, byte_range bytes);
std::string headline(std::string_view type, std::string_view kind, const std::string& shape,
                     const allocation_ref& owner);
// Rows with more elements than printed_most show printed_edge at each end, as NumPy does.
inline constexpr std::size_t printed_edge = 3, printed_most = 8;
}  // namespace detail

/// Describes an array: owner, size, pool and access history (last streams on each byte range, running work). Never
/// blocks.
template <class T, std::size_t Rank, memory_kind Kind>
std::string explain(const array_view<T, Rank, Kind>& v) {
  return detail::headline(detail::type_name<std::remove_const_t<T>>(), kind_name(Kind), v.extents().text(), v.owner()) +
         "\n" + detail::explain_allocation(v.owner(), v.bytes());
}

/// Prints kind, device, shape and the elements, abbreviated. Blocks until the elements are written.
template <class Traits, class T, std::size_t Rank, memory_kind Kind>
std::basic_ostream<char, Traits>& operator<<(std::basic_ostream<char, Traits>& out,
                                             const array_view<T, Rank, Kind>& v) {
  out << detail::headline(detail::type_name<std::remove_const_t<T>>(), kind_name(Kind), v.extents().text(), v.owner());
  const auto elements = to_vector(v, source_line{});
  const auto& e = v.extents();
  const auto print = [&](auto& self, std::size_t d, std::size_t offset) -> void {
    if (d == Rank) {
      if constexpr (std::is_arithmetic_v<std::remove_const_t<T>>)
        out << +elements[offset];
      else if constexpr (requires { out << elements[0]; })
        out << elements[offset];
      else
        out << "?";
      return;
    }
    out << '[';
    std::size_t below = 1;
    for (std::size_t k = Rank; k-- > d + 1;) below *= e[k];
    for (std::size_t i = 0; i < e[d]; ++i) {
      if (e[d] > detail::printed_most && i == detail::printed_edge) {
        out << (d + 1 == Rank ? ", ..." : ",\n ...");
        i = e[d] - detail::printed_edge;
      }
      if (i > 0) out << (d + 1 == Rank ? ", " : ",\n ");
      self(self, d + 1, offset + i * below);
    }
    out << ']';
  };
  out << '\n';
  if (v.empty() && Rank > 0)
    out << "[]";
  else
    print(print, 0, 0);
  return out;
}

/// @}

}  // namespace ferry::inline FERRY_ABI
