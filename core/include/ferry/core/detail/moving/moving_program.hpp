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
  roll,       // before: number of elements by which indices grow, modulo the extent
  repeat,     // times: each element so often
  tile,       // times: the whole axis so often
  clamp,      // before, after: further elements, equal to the nearest one
  wrap,       // the same, periodic
  reflect,    // the same, mirrored at the outermost elements
  symmetric,  // the same, mirrored at the edges: the outermost elements occur twice
  part        // before, after: further elements, whose values do not matter
};
// What happens along one dimension.
struct axis_move {
  std::ptrdiff_t before = 0;
  std::size_t after = 0, times = 1;
};

// Number of a dimension; negative ones count from the last. Throws invalid_argument with the function's name.
std::size_t dimension_of(std::string_view function, int axis, std::size_t rank);

// The elements at indices along a dimension, which the shape of the indices replaces. Throws invalid_argument if there
// are no elements to take.
expression_program take_program(const array_elements& a, std::size_t dimension, expression_program indices);
// The elements at indices along a dimension. The other dimensions of the indices go along those of the array, or are
// stretched. Requires equal ranks. Throws invalid_argument for shapes that do not broadcast.
expression_program take_along_program(const array_elements& a, std::size_t dimension, expression_program indices);
// The elements at one index for each dimension. The shapes of the indices broadcast.
expression_program gather_program(const array_elements& a, std::span<expression_program> indices);
// The elements moved along all dimensions for which there is something to do. moves: by dimension. Throws
// invalid_argument if elements are to be made of none.
expression_program moved_program(std::string_view function, const array_elements& a, moving_rule rule,
                                 std::span<const axis_move> moves);
// true for the elements of a moved program of this rule `part` that are elements of the array.
expression_program inside_program(const array_elements& a, std::span<const axis_move> moves);
// true below an index along a dimension of `rank` dimensions, of which the extent is `extent` and the others 1.
expression_program below_program(std::size_t rank, std::size_t dimension, std::size_t extent, std::int64_t index);

// Notes the arrays that a program puts together along a dimension of its own, so that an assignment copies them one by
// one. Arrays that lack the dimension take one index each. types: element k gets types k, ..., 0 one after the other.
void note_parts(expression_program& whole, std::size_t dimension, std::span<const array_elements> arrays,
                std::span<const scalar_type> types);

// Inserts dimensions of extent 1 behind all but the last `axis` ones.
void insert_axes(expression_program& p, std::size_t axis, std::size_t count);
// Throws invalid_argument unless the shapes are equal, or differ along this dimension only.
void need_equal_shapes(std::string_view function, const array_elements& a, const array_elements& b,
                       std::size_t different_dimension);

}  // namespace ferry::inline FERRY_ABI::detail
