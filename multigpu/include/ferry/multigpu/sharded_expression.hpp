/// @file
/// Array expressions over sharded arrays: `v = u + k * (shift(u, {1, 0}) + shift(u, {-1, 0}))`. Each member of the team
/// computes its own cells.
#pragma once
#include <array>
#include <memory>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "ferry/core/detail/support/concat.hpp"
#include "ferry/core/expression.hpp"
#include "ferry/core/math.hpp"
#include "ferry/core/reduce.hpp"
#include "ferry/multigpu/detail/expressions/explain_sharded.hpp"
#include "ferry/multigpu/detail/expressions/sharded_assignment.hpp"
#include "ferry/multigpu/detail/expressions/sharded_reduction.hpp"
#include "ferry/multigpu/halo_exchange.hpp"
#include "ferry/multigpu/sharded_array.hpp"
#include "ferry/multigpu/sharded_reduced.hpp"
#include "ferry/multigpu/sharded_scanned.hpp"
#include "ferry/multigpu/sharded_total.hpp"
#include "ferry/version.hpp"

namespace ferry::inline FERRY_ABI {

/// @addtogroup sharded_arrays
/// @{

/// Elements that the members of a team compute when they are assigned to a sharded array. Keeps the memory of its
/// arrays alive, and may be assigned several times.
/// @tparam T type of the elements
/// @tparam Rank number of dimensions
template <class T, std::size_t Rank>
class sharded_expression {
 public:
  using value_type = T;
  static constexpr std::size_t rank = Rank;
  static constexpr detail::operand_kind expression_kind{detail::operand_role::elements, detail::scalar_type_of<T>(),
                                                        Rank, true};

  /// Used by the functions of expressions. from: the operands, whose programs may have been moved from.
  template <class... X>
  explicit sharded_expression(detail::expression_program&& p, const X&... from) : program_(std::move(p)) {
    (detail::keep_operands(operands_, from), ...);
  }
  /// Shape of the whole, in elements.
  ferry::extents<Rank> extents() const {
    ferry::extents<Rank> e;
    for (std::size_t d = 0; d != Rank; ++d) e[d] = program_.shape.extent[Rank - 1 - d];
    return e;
  }
  /// Number of elements of the whole.
  std::size_t size() const { return extents().count(); }
  /// Such as "b + 2 * shift(u, {1, 0})", with the names of the arrays.
  std::string text() const { return detail::text_of(program_); }
  /// The program behind the expression.
  const detail::expression_program& program() const& { return program_; }
  detail::expression_program&& program() && { return std::move(program_); }
  /// The operands on several devices. Used by the functions of expressions.
  const std::vector<std::shared_ptr<const detail::team_operand>>& operands() const { return operands_; }
  /// True if an operand is a sharded array: a team can reduce the elements. Used by all_equal().
  bool reads_shards() const { return detail::first_array_of(program_) != nullptr; }
  /// The reduction: a sharded_total, or a sharded_reduced if dimensions are left. Used by sum() and the like.
  template <detail::reduction_function F, class... Options>
  auto reduce(const Options&... options) const;
  /// The scan along an axis; exclusive if it begins with a value. Used by cumsum() and the like.
  template <class Op>
  auto scan(std::string_view name, int axis, const void* initial) const {
    constexpr detail::scalar_type type = detail::scanned_as<Op>(expression_kind.type);
    using result = detail::scalar_of<type>;
    const auto scan_from = [&](const void* first) {
      return detail::scan_program(name, detail::operation_of_scan<Op>(), program_, type, axis, first);
    };
    const auto identity = detail::identity_of_scan<Op, result>();
    return sharded_scanned<result, Rank>({program_, scan_from(initial), scan_from(&identity).how.initial}, operands_);
  }

 private:
  detail::expression_program program_;
  std::vector<std::shared_ptr<const detail::team_operand>> operands_;
};

/// The cells at a distance from those that are assigned: in `v = shift(u, {1, 0})`, v(i, j) becomes u(i + 1, j). Cells
/// of neighbours come from the halo, which must be as wide as the distance. The assignment exchanges halos that are out
/// of date, and computes the interior meanwhile. Beyond the ends of an axis that is not periodic, halo cells have the
/// values that the program stored there. May allocate buffers for the exchange.
/// @param u the array
/// @param by distance along each axis, in cells
/// @throws invalid_argument with the width that is needed, if a halo is too narrow
template <class T, std::size_t Rank, memory_kind Kind, std::size_t N>
sharded_expression<T, Rank> shift(const sharded_array<T, Rank, Kind>& u, const std::ptrdiff_t (&by)[N]) {
  static_assert(N == Rank, "shift(u, {1, 0}) takes one distance for each axis of the array, such as 0");
  detail::need_element_type<sharded_array<T, Rank, Kind>>();
  detail::axis_offsets offsets{};
  std::string text;
  for (std::size_t d = 0; d != Rank && d != N; ++d) {
    offsets[Rank - 1 - d] = by[d];
    text += detail::concat(d ? ", " : "{", by[d]);
  }
  const std::shared_ptr<const detail::team_operand> operand =
      std::make_shared<detail::shifted_operand>(u.team_operand(), offsets, text + "}");
  if (u.layout().has_halo()) (void)detail::halo_plan_of(u);
  return sharded_expression<T, Rank>(
      detail::placeholder_program(*operand, u.team_operand()->distribution().extents, u.expression_kind.type, Kind),
      operand);
}

template <class E, std::size_t N>
requires(detail::kind_of_operand<E>.has_elements() &&
         !(detail::kind_of_operand<E>.is_array() && detail::kind_of_operand<E>.is_spread))  //
    void shift(E&&, const std::ptrdiff_t (&)[N]) = delete;  // takes a sharded array: assign the expression to one first

namespace detail {

template <class Y>
constexpr bool is_sharded_destination = kind_of_operand<Y>.is_array() && kind_of_operand<Y>.is_spread;
template <class Y>
concept sharded_destination = is_sharded_destination<Y>;
// Sharded arrays, and expressions of them.
template <class A>
concept sharded_elements = kind_of_operand<A>
.has_elements() && kind_of_operand<A>.is_spread && (kind_of_operand<A>.rank > 0);

// A new array without halos, with the distribution of the first sharded array of an expression.
template <class T, std::size_t Rank, memory_kind Kind, class E>
sharded_array<T, Rank, Kind> new_shards(const E& e) {
  const expression_program& p = e.program();
  const team& t = team_of(p);
  return {t, e.extents(), options_of(first_array_of(p)->distribution().grid, Rank)};
}

template <std::size_t... I, class Pairs>
void assign_sharded_pairs(std::index_sequence<I...>, Pairs&& pairs) {
  using tuple = std::remove_reference_t<Pairs>;
  constexpr bool are_all = (... && is_sharded_destination<std::tuple_element_t<2 * I, tuple>>);
  static_assert(are_all, "one assign(y, e1, z, e2) is for sharded arrays: assign others in a call of their own");
  if constexpr (are_all) {
    (need_assignable<std::tuple_element_t<2 * I, tuple>, std::tuple_element_t<2 * I + 1, tuple>>(), ...);
    const expression_program programs[] = {
        program_of(std::forward<std::tuple_element_t<2 * I + 1, tuple>>(std::get<2 * I + 1>(pairs)))...};
    const std::shared_ptr<const sharded_operand> to[] = {std::get<2 * I>(pairs).team_operand()...};
    const sharded_assignment all[] = {{to[I].get(), &programs[I]}...};
    assign_sharded(all);
  }
}

}  // namespace detail

/// Assigns expressions, arrays, scalars or numbers to sharded arrays, in one submission for each member:
/// assign(y, e1, z, e2). All expressions read what was there before. All destinations are distributed alike.
/// @param y destination
/// @param e its elements
/// @param more further pairs
/// @throws invalid_argument if shapes, distributions or teams do not fit
template <class Y, class E, class... More>
requires(detail::kind_of_operand<Y>.is_array() && detail::kind_of_operand<Y>.is_spread && sizeof...(More) % 2 == 0)  //
    void assign(Y&& y, E&& e, More&&... more) {
  detail::assign_sharded_pairs(
      std::make_index_sequence<1 + sizeof...(More) / 2>(),
      std::tuple<Y&&, E&&, More&&...>(std::forward<Y>(y), std::forward<E>(e), std::forward<More>(more)...));
}

template <class Y, class E, class... More>
requires(detail::kind_of_operand<Y>.is_array() && detail::kind_of_operand<Y>.is_spread)  //
    void assign(located<stream_ref>, Y&&, E&&, More&&...) = delete;  // members use their own streams: assign(y, e)

/// @cond
template <class T, std::size_t Rank>
template <detail::reduction_function F, class... Options>
auto sharded_expression<T, Rank>::reduce(const Options&... options) const {
  using result = detail::scalar_of<detail::reduced_as(F, detail::scalar_type_of<T>())>;
  constexpr std::size_t kept = detail::reduced_rank<Rank, Options...>();
  detail::axes_reduction r = detail::make_axes_reduction<F>(*this, options...);
  if constexpr (kept > 0)
    return sharded_reduced<result, kept>(std::move(r), operands_);
  else
    return sharded_total<result>(std::move(r), detail::join_of_parts<F, result>(), operands_);
}
/// @endcond

// Compilers quote the line of a deleted function, so it states the remedy.
template <class... R>
requires(sizeof...(R) > 1 && (... || detail::kind_of_operand<R>.is_spread))  //
    void reduce_all(const R&...) = delete;  // takes reductions over all cells: assign one along axes in a statement

/// Describes an expression over sharded arrays: its text, the halos that an assignment would exchange now, and what one
/// member of this process computes, as of an expression over one device.
template <class T, std::size_t Rank>
std::string explain(const sharded_expression<T, Rank>& e) {
  return detail::explain_sharded(e.program(), detail::scalar_type_of<T>());
}
/// As above for a reduction along axes.
template <class T, std::size_t Rank>
std::string explain(const sharded_reduced<T, Rank>& r) {
  return detail::explain_axes_reduction(r.request());
}
/// As above for a reduction over all cells.
template <class T>
std::string explain(const sharded_total<T>& r) {
  return detail::explain_axes_reduction(r.request());
}

/// As above for a scan.
template <class T, std::size_t Rank>
std::string explain(const sharded_scanned<T, Rank>& r) {
  return detail::explain_scan(r.request());
}

/// Compiles the kernels of an expression for the members of this process, and blocks until that is done: those that
/// assign it to an array with the distribution and the halos of its first sharded array. With shift(), these are
/// kernels for interiors and edges.
/// @return false if some are not compiled, as precompile() of one device
template <class T, std::size_t Rank>
bool precompile(const sharded_expression<T, Rank>& e) {
  return detail::precompile_sharded(e.program(), detail::scalar_type_of<T>());
}
/// Compiles the kernels in which the members of this process reduce their cells, and blocks until that is done: those
/// that reduce_all() of the same reductions uses, or the conversion of one to a team_scalar. Programs that join the
/// results of members are not compiled: until they are, devices interpret them.
/// @param r reductions over all cells of sharded arrays, as passed to reduce_all()
/// @return false if some are not compiled, as precompile() of one device
/// @throws invalid_argument if teams, shapes or distributions differ, and as evaluating them
/// @throws not_supported if a kernel cannot be compiled, as precompile() of one device
template <class... T>
requires(sizeof...(T) > 0) bool precompile(const sharded_total<T>&... r) {
  const detail::axes_reduction* const all[] = {&r.request()...};
  return detail::precompile_totals(all);
}
/// As above for a reduction along axes, or a histogram.
template <class T, std::size_t Rank>
bool precompile(const sharded_reduced<T, Rank>& r) {
  return detail::precompile_axes_reduction(r.request());
}
/// As above for a scan.
template <class T, std::size_t Rank>
bool precompile(const sharded_scanned<T, Rank>& r) {
  return detail::precompile_scan(r.request());
}

// Definitions of array members that evaluate.

template <class T, std::size_t Rank, memory_kind Kind>
template <class U, std::size_t R>
sharded_array<T, Rank, Kind>& sharded_array<T, Rank, Kind>::operator=(const sharded_expression<U, R>& e) {
  detail::need_assignable<sharded_array&, sharded_expression<U, R>>();
  const detail::sharded_assignment one{team_operand().get(), &e.program()};
  detail::assign_sharded({&one, 1});
  return *this;
}
template <class T, std::size_t Rank, memory_kind Kind>
template <class U, std::size_t R>
sharded_array<T, Rank, Kind>& sharded_array<T, Rank, Kind>::operator=(const expression<U, R>& e) {
  detail::need_assignable<sharded_array&, expression<U, R>>();
  const detail::sharded_assignment one{team_operand().get(), &e.program()};
  detail::assign_sharded({&one, 1});
  return *this;
}

/// @}

}  // namespace ferry::inline FERRY_ABI
