// Programs of elements that are read at other indices than their own. No templates.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "ferry/core/detail/expressions/expression_program.hpp"
#include "ferry/core/detail/support/internal.hpp"

namespace ferry::inline FERRY_ABI::detail {

enum class moving_rule : std::uint8_t {
  roll,       // before: the distance by which elements move, modulo the extent
  repeat,     // times: how often each element occurs
  tile,       // times: how often the whole axis occurs
  clamp,      // before, after: further elements, equal to the nearest one
  wrap,       // the same, periodic
  reflect,    // the same, mirrored at the outermost elements
  symmetric,  // the same, mirrored at the edges: the outermost elements occur twice
  part        // before, after: further elements with undefined values
};
// The move along one dimension.
struct axis_move {
  std::ptrdiff_t before = 0;
  std::size_t after = 0, times = 1;
};

// Returns the number of a dimension; negative ones count from the last. Throws invalid_argument with the function's
// name.
std::size_t dimension_of(std::string_view function, int axis, std::size_t rank);

// Returns the elements at indices along a dimension. The shape of the indices replaces the dimension. Throws
// invalid_argument if there are no elements to take.
expression_program take_program(const array_elements& a, std::size_t dimension, expression_program indices);
// Returns the elements at indices along a dimension. The other dimensions of the indices broadcast with those of the
// array. Requires equal ranks. Throws invalid_argument for shapes that do not broadcast.
expression_program take_along_program(const array_elements& a, std::size_t dimension, expression_program indices);
// Returns the elements at one index for each dimension. The shapes of the indices broadcast.
expression_program gather_program(const array_elements& a, std::span<expression_program> indices);
// Returns the elements moved along all dimensions. moves: one for each dimension. Throws invalid_argument if the result
// needs elements and the array has none.
expression_program moved_program(std::string_view function, const array_elements& a, moving_rule rule,
                                 std::span<const axis_move> moves);
// Returns a program of bool for the result of the rule `part`: true where elements are those of the array.
expression_program inside_program(const array_elements& a, std::span<const axis_move> moves);
// Returns a program of bool of `rank` dimensions: true below an index along one dimension. That dimension has the
// extent `extent`, the others 1.
expression_program below_program(std::size_t rank, std::size_t dimension, std::size_t extent, std::int64_t index);

// Records the arrays that a program joins along one of its dimensions, so that an assignment copies them one by one.
// Arrays that lack the dimension have one index each. types: array k is converted to types k, k - 1, ..., 0 in turn.
void note_parts(expression_program& whole, std::size_t dimension, std::span<const array_elements> arrays,
                std::span<const scalar_type> types);

// Inserts dimensions of extent 1 behind all but the last `axis` ones.
void insert_axes(expression_program& p, std::size_t axis, std::size_t count);
// Throws invalid_argument unless the shapes are equal, or differ along this dimension only.
void need_equal_shapes(std::string_view function, const array_elements& a, const array_elements& b,
                       std::size_t different_dimension);

}  // namespace ferry::inline FERRY_ABI::detail
