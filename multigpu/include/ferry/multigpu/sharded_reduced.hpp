/// @file
/// Reductions of sharded arrays along axes: `y = sum(u * v, axes{1})`.
#pragma once
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "ferry/core/reduce.hpp"
#include "ferry/multigpu/detail/expressions/axes_reduction.hpp"
#include "ferry/multigpu/detail/expressions/sharded_reduction.hpp"
#include "ferry/multigpu/replicated_array.hpp"
#include "ferry/multigpu/sharded_array.hpp"
#include "ferry/version.hpp"

namespace ferry::inline FERRY_ABI {

/// @addtogroup sharded_arrays
/// @{

/// What a reduction along axes or a histogram of elements of sharded arrays computes, when it is assigned. If the axes
/// of distribution are kept, each member computes its part of the result, without communication. If they are reduced,
/// and in histograms, members join their results in the order of members: all have the same bits. If some are kept and
/// others reduced, members with the same part join. As an operand of an expression it is computed where the expression
/// is written.
///
/// @code
/// sharded_array<float, 1> y(t, {rows});                        // u is distributed along axis 0
/// y = sum(u, axes{1});                                         // no communication
/// replicated_array<float, 1> z(sum(u, axes{0}));               // every member has the sums
/// u = u - mean(u, axes{0}, keep_dims);
/// @endcode
/// @tparam T type of the result's elements
/// @tparam Rank number of dimensions of the result
template <class T, std::size_t Rank>
class sharded_reduced {
 public:
  using value_type = T;
  static constexpr std::size_t rank = Rank;
  static constexpr detail::operand_kind expression_kind{detail::operand_role::elements, detail::scalar_type_of<T>(),
                                                        Rank, true};

  /// Used by the functions of reductions. operands: what the elements refer to.
  sharded_reduced(detail::axes_reduction r, std::vector<std::shared_ptr<const detail::team_operand>> operands)
      : reduction_(std::move(r)),
        operands_(std::move(operands)) {}
  /// Used by histogram() and bincount(). elements: what is counted, and the weights; from: what they refer to.
  template <class... X>
  sharded_reduced(detail::reduction_program&& counts, detail::expression_program&& elements, const X&... from)
      : reduction_{detail::reduction_function::sum, detail::scalar_type_of<T>(), std::move(elements),
                   std::move(counts)} {
    (detail::keep_operands(operands_, from), ...);
  }
  /// Shape of the result.
  ferry::extents<Rank> extents() const {
    ferry::extents<Rank> e;
    const detail::program_shape s = reduction_.shape();
    for (std::size_t d = 0; d != Rank; ++d) e[d] = s.extent[Rank - 1 - d];
    return e;
  }
  /// Such as "sum(u, axes{0})", with the names of the arrays.
  std::string text() const { return detail::text_of(reduction_.over); }
  /// The team of the arrays.
  /// @throws invalid_argument if no operand is a sharded array
  const ferry::team& team() const { return detail::team_of(reduction_.elements); }
  /// What is computed.
  const detail::axes_reduction& request() const { return reduction_; }
  /// The result, computed now, as a program. Used by expressions, as operands().
  detail::expression_program program() const {
    if (computed_.size() == detail::most_parameters) computed_.erase(computed_.begin());
    computed_.push_back(detail::reduce_along_axes(reduction_));
    return detail::placeholder_program(*computed_.back(), reduction_.shape(), expression_kind.type,
                                       memory_kind::device);
  }
  /// The results that program() has returned last. An expression reads at most as many of one object.
  const std::vector<std::shared_ptr<const detail::team_operand>>& operands() const { return computed_; }

 private:
  detail::axes_reduction reduction_;
  std::vector<std::shared_ptr<const detail::team_operand>> operands_;
  mutable std::vector<std::shared_ptr<const detail::team_operand>> computed_;
};

// Definitions of array members that evaluate.

template <class T, std::size_t Rank, memory_kind Kind>
template <class U, std::size_t R>
sharded_array<T, Rank, Kind>& sharded_array<T, Rank, Kind>::operator=(const sharded_reduced<U, R>& r) {
  static_assert(R == Rank, "the result of the reduction has another rank than the destination: see keep_dims");
  detail::need_assignable<sharded_array&, expression<U, Rank>>();
  detail::reduce_along_axes(r.request(), *team_operand());
  return *this;
}
template <class T, std::size_t Rank, memory_kind Kind>
template <class U, std::size_t R>
replicated_array<T, Rank, Kind>& replicated_array<T, Rank, Kind>::operator=(const sharded_reduced<U, R>& r) {
  static_assert(R == Rank, "the result of the reduction has another rank than the destination: see keep_dims");
  detail::need_assignable<basic_array<T, Rank, Kind>&, expression<U, Rank>>();
  std::vector<detail::program_operand> to;
  for (const auto& c : copies_) to.push_back(detail::operand_of(c));
  detail::reduce_along_axes(r.request(), team(), to);
  return *this;
}
template <class T, std::size_t Rank, memory_kind Kind>
template <class U>
replicated_array<T, Rank, Kind>::replicated_array(const sharded_reduced<U, Rank>& r)
    : replicated_array(r.team(), r.extents()) {
  *this = r;
}

/// @}

}  // namespace ferry::inline FERRY_ABI
