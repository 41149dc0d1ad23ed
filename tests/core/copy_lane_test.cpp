// Which lane a copy gets: an idle one, or, if copies run one after the other, the previous copy's.
#include "copies/copy_lane.hpp"

#include <boost/test/unit_test.hpp>
#include <ferry/core.hpp>
#include <set>

#include "support/busy_stream.hpp"

namespace fr = ferry;

namespace core_copy_lanes {
namespace {

struct stock {
  const fr::simulation runtime{"devices=1;schedule=random:1"};
  fr::detail::backend& backend = fr::runtime::current().backend();
  const fr::stream given;
  const fr::detail::lane_key key{fr::memory_kind::host, 0, 0, 0, 4096, 3};
  fr::detail::lane_stock lanes{backend};
  support::busy_stream busy{given};

  fr::detail::lane_lease apart() { return lanes.take(key, 0); }
  fr::detail::lane_lease in_turn() { return lanes.take(key, 0, given.timeline().stream()); }
  static const fr::detail::copy_lane* lane_of(const fr::detail::lane_lease& l) { return l.get(); }
  // All of the lane's work waits for the given stream, which is busy.
  void keep_busy(fr::detail::copy_lane& lane) {
    lane.fork(given.timeline().stream(), 0);
    lane.join(given.timeline().stream());
  }
};

}  // namespace
}  // namespace core_copy_lanes

BOOST_AUTO_TEST_SUITE(core_copy_lanes)

BOOST_FIXTURE_TEST_CASE(operations_apart_get_idle_lanes, stock) {
  std::set<const fr::detail::copy_lane*> seen;
  for (std::size_t i = 0; i < fr::detail::lane_stock::most; ++i) {
    const fr::detail::lane_lease lane = apart();
    BOOST_TEST(seen.insert(lane.get()).second);
    keep_busy(*lane);
    BOOST_REQUIRE(!lane->is_idle());
  }
  BOOST_TEST(!seen.insert(apart().get()).second);  // the stock is exhausted: returns a busy lane
  busy.release();
  given.synchronize();
  const fr::detail::copy_lane* const last = lane_of(apart());
  BOOST_TEST(apart().get() == last);
}

BOOST_FIXTURE_TEST_CASE(operations_in_turn_share_two_lanes, stock) {
  std::set<const fr::detail::copy_lane*> seen;
  fr::detail::lane_lease before = in_turn();
  for (int i = 0; i < 10; ++i) {
    fr::detail::lane_lease next = in_turn();
    BOOST_TEST((next.get() != before.get()));
    keep_busy(*before);
    BOOST_TEST(!before->is_idle());
    seen.insert(before.get());
    before = std::move(next);
  }
  BOOST_TEST(seen.size() == 2u);
}

BOOST_FIXTURE_TEST_CASE(operations_in_turn_wait_for_no_other_stream, stock) {
  const fr::stream other;
  const fr::detail::copy_lane* const busy_one = [&] {
    const fr::detail::lane_lease lane = apart();
    keep_busy(*lane);
    return lane_of(lane);
  }();
  BOOST_TEST((lanes.take(key, 0, other.timeline().stream()).get() != busy_one));
}

BOOST_FIXTURE_TEST_CASE(each_operation_begins_with_the_same_chunks, stock) {
  std::set<const std::byte*> first;
  for (int i = 0; i < 4; ++i) {
    const fr::detail::lane_lease lane = in_turn();
    first.insert(lane->next().data);
    BOOST_TEST(!first.contains(lane->next().data));
  }
  BOOST_TEST(first.size() == 1u);
}

BOOST_AUTO_TEST_SUITE_END()
