/// @file
/// Scans of sharded arrays: `y = cumsum(u, 0)`.
#pragma once
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "ferry/core/reduce.hpp"
#include "ferry/multigpu/detail/expressions/sharded_scan.hpp"
#include "ferry/multigpu/sharded_array.hpp"
#include "ferry/version.hpp"

namespace ferry::inline FERRY_ABI {

/// @addtogroup sharded_arrays
/// @{

/// What cumsum(), cumprod(), inclusive_scan() or exclusive_scan() of elements of sharded arrays compute when they are
/// assigned to a sharded array of the same distribution. Along the axis of distribution, each member scans its own
/// cells, then combines them with the results of the members before it, in their order. Axes that are not cut need no
/// communication. Along one of several axes of distribution, the assignment throws invalid_argument.
/// @tparam T type of the result's elements
/// @tparam Rank number of dimensions
template <class T, std::size_t Rank>
class sharded_scanned {
 public:
  using value_type = T;
  static constexpr std::size_t rank = Rank;

  /// Used by the functions of scans. operands: what the elements refer to.
  sharded_scanned(detail::scan_over_team r, std::vector<std::shared_ptr<const detail::team_operand>> operands)
      : scan_(std::move(r)),
        operands_(std::move(operands)) {}
  /// Such as "cumsum(u, 0)", with the names of the arrays.
  std::string text() const { return detail::text_of(scan_.over); }
  /// What is computed.
  const detail::scan_over_team& request() const { return scan_; }

 private:
  detail::scan_over_team scan_;
  std::vector<std::shared_ptr<const detail::team_operand>> operands_;
};

// Definition of an array member that evaluates.

template <class T, std::size_t Rank, memory_kind Kind>
template <class U, std::size_t R>
sharded_array<T, Rank, Kind>& sharded_array<T, Rank, Kind>::operator=(const sharded_scanned<U, R>& r) {
  static_assert(R == Rank, "the result of the scan has another rank than the destination");
  detail::need_assignable<sharded_array&, expression<U, R>>();
  detail::scan_sharded(r.request(), *team_operand());
  return *this;
}

/// @}

}  // namespace ferry::inline FERRY_ABI
