/// @file
/// Copies between Eigen matrices and sharded arrays. Optional: requires Eigen 3.3 or later, which ferry itself does
/// not.
#pragma once
#include "ferry/core/eigen_copy.hpp"
#include "ferry/multigpu/shard_copy.hpp"
#include "ferry/version.hpp"

#if __has_include(<Eigen/Core>)
#include <Eigen/Core>

namespace ferry::inline FERRY_ABI {

/// @addtogroup sharded_arrays
/// @{

/// Copies the coefficients of a vector, matrix or expression of any storage order to a sharded array. Halos do not
/// change. Blocks until the coefficients have been read.
/// @param from the coefficients
/// @param to the array, of the same shape
/// @throws invalid_argument for different shapes
template <class Derived, class T, std::size_t Rank, memory_kind Kind>
void copy(const Eigen::DenseBase<Derived>& from, sharded_array<T, Rank, Kind>& to) {
  static_assert(Rank <= 2, "Eigen's matrices have two dimensions");
  detail::need_same_shape(detail::shape_of<Rank>(from), to.extents());
  const detail::eigen_of_all<T, Rank> rows = from.derived().template cast<T>();
  copy(std::span<const T>(rows.data(), to.size()), to, source_line{});
}

/// Returns all elements as a vector or a row-major matrix. Blocks as to_vector does, and all processes of the team must
/// call it.
template <class T, std::size_t Rank, memory_kind Kind>
detail::eigen_of_all<T, Rank> to_eigen(const sharded_array<T, Rank, Kind>& a) {
  static_assert(Rank <= 2, "Eigen's matrices have two dimensions");
  using matrix = detail::eigen_of_all<T, Rank>;
  matrix m(static_cast<Eigen::Index>(a.extent(0)), static_cast<Eigen::Index>(Rank == 1 ? 1 : a.extent(Rank - 1)));
  if (detail::spans_processes(a.team())) {
    const std::vector<T> all = to_vector(a, source_line{});
    m = Eigen::Map<const matrix>(all.data(), m.rows(), m.cols());
  } else {
    copy(a, std::span<T>(m.data(), a.size()), source_line{});
  }
  return m;
}
/// Copies all elements to a vector or matrix of the same shape, in its own storage order and type. Blocks as to_eigen
/// does.
/// @param from the array
/// @param to the vector or matrix
/// @throws invalid_argument for different shapes
template <class T, std::size_t Rank, memory_kind Kind, class Derived>
void copy(const sharded_array<T, Rank, Kind>& from, Eigen::DenseBase<Derived>& to) {
  detail::need_same_shape(from.extents(), detail::shape_of<Rank>(to));
  to.derived() = to_eigen(from).template cast<typename Derived::Scalar>();
}

/// @}

}  // namespace ferry::inline FERRY_ABI
#endif
