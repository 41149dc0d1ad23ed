// How often steps of sharded loops wait.
#include <ferry/ferry.hpp>

#include "contract/fixture.hpp"
#include "ferry/core/detail/runtime/peer.hpp"
#include "sim/sim_backend.hpp"
#include "support/counting_backend.hpp"

using namespace contract;

namespace sharded_waits {
namespace {

using field = fr::sharded_array<float, 2>;

struct relax {
  FERRY_HOST_DEVICE double operator()(std::size_t i, std::size_t j, fr::shard_span<const float, 2> a,
                                      fr::shard_span<float, 2> next) const {
    const bool has_above = i > 0 || a.begin(0) < 0, has_below = i + 1 < a.extent(0) || a.begin(0) < 0;
    next(i, j) = 0.5f * ((has_above ? a(i - 1, j) : 0) + (has_below ? a(i + 1, j) : 0));
    return next(i, j) - a(i, j);
  }
};
struct height {
  FERRY_HOST_DEVICE float operator()(std::size_t i, std::size_t j, fr::shard_span<const float, 2> a) const {
    return a(i, j);
  }
};

// The number of stream waits in a step, after warm-up steps.
template <class Step>
double waits_of(std::size_t devices, bool periodic, Step step) {
  fr::simulation sim("devices=" + std::to_string(devices));
  support::call_counts calls;
  fr::runtime_scope counting(std::make_unique<support::counting_backend>(sim.get().backend(), calls));
  const fr::team t = fr::team::all();
  const fr::shard_options o{.axis = 0, .halo = 1, .periodic = periodic};
  field a(t, {64, 8}, o, 1.0f), next(t, {64, 8}, o, 1.0f);
  const auto run = [&](int steps) {
    for (int i = 0; i < steps; ++i) {
      step(a, next);
      swap(a, next);
    }
  };
  run(10);
  const long before = calls.stream_waits, blocked = calls.cpu_waits;
  run(100);
  BOOST_TEST(calls.cpu_waits == blocked);  // the CPU never waits
  return static_cast<double>(calls.stream_waits - before) / 100;
}

void plain_step(field& a, field& next) {
  fr::parallel_for(fr::owned(next), relax{}, fr::in(a), fr::out(next));
  fr::exchange_halos(next);
}
void swept_step(field& a, field& next) { fr::parallel_for(fr::sweep(next), relax{}, fr::in(a), fr::out(next)); }

bool are_peers() { return fr::detail::peer_policy::from_environment().use; }

// The number of stream waits that staged copies of one step make, if halos cannot be stored directly. Each copy forks
// two streams, which wait for a chunk each, and joins them.
double staged_waits(std::size_t devices, bool periodic) {
  const double copies = devices == 1 ? 0 : 2 * (static_cast<double>(devices) - (periodic ? 0 : 1));
  return are_peers() ? 0 : 6 * copies;
}

}  // namespace
}  // namespace sharded_waits

BOOST_AUTO_TEST_SUITE(sharded_waits)

// The minimum: each device waits for each neighbour once.
BOOST_AUTO_TEST_CASE(a_step_waits_once_for_each_neighbour) {
  for (const std::size_t devices : {1u, 2u, 3u, 4u, 8u}) {
    const double d = static_cast<double>(devices);
    BOOST_TEST(waits_of(devices, false, plain_step) == 2 * (d - 1) + staged_waits(devices, false));
    BOOST_TEST(waits_of(devices, true, plain_step) == (devices == 1   ? 0
                                                       : devices == 2 ? 2
                                                                      : 2 * d) +
                                                          staged_waits(devices, true));
  }
}

// An earlier step's result is read before later steps are complete: under late schedules some of their work is still
// pending.
BOOST_AUTO_TEST_CASE(results_are_read_while_later_steps_go_on) {
  int with_work_to_come = 0;
  for (int seed = 0; seed < 20; ++seed) {
    fr::simulation sim("devices=3;schedule=random:" + std::to_string(seed));
    auto& inspector = dynamic_cast<fr::detail::sim::inspector&>(fr::runtime::current().backend());
    const fr::team t = fr::team::all();
    const fr::shard_options o{.axis = 0, .halo = 1, .periodic = true};
    field a(t, {12, 8}, o, 2.0f), next(t, {12, 8}, o, 1.0f);
    const auto first = fr::parallel_reduce(fr::owned(a), height{}, fr::plus{}, fr::in(a));
    for (int i = 0; i < 20; ++i) {
      swept_step(a, next);
      swap(a, next);
    }
    BOOST_TEST(first.value() == 2.0f * 12 * 8);
    with_work_to_come += inspector.pending_operations() > 0;
    t.synchronize();
    BOOST_TEST(inspector.pending_operations() == 0u);
  }
  BOOST_TEST(with_work_to_come > 0);
}

// Boundary, exchange and interior overlap. Besides its neighbours, each device's side stream waits for its own
// boundary. The boundary waits for transfers from the same rows two steps before. There are occasional extra waits,
// because a vector clock merges only what was known when an event was recorded.
BOOST_AUTO_TEST_CASE(a_sweep_waits_for_its_neighbours_and_within_its_device) {
  for (const std::size_t devices : {2u, 3u, 4u, 8u}) {
    const double d = static_cast<double>(devices);
    const double staged = staged_waits(devices, true);
    BOOST_TEST(waits_of(devices, true, swept_step) <= (are_peers() ? 4.5 : 5) * d + staged);
    BOOST_TEST(waits_of(devices, true, swept_step) >= (devices == 2 ? 2 : 2 * d) + d + staged);
  }
}

BOOST_AUTO_TEST_SUITE_END()
