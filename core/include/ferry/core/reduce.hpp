/// @file
/// Reductions of array expressions, over all elements or along axes; scans and histograms.
#pragma once
#include <string>
#include <tuple>
#include <utility>

#include "ferry/core/detail/reductions/reduction_call.hpp"
#include "ferry/core/detail/reductions/reduction_operand.hpp"
#include "ferry/core/expression.hpp"
#include "ferry/core/reduction_axes.hpp"
#include "ferry/version.hpp"

namespace ferry::inline FERRY_ABI {

/// @addtogroup expressions
/// @{

/// A reduction, a scan or a histogram. It is computed when it is assigned, or made a scalar or an array. As an operand,
/// it is computed when the expression is made. Keeps the memory of its arrays alive.
///
/// @code
/// scalar<float> total = sum(a + b);            // does not wait; on the device of the first array
/// float now = sum(a + b);                      // waits
/// y = sum(a * b, axes{0});                     // into an array or a view of the result's shape
/// device_array<float> z(mean(a, axes{1}));     // a new array
/// @endcode
/// @tparam T type of the result's elements
/// @tparam Rank number of dimensions of the result
template <class T, std::size_t Rank>
class reduced {
 public:
  using value_type = T;
  static constexpr std::size_t rank = Rank;

  /// Used by the functions of this header.
  explicit reduced(detail::reduction_program p) : program_(std::move(p)) {}
  /// Shape of the result.
  ferry::extents<Rank> extents() const {
    ferry::extents<Rank> e;
    const detail::program_shape s = program_.shape();
    for (std::size_t d = 0; d != Rank; ++d) e[d] = s.extent[Rank - 1 - d];
    return e;
  }
  /// Such as "sum(a + b, axes{0})", with the names of the arrays.
  std::string text() const { return detail::text_of(program_); }

  /// Submits the reduction. Does not wait.
  operator scalar<T>() const requires(Rank == 0) { return computed({}); }
  /// Computes the value, and waits for it.
  operator T() && requires(Rank == 0) { return computed({}).value(); }
  // Compilers quote the line of a deleted function, so it states the remedy.
  operator T() const& requires(Rank == 0) = delete;  // it would be computed at each use: write scalar<T> s = sum(a)

  /// The program of the reduction.
  const detail::reduction_program& request() const { return program_; }
  /// The result, computed now, as a program. Used by expressions.
  detail::expression_program program() const requires(Rank > 0) {
    basic_array<T, Rank, memory_kind::device> a(*this);
    return detail::array_program(detail::operand_of(a));
  }
  /// The result, computed now. Used by expressions.
  host_array<T, 0> as_array() const requires(Rank == 0) {
    scalar<T> s = computed({});
    return std::move(s.as_array());
  }

 private:
  scalar<T> computed(source_line at) const {
    scalar<T> s(detail::home_of(program_.program));
    const detail::reduction_assignment one{detail::operand_of(s.as_array()), &program_};
    detail::assign_reductions(nullptr, {&one, 1}, at);
    return s;
  }
  detail::reduction_program program_;
};

/// Sum of the elements. Integers and bool are summed in 64 bits, half and bfloat16 in float. Floating point sums are
/// pairwise: docs/reductions.md states their error. 0 for no elements.
/// @param a array, view or expression
/// @param options `axes{...}`, and `keep_dims`; without axes all elements are combined
template <class A, detail::reduction_option... Options>
requires detail::reducible<A>
auto sum(A&& a, Options... options) {
  return detail::reduce_elements<detail::reduction_function::sum>(std::forward<A>(a), options...);
}
/// Product of the elements, in the types of sum(). 1 for no elements.
template <class A, detail::reduction_option... Options>
requires detail::reducible<A>
auto prod(A&& a, Options... options) {
  return detail::reduce_elements<detail::reduction_function::prod>(std::forward<A>(a), options...);
}
/// The least element; NaN if one is NaN; -0 is less than +0.
/// @throws invalid_argument for no elements
template <class A, detail::reduction_option... Options>
requires detail::reducible<A>
auto min(A&& a, Options... options) {
  return detail::reduce_elements<detail::reduction_function::min>(std::forward<A>(a), options...);
}
/// The greatest element; NaN if one is NaN; -0 is less than +0.
/// @throws invalid_argument for no elements
template <class A, detail::reduction_option... Options>
requires detail::reducible<A>
auto max(A&& a, Options... options) {
  return detail::reduce_elements<detail::reduction_function::max>(std::forward<A>(a), options...);
}
/// Mean of the elements; of integers and bool in double. NaN for no elements.
template <class A, detail::reduction_option... Options>
requires detail::reducible<A>
auto mean(A&& a, Options... options) {
  return detail::reduce_elements<detail::reduction_function::mean>(std::forward<A>(a), options...);
}
/// Variance: the mean square distance from the mean; of complex numbers the mean of |z - mean|^2, which is real.
/// Option: `ddof{1}` divides by one less than the number of elements. NaN if there are no more elements than that.
template <class A, detail::reduction_option... Options>
requires detail::reducible<A>
auto var(A&& a, Options... options) {
  return detail::reduce_elements<detail::reduction_function::var>(std::forward<A>(a), options...);
}
/// Standard deviation: the square root of var().
template <class A, detail::reduction_option... Options>
requires detail::reducible<A>
auto std(A&& a, Options... options) {
  return detail::reduce_elements<detail::reduction_function::std>(std::forward<A>(a), options...);
}
/// The square root of the sum of the elements' squared magnitudes. Squares that overflow give infinity.
template <class A, detail::reduction_option... Options>
requires detail::reducible<A>
auto norm(A&& a, Options... options) {
  return detail::reduce_elements<detail::reduction_function::norm>(std::forward<A>(a), options...);
}
/// True if any element is true. False for no elements.
template <class A, detail::reduction_option... Options>
requires detail::reducible<A>
auto any(A&& a, Options... options) {
  return detail::reduce_elements<detail::reduction_function::any>(std::forward<A>(a), options...);
}
/// True if all elements are true. True for no elements.
template <class A, detail::reduction_option... Options>
requires detail::reducible<A>
auto all(A&& a, Options... options) {
  return detail::reduce_elements<detail::reduction_function::all>(std::forward<A>(a), options...);
}
/// Number of elements that are true.
template <class A, detail::reduction_option... Options>
requires detail::reducible<A>
auto count(A&& a, Options... options) {
  return detail::reduce_elements<detail::reduction_function::count>(std::forward<A>(a), options...);
}
/// Position of the first least element, int64: its index along the axis; over several axes, or all, the number of
/// elements before it in order of their indices. NaN counts as the least.
/// @throws invalid_argument for no elements
template <class A, detail::reduction_option... Options>
requires detail::reducible<A>
auto argmin(A&& a, Options... options) {
  return detail::reduce_elements<detail::reduction_function::argmin>(std::forward<A>(a), options...);
}
/// Position of the first greatest element, as argmin(). NaN counts as the greatest.
/// @throws invalid_argument for no elements
template <class A, detail::reduction_option... Options>
requires detail::reducible<A>
auto argmax(A&& a, Options... options) {
  return detail::reduce_elements<detail::reduction_function::argmax>(std::forward<A>(a), options...);
}
/// Sum of a * b over all elements, in one pass. The first operand is not conjugated.
/// @throws invalid_argument if the shapes differ
template <class A, class B>
requires(detail::expression_operands<A, B>) auto dot(A&& a, B&& b) {
  static_assert(detail::kind_of_operand<A>.rank == detail::kind_of_operand<B>.rank,
                "dot(a, b): both operands have the same shape");
  detail::need_equal_shapes(detail::program_of(a), detail::program_of(b), "dot");
  return sum(std::forward<A>(a) * std::forward<B>(b));
}

/// Running sums along an axis: the element at i is the sum of the elements 0 to i. In the types of sum().
/// @param a array, view or expression
/// @param axis negative axes count from the last
template <class A>
requires detail::reducible<A>
auto cumsum(A&& a, int axis) { return detail::make_scan<plus>("cumsum", std::forward<A>(a), axis); }
/// @overload
template <class A>
requires detail::reducible<A>
auto cumsum(A&& a) {
  static_assert(detail::kind_of_operand<A>.rank == 1, "cumsum(a, axis): name the axis of several");
  return detail::make_scan<plus>("cumsum", std::forward<A>(a), 0);
}
/// Running products along an axis, as cumsum().
template <class A>
requires detail::reducible<A>
auto cumprod(A&& a, int axis) { return detail::make_scan<multiplies>("cumprod", std::forward<A>(a), axis); }
/// @overload
template <class A>
requires detail::reducible<A>
auto cumprod(A&& a) {
  static_assert(detail::kind_of_operand<A>.rank == 1, "cumprod(a, axis): name the axis of several");
  return detail::make_scan<multiplies>("cumprod", std::forward<A>(a), 0);
}
/// Combines each element with those before it along an axis.
/// @param a array, view or expression
/// @param op plus, multiplies, minimum or maximum
/// @param axis negative axes count from the last
template <class A, class Op>
requires detail::reducible<A>
auto inclusive_scan(A&& a, Op op, int axis) {
  (void)op;
  return detail::make_scan<Op>("inclusive_scan", std::forward<A>(a), axis);
}
/// Combines the elements before each element along an axis. The first result is `initial`.
/// @param a array, view or expression
/// @param op plus, multiplies, minimum or maximum
/// @param axis negative axes count from the last
/// @param initial first result
template <class A, class Op, class T>
requires detail::reducible<A>
auto exclusive_scan(A&& a, Op op, int axis, T initial) {
  (void)op;
  constexpr detail::scalar_type result = detail::scanned_as<Op>(detail::kind_of_operand<A>.type);
  const auto first = static_cast<detail::scalar_of<result>>(initial);
  return detail::make_scan<Op>("exclusive_scan", std::forward<A>(a), axis, &first);
}
/// As above; the first result is the identity of op: 0, 1, and for minimum and maximum infinity, or the extreme
/// integer.
/// @param a array, view or expression
/// @param op plus, multiplies, minimum or maximum
/// @param axis negative axes count from the last
template <class A, class Op>
requires detail::reducible<A>
auto exclusive_scan(A&& a, Op op, int axis) {
  constexpr detail::scalar_type result = detail::scanned_as<Op>(detail::kind_of_operand<A>.type);
  return exclusive_scan(std::forward<A>(a), op, axis, detail::identity_of_scan<Op, detail::scalar_of<result>>());
}

/// Number of elements in each of `bins` intervals of equal widths. An interval contains its low edge, but not its high
/// one; the last interval contains both. Elements outside of [low, high] and NaN are in none. The edges are those of
/// NumPy: low + i * ((high - low) / bins), in double. Of a sharded array, each member counts its cells, and all members
/// add the counts of all.
/// @param a array, view or expression
/// @param bins number of intervals
/// @param low low edge of the first interval
/// @param high high edge of the last interval
/// @throws invalid_argument unless low < high, both finite, and bins is at least 1
template <class A>
requires detail::reducible<A>
auto histogram(A&& a, std::size_t bins, double low, double high) {
  detail::need_real<A>();
  return detail::count_elements<std::uint64_t>(detail::histogram_of{bins, low, high}, std::forward<A>(a));
}
/// As above: the sums of weights, in double.
/// @param a array, view or expression
/// @param bins number of intervals
/// @param low low edge of the first interval
/// @param high high edge of the last interval
/// @param weights of the shape of a
template <class A, class W>
requires(detail::expression_operands<A, W>)  //
    auto histogram(A&& a, std::size_t bins, double low, double high, W&& weights) {
  detail::need_real<A>(), detail::need_real<W>();
  return detail::count_elements<double>(detail::histogram_of{bins, low, high}, std::forward<A>(a), weights);
}
/// Number of times that each of the integers 0 to bins - 1 occurs. Others are ignored.
/// @throws invalid_argument if bins is 0
template <class A>
requires detail::reducible<A>
auto bincount(A&& a, std::size_t bins) {
  detail::need_whole<A>();
  return detail::count_elements<std::uint64_t>(detail::bincount_of{bins}, std::forward<A>(a));
}
/// As above: the sums of weights, in double.
template <class A, class W>
requires(detail::expression_operands<A, W>) auto bincount(A&& a, std::size_t bins, W&& weights) {
  detail::need_whole<A>(), detail::need_real<W>();
  return detail::count_elements<double>(detail::bincount_of{bins}, std::forward<A>(a), weights);
}

/// The result as a new array of a kind of memory, on the device of the first array.
template <memory_kind Kind, class T, std::size_t Rank>
basic_array<T, Rank, Kind> evaluate_to(const reduced<T, Rank>& r) {
  return basic_array<T, Rank, Kind>(r);
}
/// The result: a scalar for rank 0, else a new array in the default kind of memory. Does not wait.
template <class T, std::size_t Rank>
auto evaluate(const reduced<T, Rank>& r) {
  if constexpr (Rank == 0)
    return scalar<T>(r);
  else
    return basic_array<T, Rank, default_memory_kind<T>>(r);
}

/// Several reductions in one pass over memory: `auto [total, most] = reduce_all(sum(x), max(abs(x)))`. Does not wait.
/// @param r reductions of elements of one shape along the same axes; no scans and histograms
/// @return the results as of evaluate()
/// @throws invalid_argument if shapes or axes differ
template <class... T, std::size_t... Rank>
requires(sizeof...(T) > 0) auto reduce_all(const reduced<T, Rank>&... r) {
  const device home = detail::common_home({&r.request()...});
  std::tuple results{detail::room_for(r, home)...};
  std::apply(
      [&](auto&... to) {
        const detail::reduction_assignment all[] = {{detail::operand_of_result(to), &r.request()}...};
        detail::assign_reductions(nullptr, all, {});
      },
      results);
  return results;
}

/// Assigns the result of a reduction to an array or a view, in one submission on the calling thread's stream of y.
template <class Y, class T, std::size_t Rank>
requires(detail::kind_of_operand<Y>.is_local_array()) void assign(Y&& y, const reduced<T, Rank>& r) {
  detail::assign_reduction(nullptr, y, r, {});
}
/// As above, on a stream.
template <class Y, class T, std::size_t Rank>
requires(detail::kind_of_operand<Y>.is_local_array())  //
    void assign(located<stream_ref> s, Y&& y, const reduced<T, Rank>& r) {
  detail::assign_reduction(&s.value, y, r, s.at);
}

/// Describes a reduction: its text, the arrays that it reads, the bytes, and how its device computes it.
template <class T, std::size_t Rank>
std::string explain(const reduced<T, Rank>& r) {
  return detail::explain_reduction(r.request());
}

/// Compiles the kernel of a reduction, a scan or a histogram, or that of several which one reduce_all() computes, and
/// blocks until that is done: for programs that must not compile while they run, and before a capture. As precompile()
/// of an expression.
/// @param r reductions, as passed to reduce_all()
/// @return false if nothing is compiled, as on simulated devices
/// @throws not_supported on CUDA devices if the kernel cannot be compiled (FERRY_JIT=off, no NVRTC)
/// @throws invalid_argument if shapes or axes differ
template <class... T, std::size_t... Rank>
requires(sizeof...(T) > 0) bool precompile(const reduced<T, Rank>&... r) {
  const detail::reduction_program* const all[] = {&r.request()...};
  return detail::precompile_reductions(all);
}

// Definitions of array members that evaluate.

template <class T, std::size_t Rank, memory_kind Kind>
template <class U, std::size_t R>
array_view<T, Rank, Kind>& array_view<T, Rank, Kind>::operator=(const reduced<U, R>& r) {
  detail::assign_reduction(nullptr, *this, r, {});
  return *this;
}
template <class T, std::size_t Rank, memory_kind Kind>
template <class U, std::size_t R>
basic_array<T, Rank, Kind>& basic_array<T, Rank, Kind>::operator=(const reduced<U, R>& r) {
  detail::assign_reduction(nullptr, *this, r, {});
  return *this;
}
template <class T, std::size_t Rank, memory_kind Kind>
template <class U>
basic_array<T, Rank, Kind>::basic_array(const reduced<U, Rank>& r)
    : basic_array(r.extents(), detail::home_of(r.request().program)) {
  detail::assign_reduction(nullptr, *this, r, {});
}

/// @}

}  // namespace ferry::inline FERRY_ABI
