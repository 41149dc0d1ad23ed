/// @file
/// Copies between Eigen's dense objects and arrays. Included by ferry/eigen.hpp. Optional: requires Eigen 3.3 or later,
/// which ferry itself does not.
#pragma once
#include "ferry/core/array.hpp"
#include "ferry/core/copy.hpp"
#include "ferry/core/mdspan.hpp"
#include "ferry/version.hpp"

#if __has_include(<Eigen/Core>)
#include <Eigen/Core>

namespace ferry::inline FERRY_ABI {

/// @addtogroup arrays
/// @{

namespace detail {

template <class Derived>
void need_eigen_dense(const Eigen::DenseBase<Derived>&);
template <class X>
concept eigen_dense = requires(const X& x) {
  need_eigen_dense(x);
};

template <class T, std::size_t Rank>
using eigen_of_all = std::conditional_t<Rank == 1, Eigen::Matrix<T, Eigen::Dynamic, 1>,
                                        Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>>;

template <std::size_t Rank, class Derived>
extents<Rank> shape_of(const Eigen::DenseBase<Derived>& x) {
  static_assert(Rank == 1 || Rank == 2, "Eigen's objects have one or two dimensions");
  if constexpr (Rank == 1) {
    static_assert(Derived::IsVectorAtCompileTime, "an array of one dimension and a matrix: take a vector of Eigen's");
    return extents<1>(x.size());
  } else {
    return extents<2>(x.rows(), x.cols());
  }
}

template <class Derived>
inline constexpr bool has_eigen_memory = (Eigen::internal::traits<Derived>::Flags & Eigen::DirectAccessBit) != 0;

// The coefficients of an object that has memory, where they are.
template <std::size_t Rank, class Derived>
auto span_of_eigen(Derived& x) {
  using T = std::remove_reference_t<decltype(*x.data())>;
  const extents<Rank> e = shape_of<Rank>(x);
  if constexpr (Rank == 1)
    return mdspan<T, 1>(x.data(), e, strides<1>{x.innerStride()});
  else
    return mdspan<T, 2>(x.data(), e, strides<2>{x.rowStride(), x.colStride()});
}

template <class Derived, class Array>
void copy_from_eigen(const stream_ref* s, const Derived& from, Array& to, source_line at) {
  if constexpr (has_eigen_memory<Derived>) {
    upload(s, span_of_eigen<Array::rank>(from), to, at);
  } else {
    const typename Derived::PlainObject all = from;
    upload(s, span_of_eigen<Array::rank>(all), to, at);
  }
}
template <class Array, class Derived>
void copy_to_eigen(const stream_ref* s, const Array& from, Derived& to, source_line at) {
  static_assert(has_eigen_memory<Derived>,
                "the destination is an expression without memory of its own: take a matrix, vector, map or block");
  download(s, from, span_of_eigen<Array::rank>(to), at);
}

// For basic_array::from.
template <eigen_dense X>
struct foreign_elements<X> {
  template <std::size_t Rank>
  static extents<Rank> shape(const X& x) {
    return shape_of<Rank>(x);
  }
};

}  // namespace detail

/// Copies the coefficients of a vector, matrix, map, block or expression, of any storage order and of fixed or dynamic
/// size, to an array or view of the same shape. Numbers of different types are converted. Ordered on `s`, or on the
/// calling thread's stream of the array's device. Blocks until the coefficients have been read. Those that are not
/// row-major are first packed into a temporary in host memory.
/// @param from the coefficients: a vector for rank 1
/// @param to the array
/// @param at the caller's source line, for error texts
/// @throws invalid_argument for different shapes
template <class Derived, class T, std::size_t Rank, memory_kind Kind>
void copy(const Eigen::DenseBase<Derived>& from, array_view<T, Rank, Kind>& to, source_line at = source_line::here()) {
  detail::copy_from_eigen(nullptr, from.derived(), to, at);
}
/// @overload
template <class Derived, class T, std::size_t Rank, memory_kind Kind>
void copy(const Eigen::DenseBase<Derived>& from, array_view<T, Rank, Kind>&& to, source_line at = source_line::here()) {
  detail::copy_from_eigen(nullptr, from.derived(), to, at);
}
/// @overload
template <class Derived, class T, std::size_t Rank, memory_kind Kind>
void copy(stream_ref s, const Eigen::DenseBase<Derived>& from, array_view<T, Rank, Kind>& to,
          source_line at = source_line::here()) {
  detail::copy_from_eigen(&s, from.derived(), to, at);
}
/// @overload
template <class Derived, class T, std::size_t Rank, memory_kind Kind>
void copy(stream_ref s, const Eigen::DenseBase<Derived>& from, array_view<T, Rank, Kind>&& to,
          source_line at = source_line::here()) {
  detail::copy_from_eigen(&s, from.derived(), to, at);
}

/// Copies the elements of an array or view to a vector, matrix, map or block of the same shape, in its storage order
/// and type. Blocks until they are copied.
/// @param from the array
/// @param to the destination: a vector for rank 1; it is not resized
/// @param at the caller's source line, for error texts
/// @throws invalid_argument for different shapes
template <class T, std::size_t Rank, memory_kind Kind, class Derived>
void copy(const array_view<T, Rank, Kind>& from, Eigen::DenseBase<Derived>& to, source_line at = source_line::here()) {
  detail::copy_to_eigen(nullptr, from, to.derived(), at);
}
/// @overload
template <class T, std::size_t Rank, memory_kind Kind, class Derived>
void copy(const array_view<T, Rank, Kind>& from, Eigen::DenseBase<Derived>&& to, source_line at = source_line::here()) {
  static_assert(!std::is_base_of_v<Eigen::PlainObjectBase<Derived>, Derived>,
                "the destination is a temporary that owns its coefficients, and they would go with it");
  detail::copy_to_eigen(nullptr, from, to.derived(), at);
}
/// @overload
template <class T, std::size_t Rank, memory_kind Kind, class Derived>
void copy(stream_ref s, const array_view<T, Rank, Kind>& from, Eigen::DenseBase<Derived>& to,
          source_line at = source_line::here()) {
  detail::copy_to_eigen(&s, from, to.derived(), at);
}

/// Returns the elements of an array or view as a vector (rank 1) or a row-major matrix (rank 2). Blocks until they are
/// copied.
/// @param a the array
/// @param at the caller's source line, for error texts
template <class T, std::size_t Rank, memory_kind Kind>
detail::eigen_of_all<std::remove_const_t<T>, Rank> to_eigen(const array_view<T, Rank, Kind>& a,
                                                            source_line at = source_line::here()) {
  static_assert(Rank == 1 || Rank == 2, "Eigen's objects have one or two dimensions");
  detail::eigen_of_all<std::remove_const_t<T>, Rank> m(static_cast<Eigen::Index>(a.extent(0)),
                                                       static_cast<Eigen::Index>(Rank == 1 ? 1 : a.extent(Rank - 1)));
  copy(a, m, at);
  return m;
}

/// @}

}  // namespace ferry::inline FERRY_ABI
#endif
