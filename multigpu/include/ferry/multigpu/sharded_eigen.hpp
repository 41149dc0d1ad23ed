// Eigen's matrices to sharded arrays and back. Opt-in: needs Eigen 3.3 or later, which ferry itself does not.
#pragma once
#include "ferry/multigpu/shard_copy.hpp"

#if __has_include(<Eigen/Core>)
#include <Eigen/Core>

namespace ferry {

namespace detail {
template <class T>
using eigen_row_major = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
}

// The coefficients of a matrix or expression, whatever its storage order; halos are left alone. Blocks until they were
// read. Throws invalid_argument when the shapes differ.
template <class Derived, class T, memory_kind Kind>
void copy(const Eigen::DenseBase<Derived>& from, sharded_array<T, 2, Kind>& to) {
  detail::need_same_shape(extents<2>(from.rows(), from.cols()), to.extents());
  const detail::eigen_row_major<T> rows = from.derived().template cast<T>();
  copy(std::span<const T>(rows.data(), to.size()), to, source_line{});
}

// A row-major matrix of all elements. Blocks until the array is written and copied.
template <class T, memory_kind Kind>
detail::eigen_row_major<T> to_eigen(const sharded_array<T, 2, Kind>& a) {
  detail::eigen_row_major<T> m(static_cast<Eigen::Index>(a.extent(0)), static_cast<Eigen::Index>(a.extent(1)));
  copy(a, std::span<T>(m.data(), a.size()), source_line{});
  return m;
}

}  // namespace ferry
#endif
