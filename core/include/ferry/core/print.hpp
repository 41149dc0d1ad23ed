/// @file
/// Elements as text, in NumPy's layout, and single elements of arrays that the CPU cannot access.
#pragma once
#include <cstddef>
#include <iosfwd>
#include <string>

#include "ferry/core/copy.hpp"
#include "ferry/core/detail/expressions/expression_operand.hpp"
#include "ferry/core/detail/printing/printed_source.hpp"
#include "ferry/core/expression.hpp"
#include "ferry/version.hpp"

namespace ferry::inline FERRY_ABI {

/// @addtogroup arrays
/// @{

/// How print() writes an array. The values are NumPy's.
struct print_options {
  std::size_t line_width = 75;   ///< longer rows continue in the next line
  std::size_t threshold = 1000;  ///< arrays of more elements are abbreviated
  std::size_t edge_items = 3;    ///< elements at each end of an abbreviated dimension
  std::size_t precision = 8;     ///< most digits behind the decimal point
};

namespace detail {
// Copies the elements that are shown to the CPU.
std::string text_of_elements(const program_operand& o, const print_options& how);
std::string text_of_elements(const printed_source& from, const print_options& how);
void print_text(const std::string& text);
void print_text(std::ostream& to, const std::string& text);
}  // namespace detail

/// Returns the elements as text, in the layout of NumPy's str(). Blocks until they are copied to the CPU. Only elements
/// that are shown are copied.
/// @param a array, view or expression
/// @param how width, precision, abbreviation
template <class A>
requires(detail::kind_of_operand<A>.is_lazy()) std::string to_text(A&& a, const print_options& how = {}) {
  constexpr detail::operand_kind kind = detail::kind_of_operand<A>;
  detail::need_element_type<A>();
  if constexpr (kind.role == detail::operand_role::array) {
    return detail::text_of_elements(detail::operand_of(a), how);
  } else {
    const basic_array<detail::scalar_of<kind.type>, kind.rank, memory_kind::device> now(lazy(std::forward<A>(a)));
    return detail::text_of_elements(detail::operand_of(now), how);
  }
}
/// Writes to_text() and a line feed to the standard output. Blocks as to_text().
template <class A>
requires(detail::kind_of_operand<A>.is_lazy()) void print(A&& a, const print_options& how = {}) {
  detail::print_text(to_text(std::forward<A>(a), how) + "\n");
}

/// Elements that operator<< writes; made by printed().
class printed_elements {
 public:
  explicit printed_elements(std::string text) : text_(std::move(text)) {}
  friend std::ostream& operator<<(std::ostream& to, const printed_elements& p) {
    detail::print_text(to, p.text_);
    return to;
  }

 private:
  std::string text_;
};
/// For streams: `std::cout << printed(a)`. Blocks as to_text().
template <class A>
requires(detail::kind_of_operand<A>.is_lazy()) printed_elements printed(A&& a, const print_options& how = {}) {
  return printed_elements(to_text(std::forward<A>(a), how));
}

/// Returns the value of one element of an array in any kind of memory, also of a device array. Blocks until the work
/// that writes it is complete, and it is copied.
/// @param a array or view
/// @param index one index for each dimension
/// @throws invalid_argument if an index is out of range
template <class T, std::size_t Rank, memory_kind Kind, class... Index>
requires(sizeof...(Index) == Rank && (std::is_convertible_v<Index, std::size_t> && ...))  //
    std::remove_const_t<T> value_at(const array_view<T, Rank, Kind>& a, Index... index) {
  std::remove_const_t<T> value{};
  const auto one = a.slice({slice(static_cast<std::size_t>(index), static_cast<std::size_t>(index) + 1)...});
  detail::copy_elements(nullptr, detail::pageable_side(&value, one.extents()), detail::side_of(one),
                        detail::shape_of<T>(one.extents()));
  return value;
}

/// @}

}  // namespace ferry::inline FERRY_ABI
