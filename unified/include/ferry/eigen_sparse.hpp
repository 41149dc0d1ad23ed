/// @file
/// Sparse matrices of Eigen as arrays, and back. Optional: requires Eigen 3.3 or later, which ferry itself does not.
#pragma once
#include "ferry/eigen.hpp"
#include "ferry/version.hpp"

#if __has_include(<Eigen/SparseCore>)
#include <Eigen/SparseCore>
#include <type_traits>

namespace ferry::inline FERRY_ABI {

/// @addtogroup arrays
/// @{

/// A compressed sparse matrix in arrays: by rows (CSR) or by columns (CSC). Line i, a row or a column, has the elements
/// [starts[i], starts[i + 1]). Element k is values[k], and belongs to column (or row) indices[k].
/// @tparam T type of the values
/// @tparam ByRows true for CSR
/// @tparam Index signed integer type of starts and indices
template <class T, bool ByRows, class Index, memory_kind Kind = default_memory_kind<T>>
struct compressed_matrix {
  extents<2> shape;                     ///< {rows, columns}
  basic_array<Index, 1, Kind> starts;   ///< one for each line, and the number of elements
  basic_array<Index, 1, Kind> indices;  ///< one for each element
  basic_array<T, 1, Kind> values;       ///< one for each element
};

/// Copies a sparse matrix of Eigen into arrays. Blocks until it has been read.
/// @tparam Kind kind of memory
/// @param m a sparse matrix or map, by rows or by columns; other expressions, and matrices that are not compressed, are
///   first evaluated into a temporary
/// @param d device of the arrays
template <memory_kind Kind, class Derived>
auto from_eigen(const Eigen::SparseMatrixBase<Derived>& m, device d = default_device()) {
  using T = typename Derived::Scalar;
  using Index = typename Derived::StorageIndex;
  constexpr bool by_rows = Derived::IsRowMajor;
  const auto compressed = [&](const auto& c) {
    const auto lines = static_cast<std::size_t>(c.outerSize()), elements = static_cast<std::size_t>(c.nonZeros());
    compressed_matrix<T, by_rows, Index, Kind> r{
        extents<2>(c.rows(), c.cols()), basic_array<Index, 1, Kind>({lines + 1}, d),
        basic_array<Index, 1, Kind>({elements}, d), basic_array<T, 1, Kind>({elements}, d)};
    copy(std::span<const Index>(c.outerIndexPtr(), lines + 1), r.starts);
    copy(std::span<const Index>(c.innerIndexPtr(), elements), r.indices);
    copy(std::span<const T>(c.valuePtr(), elements), r.values);
    return r;
  };
  if constexpr (std::is_base_of_v<Eigen::SparseCompressedBase<Derived>, Derived>)
    if (m.derived().isCompressed()) return compressed(m.derived());
  Eigen::SparseMatrix<T, by_rows ? Eigen::RowMajor : Eigen::ColMajor, Index> all = m.derived();
  all.makeCompressed();
  return compressed(all);
}

/// @overload
template <class Derived>
auto from_eigen(const Eigen::SparseMatrixBase<Derived>& m, device d = default_device()) {
  return from_eigen<default_memory_kind<typename Derived::Scalar>>(m, d);
}

/// Returns the matrix as one of Eigen. Blocks until it is copied.
template <class T, bool ByRows, class Index, memory_kind Kind>
Eigen::SparseMatrix<T, ByRows ? Eigen::RowMajor : Eigen::ColMajor, Index> to_eigen(
    const compressed_matrix<T, ByRows, Index, Kind>& m) {
  Eigen::SparseMatrix<T, ByRows ? Eigen::RowMajor : Eigen::ColMajor, Index> r(static_cast<Eigen::Index>(m.shape[0]),
                                                                              static_cast<Eigen::Index>(m.shape[1]));
  const std::size_t elements = m.values.size();
  r.resizeNonZeros(static_cast<Eigen::Index>(elements));
  copy(m.starts, std::span<Index>(r.outerIndexPtr(), m.starts.size()));
  copy(m.indices, std::span<Index>(r.innerIndexPtr(), elements));
  copy(m.values, std::span<T>(r.valuePtr(), elements));
  return r;
}

/// @}

}  // namespace ferry::inline FERRY_ABI
#endif
