/// @file
/// Views of arrays as Eigen matrices and vectors: no copies, usable in expressions. Also includes copies from and to
/// Eigen (core/eigen_copy.hpp), and uploads of Eigen's objects by adapt() (core/eigen_adapt.hpp). Optional: requires
/// Eigen 3.3 or later, which ferry itself does not.
#pragma once
#include "ferry/core/eigen_adapt.hpp"
#include "ferry/core/eigen_copy.hpp"
#include "ferry/core/host.hpp"
#include "ferry/version.hpp"

#if __has_include(<Eigen/Core>)
#include <Eigen/Core>

namespace ferry::inline FERRY_ABI {

namespace detail {

template <class T, int Order>
using eigen_matrix =
    std::conditional_t<std::is_const_v<T>,
                       const Eigen::Matrix<std::remove_const_t<T>, Eigen::Dynamic, Eigen::Dynamic, Order>,
                       Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Order>>;
template <class T>
using eigen_vector =
    std::conditional_t<std::is_const_v<T>, const Eigen::Matrix<std::remove_const_t<T>, Eigen::Dynamic, 1>,
                       Eigen::Matrix<T, Eigen::Dynamic, 1>>;
template <class T>
using eigen_rows = Eigen::Map<eigen_matrix<T, Eigen::RowMajor>, Eigen::Unaligned, Eigen::OuterStride<>>;
template <class T>
using eigen_columns = Eigen::Map<eigen_matrix<T, Eigen::ColMajor>, Eigen::Unaligned, Eigen::OuterStride<>>;
template <class T>
using eigen_strided =
    Eigen::Map<eigen_matrix<T, Eigen::RowMajor>, Eigen::Unaligned, Eigen::Stride<Eigen::Dynamic, Eigen::Dynamic>>;

// An Eigen map that ferry can track (FERRY_CHECK_SPANS): its elements are in use while the map or a copy of it lives.
// Expressions of it hold plain maps, which are not tracked.
template <class Map>
class held_map : public Map {
 public:
  held_map(Map all, held_range held) : Map(all), held_(std::move(held)) {}
  held_map(const held_map&) = default;
  using Map::operator=;
  held_map& operator=(const held_map& elements) {  // copies elements, as all maps do
    Map::operator=(elements);
    return *this;
  }

 private:
  held_range held_;
};

}  // namespace detail
}  // namespace ferry::inline FERRY_ABI

// Eigen requires these specializations for the type of a matrix, so that a program can name it.
namespace Eigen::internal {
template <class Map>
struct traits<ferry::detail::held_map<Map>> : traits<Map> {};
template <class Map>
struct evaluator<ferry::detail::held_map<Map>> : evaluator<Map> {
  using evaluator<Map>::evaluator;
};
}  // namespace Eigen::internal

namespace ferry::inline FERRY_ABI {

/// @addtogroup arrays
/// @{

namespace detail {

template <class View>
void need_stride(bool ok, const View& of, source_line at, const char* what) {
  if (!ok) throw invalid_argument("as_eigen of a view of " + array_text(of.look()) + in_line(at) + ": " + what);
}
inline Eigen::Index index_of(std::size_t n) { return static_cast<Eigen::Index>(n); }

template <class T, std::size_t Rank, memory_kind Kind>
void need_forward(const array_view<T, Rank, Kind>& v, source_line at) {
  for (std::size_t d = 0; d != Rank; ++d)
    need_stride(v.strides()[d] >= 0 || v.extent(d) < 2, v, at,
                "it runs backwards, and Eigen has no negative strides: give view.clone()");
}

// Blocks until the CPU may access the view, then tracks the returned map.
template <class To, class View, class Map>
held_map<Map> wait_and_hold(const View& v, source_line at, const Map& all) {
  v.wait_for_host(!std::is_const_v<To>, at);
  return {all, hold(v, !std::is_const_v<To>, at, "map of as_eigen")};
}

template <class To, class T, memory_kind Kind>
auto map_vector(const array_view<T, 1, Kind>& v, source_line at) {
  need_stride(v.is_contiguous(), v, at, "it is strided: use as_eigen_strided");
  return wait_and_hold<To>(v, at, Eigen::Map<eigen_vector<To>>(v.unsynchronized_data(), index_of(v.size())));
}
template <class To, class T, memory_kind Kind>
auto map_strided_vector(const array_view<T, 1, Kind>& v, source_line at) {
  need_forward(v, at);
  using map = Eigen::Map<eigen_vector<To>, Eigen::Unaligned, Eigen::InnerStride<>>;
  return wait_and_hold<To>(v, at,
                           map(v.unsynchronized_data(), index_of(v.size()), Eigen::InnerStride<>(v.strides()[0])));
}
template <class To, class T, memory_kind Kind>
auto map_rows(const array_view<T, 2, Kind>& v, source_line at) {
  need_forward(v, at);
  need_stride(v.strides()[1] == 1 || v.extent(1) < 2, v, at,
              "it needs rows of neighbouring elements: use as_eigen_columns where columns are, else as_eigen_strided");
  return wait_and_hold<To>(v, at,
                           eigen_rows<To>(v.unsynchronized_data(), index_of(v.extent(0)), index_of(v.extent(1)),
                                          Eigen::OuterStride<>(v.strides()[0])));
}
template <class To, class T, memory_kind Kind>
auto map_columns(const array_view<T, 2, Kind>& v, source_line at) {
  need_forward(v, at);
  need_stride(v.strides()[0] == 1 || v.extent(0) < 2, v, at,
              "as_eigen_columns needs columns of neighbouring elements, as those of a transpose(): use as_eigen");
  return wait_and_hold<To>(v, at,
                           eigen_columns<To>(v.unsynchronized_data(), index_of(v.extent(0)), index_of(v.extent(1)),
                                             Eigen::OuterStride<>(v.strides()[1])));
}
template <class To, class T, memory_kind Kind>
auto map_strided(const array_view<T, 2, Kind>& v, source_line at) {
  need_forward(v, at);
  using strides = Eigen::Stride<Eigen::Dynamic, Eigen::Dynamic>;
  return wait_and_hold<To>(v, at,
                           eigen_strided<To>(v.unsynchronized_data(), index_of(v.extent(0)), index_of(v.extent(1)),
                                             strides(v.strides()[0], v.strides()[1])));
}

}  // namespace detail

/// Returns a map of a unified or pinned array for the CPU: a vector for rank 1, a row-major matrix for rank 2. Blocks
/// until conflicting device work is complete; for a const array, only until its writers are complete. The map is valid
/// until the next conflicting submission.
/// @param v the array or view; it is not copied
/// @param at the caller's source line, for error texts
/// @return an Eigen map of the elements; its elements are const if the view is
/// @throws invalid_argument if the elements of a row (for rank 1: of the vector) are not contiguous
/// @note With span checks (FERRY_CHECK_SPANS), a conflicting submission throws invalid_argument while the map lives.
template <class T, memory_kind Kind>
auto as_eigen(array_view<T, 1, Kind>& v, source_line at = source_line::here()) {
  return detail::map_vector<T>(v, at);
}
/// @overload
template <class T, memory_kind Kind>
auto as_eigen(const array_view<T, 1, Kind>& v, source_line at = source_line::here()) {
  return detail::map_vector<const T>(v, at);
}
/// @overload
template <class T, memory_kind Kind>
auto as_eigen(array_view<T, 2, Kind>& v, source_line at = source_line::here()) {
  return detail::map_rows<T>(v, at);
}
/// @overload
template <class T, memory_kind Kind>
auto as_eigen(const array_view<T, 2, Kind>& v, source_line at = source_line::here()) {
  return detail::map_rows<const T>(v, at);
}
/// @overload
template <class T, std::size_t Rank, memory_kind Kind>
auto as_eigen(array_view<T, Rank, Kind>&& v, source_line at = source_line::here()) {
  return as_eigen(v, at);
}

/// Returns a column-major map of a view whose columns are contiguous, such as a transpose(). Blocks as as_eigen does.
/// @param v a view of rank 2
/// @param at the caller's source line, for error texts
/// @return an Eigen map of the elements
/// @throws invalid_argument if the elements of a column are not contiguous
template <class T, memory_kind Kind>
auto as_eigen_columns(array_view<T, 2, Kind>& v, source_line at = source_line::here()) {
  return detail::map_columns<T>(v, at);
}
/// @overload
template <class T, memory_kind Kind>
auto as_eigen_columns(const array_view<T, 2, Kind>& v, source_line at = source_line::here()) {
  return detail::map_columns<const T>(v, at);
}
/// @overload
template <class T, memory_kind Kind>
auto as_eigen_columns(array_view<T, 2, Kind>&& v, source_line at = source_line::here()) {
  return as_eigen_columns(v, at);
}

/// Returns a map with arbitrary positive strides, which Eigen does not vectorize. Blocks as as_eigen does.
/// @param v a view of rank 1 or 2
/// @param at the caller's source line, for error texts
/// @return an Eigen map of the elements
/// @throws invalid_argument if a stride is negative
template <class T, memory_kind Kind>
auto as_eigen_strided(array_view<T, 2, Kind>& v, source_line at = source_line::here()) {
  return detail::map_strided<T>(v, at);
}
/// @overload
template <class T, memory_kind Kind>
auto as_eigen_strided(const array_view<T, 2, Kind>& v, source_line at = source_line::here()) {
  return detail::map_strided<const T>(v, at);
}
/// @overload
template <class T, memory_kind Kind>
auto as_eigen_strided(array_view<T, 2, Kind>&& v, source_line at = source_line::here()) {
  return as_eigen_strided(v, at);
}
/// @overload
template <class T, memory_kind Kind>
auto as_eigen_strided(array_view<T, 1, Kind>& v, source_line at = source_line::here()) {
  return detail::map_strided_vector<T>(v, at);
}
/// @overload
template <class T, memory_kind Kind>
auto as_eigen_strided(const array_view<T, 1, Kind>& v, source_line at = source_line::here()) {
  return detail::map_strided_vector<const T>(v, at);
}
/// @overload
template <class T, memory_kind Kind>
auto as_eigen_strided(array_view<T, 1, Kind>&& v, source_line at = source_line::here()) {
  return as_eigen_strided(v, at);
}

/// @}

}  // namespace ferry::inline FERRY_ABI
#endif
