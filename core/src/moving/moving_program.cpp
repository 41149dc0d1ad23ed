#include "ferry/core/detail/moving/moving_program.hpp"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "expressions/joined_arrays.hpp"
#include "expressions/operand_memory.hpp"
#include "ferry/core/detail/moving/moving_operand.hpp"
#include "ferry/core/detail/support/concat.hpp"
#include "ferry/core/error.hpp"
#include "moving/moved_elements.hpp"

namespace ferry::inline FERRY_ABI::detail {
namespace {

// Returns the extent of an axis after a move.
std::size_t moved_extent(moving_rule rule, const axis_move& m, std::size_t extent) {
  if (rule == moving_rule::roll) return extent;
  if (rule == moving_rule::repeat || rule == moving_rule::tile) return extent * m.times;
  return extent + static_cast<std::size_t>(m.before) + m.after;
}

bool changes_nothing(moving_rule rule, const axis_move& m, std::size_t extent) {
  if (rule == moving_rule::roll) return extent < 2 || m.before == 0;
  return m.before == 0 && m.after == 0 && m.times == 1;
}

// Returns a modulo n, in [0, n).
std::int64_t positive_modulo(std::int64_t a, std::int64_t n) { return (a % n + n) % n; }

// Returns the quotient or remainder of an index in [0, extent) by `by`. It is computed in 32 bits if they are enough,
// which is much faster.
expression_program divided(operation what, expression_program index, std::size_t extent, std::int64_t by) {
  constexpr std::size_t most = std::size_t{1} << 31;
  const bool is_short = extent < most && static_cast<std::size_t>(by) < most;
  const scalar_type t = is_short ? scalar_type::uint32 : scalar_type::int64;
  expression_program p = apply(what, t, cast_program(std::move(index), t), constant_program(&by, scalar_type::int64));
  return cast_program(std::move(p), scalar_type::int64);
}

// Returns the index in the array for each element of the result. n: extent of the array's axis; all: of the result's.
expression_program moved_index(moving_rule rule, const axis_move& m, std::size_t axis, std::int64_t n,
                               std::size_t all) {
  using enum operation;
  expression_program i = axis_index(axis, all);
  const auto modulo_of = [&](std::int64_t period) {
    const std::int64_t first = positive_modulo(-m.before, period);
    return divided(modulo, plus(std::move(i), first), all + static_cast<std::size_t>(period), period);
  };
  const auto mirrored = [&](std::int64_t period, std::int64_t sum) {
    const expression_program place = modulo_of(period);
    return apply(min, scalar_type::int64, apply(subtract, scalar_type::int64, int64_program(sum), place), place);
  };
  switch (rule) {
    case moving_rule::roll: {
      const std::int64_t by = positive_modulo(m.before, n);
      const expression_program is_first = apply(less, scalar_type::int64, i, int64_program(by));
      return apply(add, scalar_type::int64,
                   apply(select, scalar_type::int64, is_first, int64_program(n - by), int64_program(-by)), i);
    }
    case moving_rule::repeat: return divided(divide, std::move(i), all, static_cast<std::int64_t>(m.times));
    case moving_rule::tile: return divided(modulo, std::move(i), all, n);
    case moving_rule::wrap: return modulo_of(n);
    case moving_rule::reflect: return n == 1 ? int64_program(0) : mirrored(2 * n - 2, 2 * n - 2);
    case moving_rule::symmetric: return mirrored(2 * n, 2 * n - 1);
    default:
      return apply(clamp, scalar_type::int64, plus(std::move(i), -m.before), int64_program(0), int64_program(n - 1));
  }
}

}  // namespace

std::size_t dimension_of(std::string_view function, int axis, std::size_t rank) {
  const int number = axis < 0 ? axis + static_cast<int>(rank) : axis;
  if (number < 0 || number >= static_cast<int>(rank))
    throw invalid_argument(concat("fr::", function, ": there is no axis ", axis, ": there are ", rank, " dimensions"));
  return static_cast<std::size_t>(number);
}

void need_count(std::string_view function, std::size_t count, std::size_t rank) {
  if (count != rank)
    throw invalid_argument(concat("fr::", function, ": ", count, " numbers for ", rank, " dimensions"));
}

void need_different_axes(std::string_view function, std::size_t a, std::size_t b) {
  if (a == b) throw invalid_argument(concat("fr::", function, ": both axes are axis ", a));
}

expression_program take_program(const array_elements& a, std::size_t dimension, expression_program indices) {
  moved_elements m(a);
  const std::size_t axis = a.rank - 1 - dimension, more = indices.shape.rank;
  program_shape shape;
  shape.rank = m.rank() - 1 + more;
  for (std::size_t d = 0; d != more; ++d) shape.extent[axis + d] = indices.shape.extent[d];
  for (std::size_t d = 0; d != m.rank(); ++d) {
    if (d == axis) continue;
    const std::size_t to = d < axis ? d : d - 1 + more;
    shape.extent[to] = m.extent(d);
    m.traverse(d, to);
  }
  if (m.extent(axis) == 0 && !shape.is_empty())
    throw invalid_argument(
        concat("fr::take from ", array_text(look_at(m.operand())), ": there are no elements along axis ", dimension));
  insert_axes(indices, 0, axis);
  m.place_checked(axis, std::move(indices));
  return std::move(m).finish(shape);
}

expression_program take_along_program(const array_elements& a, std::size_t dimension, expression_program indices) {
  moved_elements m(a);
  const std::size_t axis = m.rank() - 1 - dimension;
  program_shape shape = indices.shape;
  for (std::size_t d = 0; d != m.rank(); ++d) {
    const std::size_t n = m.extent(d);
    if (d == axis || n == 1) continue;  // an axis of one element is stretched
    if (shape.extent[d] != 1 && shape.extent[d] != n)
      throw invalid_argument(concat("fr::take_along_axis of ", array_text(look_at(m.operand())), " at indices of ",
                                    text_of(indices.shape), ": their extents along dimension ", m.rank() - 1 - d,
                                    " do not broadcast"));
    shape.extent[d] = n;
    m.traverse(d, d);
  }
  if (m.extent(axis) == 0 && !shape.is_empty())
    throw invalid_argument(concat("fr::take_along_axis of ", array_text(look_at(m.operand())),
                                  ": there are no elements along axis ", dimension));
  m.place_checked(axis, std::move(indices));
  return std::move(m).finish(shape);
}

expression_program gather_program(const array_elements& a, std::span<expression_program> indices) {
  moved_elements m(a);
  for (std::size_t d = 0; d != indices.size(); ++d) m.place_checked(indices.size() - 1 - d, std::move(indices[d]));
  const program_shape shape = m.shape_of_indices();
  if (m.operand().shape.is_empty() && !shape.is_empty())
    throw invalid_argument("fr::gather from " + array_text(look_at(m.operand())) + ": it has no elements");
  return std::move(m).finish(shape);
}

expression_program moved_program(std::string_view function, const array_elements& a, moving_rule rule,
                                 std::span<const axis_move> moves) {
  moved_elements m(a);
  program_shape shape = m.operand().shape;
  bool is_moved = false;
  for (std::size_t d = 0; d != shape.rank; ++d) {
    const axis_move& move = moves[shape.rank - 1 - d];
    shape.extent[d] = moved_extent(rule, move, m.extent(d));
    is_moved = is_moved || !changes_nothing(rule, move, m.extent(d));
  }
  if (!is_moved) return array_program(m.operand());
  if (m.operand().shape.is_empty()) {
    if (!shape.is_empty() && rule != moving_rule::part)
      throw invalid_argument(concat("fr::", function, " of ", array_text(look_at(m.operand())), " to ", text_of(shape),
                                    ": there is no element to copy"));
    const program_constant zero{};  // large enough for any type
    expression_program p = constant_program(zero.bytes, computed_as(a.type));
    p.shape = shape;
    return p;
  }
  for (std::size_t d = 0; d != shape.rank; ++d) {
    const axis_move& move = moves[shape.rank - 1 - d];
    if (changes_nothing(rule, move, m.extent(d)))
      m.traverse(d, d);
    else
      m.place(d, moved_index(rule, move, d, static_cast<std::int64_t>(m.extent(d)), shape.extent[d]));
  }
  return std::move(m).finish(shape);
}

expression_program inside_program(const array_elements& a, std::span<const axis_move> moves) {
  using enum operation;
  const bool yes = true;
  expression_program all = constant_program(&yes, scalar_type::boolean);
  for (std::size_t d = 0; d != a.rank; ++d) {
    const axis_move& move = moves[a.rank - 1u - d];
    const std::size_t n = a.extents[a.rank - 1u - d];
    const expression_program i = axis_index(d, n + static_cast<std::size_t>(move.before) + move.after);
    const auto end = static_cast<std::int64_t>(n) + move.before;
    if (move.before != 0)
      all = apply(logical_and, scalar_type::boolean,
                  apply(greater_equal, scalar_type::int64, i, int64_program(move.before)), all);
    if (move.after != 0)
      all = apply(logical_and, scalar_type::boolean, apply(less, scalar_type::int64, i, int64_program(end)), all);
  }
  return all;
}

expression_program below_program(std::size_t rank, std::size_t dimension, std::size_t extent, std::int64_t index) {
  return apply(operation::less, scalar_type::int64, axis_index(rank - 1 - dimension, extent), int64_program(index));
}

void note_parts(expression_program& whole, std::size_t dimension, std::span<const array_elements> arrays,
                std::span<const scalar_type> types) {
  const std::size_t axis = whole.shape.rank - 1 - dimension;
  if (arrays.size() == 1 || whole.shape.is_empty()) return;
  auto parts = std::make_shared<joined_arrays>(axis, whole.root, whole.code.size(), whole.shape);
  for (std::size_t k = 0; k != arrays.size(); ++k) {
    expression_program p = array_program(arrays[k]);
    if (p.shape.rank < whole.shape.rank) insert_axes(p, axis, 1);
    if (p.shape.is_empty()) continue;
    for (std::size_t level = k + 1; level-- > 0;) p = cast_program(std::move(p), types[level]);
    parts->programs.push_back(std::move(p));
  }
  whole.joined = std::move(parts);
}

void need_equal_shapes(std::string_view function, const array_elements& a, const array_elements& b,
                       std::size_t different_dimension) {
  for (std::size_t d = 0; d != a.rank; ++d) {
    if (d == different_dimension || a.extents[d] == b.extents[d]) continue;
    program_operand first, second;
    describe(first, a), describe(second, b);
    throw invalid_argument(concat("fr::", function, " of ", array_text(look_at(first)), " and ",
                                  array_text(look_at(second)), ": their extents along dimension ", d, " differ"));
  }
}

}  // namespace ferry::inline FERRY_ABI::detail
