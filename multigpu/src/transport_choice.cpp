// Which transport a team gets.
#include <cstdlib>
#include <string>

#include "ferry/core/error.hpp"
#include "ferry/core/machine.hpp"
#include "nccl/nccl_transport.hpp"
#include "sim/sim_transport.hpp"

namespace ferry {

std::shared_ptr<transport> make_transport(const rank_layout& team) {
  return machine::current().is_simulated() ? sim::make_transport(team) : nccl::make_transport(team);
}

}  // namespace ferry
