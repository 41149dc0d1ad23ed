// Chooses the transport of a team.
#include <cstdlib>
#include <string>

#include "ferry/core/error.hpp"
#include "ferry/core/runtime.hpp"
#include "nccl/nccl_transport.hpp"
#include "sim/sim_transport.hpp"
#include "transport/keyed_transport.hpp"

namespace ferry::inline FERRY_ABI::detail {

std::shared_ptr<transport> make_transport(const rank_layout& team) {
  if (runtime::current().is_simulated()) return sim::make_transport(team);
  return with_ordered_keys(nccl::make_transport(team), team);
}

}  // namespace ferry::inline FERRY_ABI::detail
