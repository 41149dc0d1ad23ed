/// @file
/// ferry::adapt of Eigen's dense objects, transposes, and diagonal, triangular and self-adjoint matrices. Included by
/// ferry/eigen.hpp. Optional: requires Eigen 3.3 or later, which ferry itself does not.
#pragma once
#include "ferry/core/adapt.hpp"
#include "ferry/core/eigen_copy.hpp"
#include "ferry/version.hpp"

#if __has_include(<Eigen/Core>)
#include <Eigen/Core>

namespace ferry::inline FERRY_ABI {

/// @addtogroup copies
/// @{

/// Eigen's vectors (rank 1) and row-major matrices (rank 2) as a template of arrays: adapt<eigen_array>(x) copies
/// arrays to them.
template <class T, std::size_t Rank>
using eigen_array = detail::eigen_of_all<T, Rank>;

/// What adapt() makes of Eigen's diagonal matrices: the elements of the diagonal.
template <template <class, std::size_t> class A, class T>
struct diagonal_matrix {
  A<T, 1> elements;
  FERRY_MEMBERS(elements);
};
/// What adapt() makes of Eigen's triangular views: all elements of the matrix.
/// @tparam Part `std::integral_constant` with the mode of the view, as Eigen::Lower | Eigen::UnitDiag
template <template <class, std::size_t> class A, class T, class Part>
struct triangular_matrix {
  A<T, 2> elements;
  FERRY_MEMBERS(elements);
};
/// What adapt() makes of Eigen's self-adjoint views: all elements of the matrix.
/// @tparam Part `std::integral_constant` with the half that counts, Eigen::Lower or Eigen::Upper
template <template <class, std::size_t> class A, class T, class Part>
struct self_adjoint_matrix {
  A<T, 2> elements;
  FERRY_MEMBERS(elements);
};

namespace detail {

template <unsigned Mode>
using eigen_part = std::integral_constant<unsigned, Mode>;

template <eigen_dense X>
struct eigen_memory {
  static constexpr bool is = true;
  using value_type = std::remove_const_t<typename X::Scalar>;
  static constexpr std::size_t rank = X::IsVectorAtCompileTime ? 1 : 2;
  static extents<rank> shape(const X& x) { return shape_of<rank>(x); }
  template <class Array>
  static auto make(const Array& a, source_line at) {
    return to_eigen(a, at);
  }
};
template <eigen_dense X>
struct cpu_memory<X> : eigen_memory<X> {};

// A transpose stays one: a view of a copy with the storage order of the original.
template <class X>
requires(!Eigen::Transpose<X>::IsVectorAtCompileTime) struct cpu_memory<Eigen::Transpose<X>>
    : eigen_memory<Eigen::Transpose<X>> {
  template <class Adapter>
  static auto adapted(const Eigen::Transpose<X>& x, const Adapter& copy) {
    using whole = decltype(copy.uploaded(x));
    using view = array_view<typename whole::value_type, 2, whole::kind>;
    if constexpr (Eigen::Transpose<X>::IsRowMajor) {
      whole a = copy.uploaded(x);
      return view(a.owner(), a.unsynchronized_data(), a.extents(), a.strides());
    } else {
      whole a = copy.uploaded(x.nestedExpression());
      return view(a.transpose());
    }
  }
};

// Matrices of which some elements count: a struct Whole, here with arrays of Eigen.
template <class Whole>
struct eigen_part_memory {
  static constexpr bool is = true;
  template <class X, class Adapter>
  static auto adapted(const X& x, const Adapter& copy) {
    using made = typename Adapter::template rebound<Whole>;
    if constexpr (requires { x.nestedExpression(); })
      return made{copy.uploaded(x.nestedExpression())};
    else
      return made{copy.uploaded(x.diagonal())};
  }
};
template <class T, int Size, int Most>
struct cpu_memory<Eigen::DiagonalMatrix<T, Size, Most>> : eigen_part_memory<diagonal_matrix<eigen_array, T>> {};
template <class V>
struct cpu_memory<Eigen::DiagonalWrapper<V>> : eigen_part_memory<diagonal_matrix<eigen_array, typename V::Scalar>> {};
template <class M, unsigned Mode>
struct cpu_memory<Eigen::TriangularView<M, Mode>>
    : eigen_part_memory<triangular_matrix<eigen_array, typename M::Scalar, eigen_part<Mode>>> {};
template <class M, unsigned Half>
struct cpu_memory<Eigen::SelfAdjointView<M, Half>>
    : eigen_part_memory<self_adjoint_matrix<eigen_array, typename M::Scalar, eigen_part<Half>>> {};

template <class A>
decltype(auto) eigen_elements(const A& a, source_line at) {
  if constexpr (array_like<A>)
    return to_eigen(a, at);
  else
    return (a);
}

}  // namespace detail

/// Returns the matrix as Eigen's type. Blocks until the elements are copied.
/// @param m the matrix, with arrays of any kind or of Eigen
/// @param at the caller's source line, for error texts
template <template <class, std::size_t> class A, class T>
Eigen::DiagonalMatrix<T, Eigen::Dynamic> to_eigen(const diagonal_matrix<A, T>& m,
                                                  source_line at = source_line::here()) {
  return Eigen::DiagonalMatrix<T, Eigen::Dynamic>(detail::eigen_elements(m.elements, at));
}
/// Returns all elements of the triangular matrix: zeros in the other half, ones on a unit diagonal. Blocks until the
/// elements are copied.
template <template <class, std::size_t> class A, class T, class Part>
eigen_array<T, 2> to_eigen(const triangular_matrix<A, T, Part>& m, source_line at = source_line::here()) {
  return detail::eigen_elements(m.elements, at).template triangularView<Part::value>();
}
/// Returns all elements of the self-adjoint matrix: the other half mirrors the one that counts. Blocks until the
/// elements are copied.
template <template <class, std::size_t> class A, class T, class Part>
eigen_array<T, 2> to_eigen(const self_adjoint_matrix<A, T, Part>& m, source_line at = source_line::here()) {
  return detail::eigen_elements(m.elements, at).template selfadjointView<Part::value>();
}

/// @}

}  // namespace ferry::inline FERRY_ABI
#endif
