// Whether halos between devices that are peers go by stores of kernels or by copies: the faster of both, measured once.
#pragma once
#include <functional>
#include <span>

#include "ferry/multigpu/detail/halos/halo_plan.hpp"

namespace ferry::detail {

// For a plan with halo_method::automatic: what FERRY_HALOS says; else what was measured for halos of this shape on this
// team, or is now: then it blocks for some exchanges into scratch memory, as much as the halos. The rule, stores, where
// nothing can be measured: on simulated devices, inside a capture, and when there is no memory. Throws parse_error.
halo_method choose_halo_method(const team& t, std::span<const halo_box> boxes);

// What an exchange costs, in any unit; exchange() gives one to the streams of the team.
using halo_meter = std::function<double(const team& t, halo_method how, const std::function<void()>& exchange)>;
// The best time of some of them, in seconds.
double time_halos(const team& t, halo_method how, const std::function<void()>& exchange);

// For tests: another meter for a scope, used on simulated devices, too.
class halo_meter_scope {
 public:
  explicit halo_meter_scope(halo_meter m);
  ~halo_meter_scope();
  halo_meter_scope(const halo_meter_scope&) = delete;
  halo_meter_scope& operator=(const halo_meter_scope&) = delete;
};

}  // namespace ferry::detail
