// What ferry::batches puts the results of a loop into.
#pragma once
#include <type_traits>

#include "ferry/core/array.hpp"
#include "ferry/core/detail/kernels/arguments.hpp"
#include "ferry/core/detail/support/range_concepts.hpp"

namespace ferry {

namespace detail {

// A dense object of Eigen, known by its members: vectors have rank 1, matrices are cut along their outer dimension
// (columns, or rows where they are row-major), and a piece has the shape {outer, inner}.
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

// Results of a loop over batches: pieces are not uploaded, and what the loop wrote is downloaded into `to` when the loop
// goes on to the next piece.
template <class T, std::size_t Rank>
struct batch_results {
  T* data;
  ferry::extents<Rank> extents;
  bool upload;  // the old elements are wanted, too
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

template <std::ranges::contiguous_range Elements>
requires(!array_like<Elements> && !detail::eigen_like<Elements>) auto out(Elements& to) {
  return batch_results<std::ranges::range_value_t<Elements>, 1>{std::ranges::data(to),
                                                                extents<1>(std::ranges::size(to)), false};
}
// The same for elements that the loop reads and writes.
template <std::ranges::contiguous_range Elements>
requires(!array_like<Elements> && !detail::eigen_like<Elements>) auto inout(Elements& to) {
  return batch_results<std::ranges::range_value_t<Elements>, 1>{std::ranges::data(to),
                                                                extents<1>(std::ranges::size(to)), true};
}
// The same for a dense object of Eigen, whose pieces have the shape that it has as a source: of a vector rank 1, of a matrix
// {outer, inner}. Throws invalid_argument for a strided block.
template <detail::eigen_like M>
auto out(M& to) {
  return detail::results_of_eigen(to, false);
}
template <detail::eigen_like M>
auto inout(M& to) {
  return detail::results_of_eigen(to, true);
}

}  // namespace ferry
