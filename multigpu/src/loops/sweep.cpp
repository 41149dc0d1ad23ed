#include "ferry/multigpu/sweep.hpp"

#include "ferry/core/error.hpp"
#include "ferry/multigpu/reproducible.hpp"

namespace ferry::inline FERRY_ABI::detail {

void throw_narrow_sweep(const std::string& name) {
  throw invalid_argument(
      "a sweep is over an array whose halo is narrower than that of its argument, " +
      quoted_name(name, "sharded array") +
      ", so that its boundary does not hold all cells that are exchanged: sweep over the array with " +
      "the widest halo");
}
void throw_partial_reproducible() {
  throw invalid_argument("a reproducible reduction runs over all cells of an array: give it owned(array)");
}
void append_bytes(std::vector<std::byte>& to, const void* from, std::size_t bytes) {
  const auto* p = static_cast<const std::byte*>(from);
  to.insert(to.end(), p, p + bytes);
}
void need_one_cut(const member_grid& grid, const std::string& text) {
  if (grid.cuts() > 1)
    throw invalid_argument(
        "a reproducible reduction over " + text +
        ": its chunks of cells follow one axis of distribution: reshard the array along one axis, or "
        "reduce without reproducible()");
}
void throw_partial_sweep() {
  throw invalid_argument("a sweep runs over all cells that the members own: give it owned(array), or the array");
}

}  // namespace ferry::inline FERRY_ABI::detail
