// Chooses how halos travel between devices that are peers: by stores of kernels or by copies, whichever is faster.
// Measured once.
#pragma once
#include <functional>
#include <span>

#include "ferry/multigpu/detail/halos/halo_plan.hpp"

namespace ferry::inline FERRY_ABI::detail {

// Returns the method for a plan with halo_method::automatic: that of FERRY_HALOS, else the measured one for halos of
// this shape on this team. The first call for a shape measures: it blocks for some exchanges into scratch memory of the
// size of the halos. Returns stores if nothing can be measured: on simulated devices, inside a capture, and without
// memory. Throws parse_error.
halo_method choose_halo_method(const team& t, std::span<const halo_box> boxes);

// Returns the cost of an exchange, in any unit; exchange() enqueues one on the streams of the team.
using halo_meter = std::function<double(const team& t, halo_method how, const std::function<void()>& exchange)>;
// Returns the best time of an exchange over several rounds, in seconds.
double time_halos(const team& t, halo_method how, const std::function<void()>& exchange);

// For tests: replaces the meter for a scope, on simulated devices, too.
class halo_meter_scope {
 public:
  explicit halo_meter_scope(halo_meter m);
  ~halo_meter_scope();
  halo_meter_scope(const halo_meter_scope&) = delete;
  halo_meter_scope& operator=(const halo_meter_scope&) = delete;
};

}  // namespace ferry::inline FERRY_ABI::detail
