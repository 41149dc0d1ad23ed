#include "ferry/core/boundary_conditions.hpp"

#include "ferry/core/detail/support/concat.hpp"
#include "ferry/core/error.hpp"

namespace ferry::inline FERRY_ABI::detail {

void need_cells_inside(const side& s, std::size_t width, std::size_t inside, const array_look& array) {
  if (width > inside)
    throw invalid_argument(
        concat(ghosts_text(s, array), " are ", width, " cells wide, and ", inside, " cells are inside along axis ",
               s.axis, ": reflecting{} and periodic{} need as many; use a narrower layer, or zero_gradient{}"));
}

void throw_no_sign(const array_look& array, const std::string& type) {
  throw invalid_argument("reflecting{parity::odd} at the ghost cells of " + array_text(array) + ": elements of type " +
                         type +
                         " have no sign that an expression changes: use reflecting{}, or a functor in "
                         "parallel_for(ghosts(a, side), functor, inout(a))");
}

}  // namespace ferry::inline FERRY_ABI::detail
