/// @file
/// Destinations for the results of a loop over ferry::batches.
#pragma once
#include <type_traits>

#include "ferry/core/arguments.hpp"
#include "ferry/core/array.hpp"
#include "ferry/core/detail/support/range_concepts.hpp"
#include "ferry/version.hpp"

namespace ferry::inline FERRY_ABI {

/// @addtogroup unified
/// @{

namespace detail {

// A dense Eigen object, detected by its members. Vectors have rank 1. Matrices are cut along their outer dimension
// (columns, or rows if they are row-major), and a piece has the shape {outer, inner}.
template <class M>
concept eigen_like = requires(const M& m) {
  typename M::Scalar;
  m.data(), m.outerSize(), m.innerSize(), m.outerStride(), m.innerStride();
};

template <class M>
auto extents_of_eigen(const M& m) {
  if (m.innerStride() != 1 || (m.outerSize() > 1 && m.outerStride() != m.innerSize()))
    throw invalid_argument("batches: the Eigen object is a strided block: evaluate it into a matrix first");
  const auto outer = static_cast<std::size_t>(m.outerSize()), inner = static_cast<std::size_t>(m.innerSize());
  if constexpr (M::IsVectorAtCompileTime)
    return extents<1>(outer * inner);
  else
    return extents<2>(outer, inner);
}

}  // namespace detail

/// Destination of the results of a loop over batches. See out() and inout(). Pieces are not uploaded unless `upload` is
/// set. The results of a piece are downloaded when the loop continues with the next piece.
template <class T, std::size_t Rank>
struct batch_results {
  T* data;
  ferry::extents<Rank> extents;
  bool upload;  ///< true: the loop also reads the previous elements
};

namespace detail {

template <class M>
auto results_of_eigen(M& to, bool upload) {
  static_assert(
      requires { to.data()[0] = typename M::Scalar{}; },
      "batches: out() and inout() of an Eigen object that cannot be written: it is const");
  const auto e = extents_of_eigen(to);
  return batch_results<typename M::Scalar, std::remove_cvref_t<decltype(e)>::rank>{to.data(), e, upload};
}

}  // namespace detail

/// Marks a contiguous range as a destination that the loop writes completely. The range must outlive the loop.
/// @param to the range; pieces have rank 1
/// @return the destination, for batches()
template <std::ranges::contiguous_range Elements>
requires(!array_like<Elements> && !detail::eigen_like<Elements>) auto out(Elements& to) {
  return batch_results<std::ranges::range_value_t<Elements>, 1>{std::ranges::data(to),
                                                                extents<1>(std::ranges::size(to)), false};
}
/// Marks a contiguous range that the loop reads and writes. The range must outlive the loop.
/// @param to the range; pieces have rank 1
/// @return the destination, for batches()
template <std::ranges::contiguous_range Elements>
requires(!array_like<Elements> && !detail::eigen_like<Elements>) auto inout(Elements& to) {
  return batch_results<std::ranges::range_value_t<Elements>, 1>{std::ranges::data(to),
                                                                extents<1>(std::ranges::size(to)), true};
}
/// Marks a dense Eigen object as a destination that the loop writes completely. Pieces have the shape of a source: rank
/// 1 for a vector, {outer, inner} for a matrix.
/// @param to the object, which must outlive the loop
/// @return the destination, for batches()
/// @throws invalid_argument for a strided block
template <detail::eigen_like M>
auto out(M& to) {
  return detail::results_of_eigen(to, false);
}
/// Marks a dense Eigen object that the loop reads and writes.
/// @param to the object, which must outlive the loop
/// @return the destination, for batches()
/// @throws invalid_argument for a strided block
template <detail::eigen_like M>
auto inout(M& to) {
  return detail::results_of_eigen(to, true);
}

/// @}

}  // namespace ferry::inline FERRY_ABI
