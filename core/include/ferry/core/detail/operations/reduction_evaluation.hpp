// A program whose values are combined along axes, ready to run: the input of evaluators for reductions, scans and
// histograms.
#pragma once
#include <array>
#include <cstdint>
#include <span>

#include "ferry/core/detail/operations/evaluation.hpp"
#include "ferry/core/detail/support/internal.hpp"

namespace ferry::inline FERRY_ABI::detail {

enum class reduction_operation : std::uint8_t {
  sum,
  product,
  minimum,  // NaN if any value is NaN; -0 is less than +0
  maximum,
  any,       // of bool
  all,       // of bool
  least,     // position of the first least value, int64; NaN is less and greater than all numbers
  greatest,  // position of the first greatest value
  moments    // mean, and sum of squared distances from it, which is real
};
inline constexpr int reduction_operations = 9;

// The result that is computed from the combined value. `n` is the number of combined values.
enum class reduction_finish : std::uint8_t {
  none,
  mean,      // sum / n
  root,      // sqrt(sum)
  variance,  // of moments: squared distances / (n - freedom)
  deviation  // sqrt(variance)
};

// True if an operation combines values of this type. Other values are converted before.
constexpr bool combines(reduction_operation o, scalar_type t) {
  const bool is_real = t == scalar_type::float32 || t == scalar_type::float64;
  const bool is_wide = t == scalar_type::int64 || t == scalar_type::uint64;
  switch (o) {
    case reduction_operation::sum:
    case reduction_operation::product: return is_wide || is_real || is_complex(t);
    case reduction_operation::any:
    case reduction_operation::all: return t == scalar_type::boolean;
    case reduction_operation::moments: return is_real || is_complex(t);
    default: return is_wide || is_real || t == scalar_type::int32 || t == scalar_type::uint32;
  }
}

// Returns the type of the combined value, for values of type t.
constexpr scalar_type combined_as(reduction_operation o, scalar_type t) {
  if (o == reduction_operation::moments) return real_of(t);
  return o == reduction_operation::least || o == reduction_operation::greatest ? scalar_type::int64 : t;
}

// One result of a reduction, or one output of a scan.
struct reduction_output {
  evaluation_operand to;  // of a reduction: stride 0 along the reduced axes
  std::uint8_t value;     // number of the value, of a type that `what` combines
  reduction_operation what;
  reduction_finish finish = reduction_finish::none;
  double freedom = 0;                                // of a variance
  bool is_exclusive = false;                         // of a scan: without the element itself
  bool has_initial = false;                          // of a scan: begins with `initial`
  program_constant initial{};                        // of the value's type
  std::uint8_t weight = evaluation_output::no_mask;  // of a count: number of a float64 value, or none: 1 each
};

enum class reduction_kind : std::uint8_t {
  reduce,
  scan,  // each element is combined with those before it along the reduced axis
  // `to` has one axis of `bins` elements; adds 1 or the weight to that at each value, an int64. Values outside of
  // [0, bins) are ignored. All axes are reduced.
  count
};

// For all indices of the kept axes, combines the values along the reduced axes. All spans are valid during the call
// only.
//
// Axes are ordered so that axis 0 is best to read. If it is reduced, the other reduced axes follow it, then the kept
// ones. Otherwise the kept axes before the first reduced one come first, then all reduced axes, then the other kept
// ones. For least and greatest, and for scans, reduced axes are in the order of positions. There is at least one value
// to combine, and one result.
//
// The order of operations depends on this description only: not on the number of threads, nor on the schedule. Outputs
// overlap neither operands nor each other.
struct reduction_evaluation {
  evaluation input;  // without outputs
  std::array<bool, max_rank> is_reduced{};
  reduction_kind kind = reduction_kind::reduce;
  std::size_t bins = 0;  // of a count
  std::span<const reduction_output> results;
  std::byte* scratch = nullptr;  // memory of the device for backend::reduce, of backend::scratch_bytes()
};

}  // namespace ferry::inline FERRY_ABI::detail
