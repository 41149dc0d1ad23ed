/// @file
/// Reductions over all cells of sharded arrays: `team_scalar<float> s = sum(u * v)`, and several in one pass.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "ferry/core/reduce.hpp"
#include "ferry/multigpu/detail/expressions/axes_reduction.hpp"
#include "ferry/multigpu/detail/expressions/sharded_reduction.hpp"
#include "ferry/multigpu/team_scalar.hpp"
#include "ferry/version.hpp"

namespace ferry::inline FERRY_ABI {

namespace detail {

// How a team_scalar joins the parts of members.
template <class T>
struct parts_join {
  T neutral;
  typename team_scalar<T>::join join;
  operation as;
};
// Every part of a position is the position.
inline std::int64_t joined_position(const std::int64_t& a, const std::int64_t& b) { return a < b ? b : a; }
template <reduction_function F, class T>
parts_join<T> join_of_parts() {
  if constexpr (F == reduction_function::argmin || F == reduction_function::argmax)
    return {T(-1), &joined_position, operation::max};
  else
    return {joined_parts<F, T>::neutral(), &joined_parts<F, T>::join, joined_parts<F, T>::as};
}

// The parts of local members as memory.
template <class T>
std::vector<program_operand> operands_of_parts(const team_scalar<T>& s) {
  std::vector<program_operand> all;
  for (std::size_t i = 0; i != s.parts().size(); ++i)
    all.push_back(operand_of(
        array_view<const T, 0, memory_kind::host>(s.parts().owner(), s.parts().unsynchronized_data() + i, {}, {})));
  return all;
}

}  // namespace detail

/// @addtogroup sharded_arrays
/// @{

/// What a reduction over all cells computes when it is made a team_scalar or a value. As an operand of an expression it
/// is computed where the expression is written. Keeps the memory of its arrays alive.
///
/// @code
/// team_scalar<float> total = sum(u + v);               // does not wait
/// float now = sum(u + v);                              // waits
/// auto [sum_of_u, most] = reduce_all(sum(u), max(v));  // one pass over the cells
/// @endcode
/// @tparam T type of the result
template <class T>
class sharded_total {
 public:
  using value_type = T;
  static constexpr std::size_t rank = 0;
  static constexpr detail::operand_kind expression_kind{detail::operand_role::value, detail::scalar_type_of<T>(), 0};

  /// Used by the functions of reductions. operands: what the elements refer to.
  sharded_total(detail::axes_reduction r, const detail::parts_join<T>& join,
                std::vector<std::shared_ptr<const detail::team_operand>> operands)
      : reduction_(std::move(r)),
        join_(join),
        operands_(std::move(operands)) {}
  /// Such as "sum(u + v)", with the names of the arrays.
  std::string text() const { return detail::text_of(reduction_.over); }
  /// The team of the arrays.
  /// @throws invalid_argument if no operand is a sharded array, and if their distributions do not fit
  const ferry::team& team() const { return detail::team_of(reduction_.elements); }

  /// Submits the reduction: each member reduces the cells that it owns. Does not block, except as exchange_halos does;
  /// argmin, argmax, var and std join results as collectives do.
  /// @throws invalid_argument if distributions or teams do not fit, and for the least or greatest of no elements
  operator team_scalar<T>() const {
    team_scalar<T> s = room();
    const detail::total_of_team one = to(s);
    detail::reduce_to_parts(s.team(), {&one, 1});
    return s;
  }
  /// Computes the value, and waits for it. All processes of the team must call it.
  operator T() && { return team_scalar<T>(*this).value(); }
  // Compilers quote the line of a deleted function, so it states the remedy.
  operator T() const& = delete;  // it would be computed at each use: write team_scalar<T> s = sum(u)
  /// As the conversion to T.
  T value() && { return std::move(*this); }
  /// @overload
  T value() const& = delete;  // it would be computed at each use: write team_scalar<T> s = sum(u)

  /// What is computed.
  const detail::axes_reduction& request() const { return reduction_; }
  /// The result, computed now, as a program. Used by expressions.
  detail::expression_program program() const { return team_scalar<T>(*this).program(); }
  /// A scalar for the result, which is undefined so far. Used by reduce_all(), as to().
  team_scalar<T> room() const { return team_scalar<T>(team(), join_.neutral, join_.join, join_.as); }
  detail::total_of_team to(const team_scalar<T>& s) const {
    return {&reduction_, detail::operands_of_parts(s), &join_.neutral};
  }

 private:
  detail::axes_reduction reduction_;
  detail::parts_join<T> join_;
  std::vector<std::shared_ptr<const detail::team_operand>> operands_;
};

/// Submits a reduction over all cells. Does not wait.
template <class T>
team_scalar<T> evaluate(const sharded_total<T>& r) {
  return r;
}

/// Several reductions over all cells of sharded arrays in one pass of each member over the cells that it owns. `var`
/// and `std` each add a pass for the mean. Does not wait.
/// @param r reductions of elements of one team and one distribution, without axes
/// @return a tuple of team_scalar
/// @throws invalid_argument if teams, shapes or distributions differ
template <class... T>
requires(sizeof...(T) > 0) std::tuple<team_scalar<T>...> reduce_all(const sharded_total<T>&... r) {
  std::tuple<team_scalar<T>...> results{r.room()...};
  std::apply(
      [&](const auto&... to) {
        const detail::total_of_team all[] = {r.to(to)...};
        detail::reduce_to_parts(std::get<0>(results).team(), all);
      },
      results);
  return results;
}

/// @}

}  // namespace ferry::inline FERRY_ABI
