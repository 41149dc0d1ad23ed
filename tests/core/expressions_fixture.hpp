// Shared by the tests of expressions: arrays of small numbers, and checks of elements and of errors.
#pragma once
#include <boost/test/unit_test.hpp>
#include <string_view>
#include <type_traits>
#include <vector>

#include "ferry/core/array.hpp"
#include "ferry/core/error.hpp"
#include "ferry/core/expression.hpp"
#include "ferry/core/host.hpp"
#include "ferry/core/math.hpp"
#include "support/check_error.hpp"

namespace expressions_test {

namespace fr = ferry;

// first, first + 1, ... in row-major order.
template <class T, std::size_t Rank>
fr::device_array<T, Rank> counted(const fr::extents<Rank>& e, int first = 0) {
  std::vector<T> v(e.count());
  for (std::size_t i = 0; i != v.size(); ++i) {
    const int number = first + static_cast<int>(i);
    if constexpr (std::is_integral_v<T>)
      v[i] = static_cast<T>(number);  // wraps
    else
      v[i] = static_cast<T>(static_cast<float>(number));
  }
  return fr::device_array<T, Rank>::from(std::span<const T>(v), e);
}
template <class T>
fr::device_array<T, 1> array_of(const std::vector<T>& v) {
  return fr::device_array<T, 1>::from(std::span<const T>(v), fr::extents<1>{v.size()});
}
inline fr::device_array<bool, 1> mask_of(std::initializer_list<bool> v) {
  return fr::device_array<bool, 1>::from(std::span<const bool>(v.begin(), v.size()), fr::extents<1>{v.size()});
}

// Copies of the elements in row-major order; bool as unsigned char.
template <class T, std::size_t Rank, fr::memory_kind Kind>
auto elements(const fr::array_view<T, Rank, Kind>& a) {
  using stored =
      std::conditional_t<std::is_same_v<std::remove_const_t<T>, bool>, unsigned char, std::remove_const_t<T>>;
  fr::host_array<std::remove_const_t<T>, Rank> here(a.extents());
  fr::copy(a, here);
  std::vector<stored> v;
  for (const auto& x : fr::host_span(here)) v.push_back(static_cast<stored>(x));
  return v;
}
template <class T, std::size_t Rank>
auto elements(const fr::expression<T, Rank>& e) {
  return elements(fr::device_array<T, Rank>(e));
}

#define CHECK_ELEMENTS(found, ...)                                                                           \
  BOOST_TEST(expressions_test::elements(found) == (decltype(expressions_test::elements(found)) __VA_ARGS__), \
             boost::test_tools::per_element())

using support::check_error;

}  // namespace expressions_test
