#include "halos/halo_choice.hpp"

#include <algorithm>
#include <chrono>
#include <limits>
#include <map>
#include <string>

#include "ferry/core/array.hpp"
#include "ferry/core/detail/ordering/access_guard.hpp"
#include "ferry/core/detail/runtime/peer.hpp"
#include "ferry/core/detail/support/concat.hpp"
#include "ferry/core/error.hpp"
#include "ferry/core/runtime.hpp"
#include "halos/packed_boxes.hpp"
#include "support/team_settings.hpp"
#include "teams/team_link.hpp"

namespace ferry::inline FERRY_ABI::detail {
namespace {

halo_meter& other_meter() {
  static halo_meter m;
  return m;
}

// Returns the boxes for which stores and copies are both possible.
std::vector<halo_box> boxes_to_choose_for(const team& t, std::span<const halo_box> boxes) {
  const peer_grants& peers = runtime::current().peers();
  std::vector<halo_box> all;
  for (const halo_box& b : boxes)
    if (b.from != b.to && t.is_local(b.from) && t.is_local(b.to) && b.target_owner.get().kind == memory_kind::device &&
        peers.can_reach(t.device(b.from).index(), t.device(b.to).index(), b.target_owner.get().peer_class()))
      all.push_back(b);
  return all;
}

// Returns what determines the time: sources, destinations and shapes of the boxes.
std::string shape_of_halos(std::span<const halo_box> boxes) {
  std::string text;
  for (const halo_box& b : boxes) {
    text += concat(b.from, '>', b.to, ':', b.shape.element_bytes);
    for (std::size_t d = 0; d < b.shape.rank; ++d) text += concat('x', b.shape.extent[d]);
    text += concat(b.source_contiguous ? "c" : "s", b.target_contiguous ? "c;" : "s;");
  }
  return text;
}

// Copies the same cells to scratch memory, so that halos do not change.
class rehearsal {
 public:
  rehearsal(const team& t, std::vector<halo_box> boxes) : team_(t), boxes_(std::move(boxes)) {
    std::map<std::size_t, std::size_t> bytes;  // by the member that receives them
    for (const halo_box& b : boxes_) bytes[b.to] += aligned(bytes_of(b.shape));
    for (const auto& [to, n] : bytes) scratch_.emplace(to, device_array<std::byte>({n}, t.device(to)));
    std::map<std::size_t, std::size_t> used;
    for (halo_box& b : boxes_) {
      const device_array<std::byte>& memory = scratch_.at(b.to);
      std::byte* const at = memory.unsynchronized_data() + used[b.to];
      b.target = packed_at(at, b.shape);
      b.target_owner = memory.owner();
      b.written = {at, at + bytes_of(b.shape)};
      used[b.to] += aligned(bytes_of(b.shape));
    }
  }

  double cost(halo_method how, const halo_meter& meter) const {
    halo_plan plan(team_, boxes_, how);
    halo_plan* const one[] = {&plan};
    try {
      return meter(team_, how, [&] {
        team_.for_each([&](std::size_t m) { halo_plan::start(one, team_, m, halo_streams::own); });
        if (plan.packs()) team_.for_each([&](std::size_t m) { halo_plan::finish(one, m, team_.stream(m)); });
      });
    } catch (const peer_access_error&) {  // the test of a pair failed, as it always will
      return std::numeric_limits<double>::infinity();
    }
  }

 private:
  const team team_;
  std::vector<halo_box> boxes_;
  std::map<std::size_t, device_array<std::byte>> scratch_;
};

}  // namespace

double time_halos(const team& t, halo_method, const std::function<void()>& exchange) {
  constexpr int rounds = 5, exchanges = 4;
  exchange();  // the first one enables peer access
  double best = std::numeric_limits<double>::infinity();
  for (int i = 0; i < rounds; ++i) {
    t.synchronize();
    const auto begin = std::chrono::steady_clock::now();
    for (int k = 0; k < exchanges; ++k) exchange();
    t.synchronize();
    best = std::min(best, std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
  }
  return best / exchanges;
}

halo_method choose_halo_method(const team& t, std::span<const halo_box> boxes) {
  using enum halo_method;
  if (const halo_choice_said said = halos_of_environment(); said != halo_choice_said::automatic)
    return said == halo_choice_said::stores ? stores : copies;
  const halo_meter& other = other_meter();
  if (this_thread_state.capture || (runtime::current().is_simulated() && !other)) return stores;
  std::vector<halo_box> either = boxes_to_choose_for(t, boxes);
  if (either.empty()) return stores;
  team_link& link = t.link();
  lock_guard lock(link.choosing);
  const std::string shape = shape_of_halos(either);
  if (const auto known = link.halo_methods.find(shape); known != link.halo_methods.end()) return known->second;
  try {
    const halo_meter meter = other ? other : halo_meter(time_halos);
    const rehearsal both(t, std::move(either));
    const halo_method best = both.cost(copies, meter) < both.cost(stores, meter) ? copies : stores;
    return link.halo_methods.emplace(shape, best).first->second;
  } catch (const out_of_memory&) {
    return stores;
  }
}

halo_meter_scope::halo_meter_scope(halo_meter m) { other_meter() = std::move(m); }
halo_meter_scope::~halo_meter_scope() { other_meter() = nullptr; }

}  // namespace ferry::inline FERRY_ABI::detail
