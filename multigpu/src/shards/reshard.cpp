#include "ferry/multigpu/reshard.hpp"

#include "ferry/core/error.hpp"

namespace ferry::inline FERRY_ABI::detail {

void need_same_ranks(const team& from, const team& to) {
  bool same =
      from.size() == to.size() && from.first_local() == to.first_local() && from.local_size() == to.local_size();
  for (std::size_t m = to.first_local(); same && m < to.first_local() + to.local_size(); ++m)
    same = from.device(m) == to.device(m);
  if (!same)
    throw invalid_argument(
        "reshard between two teams that span processes and have other members, processes or devices: make both "
        "arrays on one team::world(), or let the cells pass an array on a team of each process, as team::all()");
}

}  // namespace ferry::inline FERRY_ABI::detail
