// Registrations that pins need: overlapping pins share one, and a failure changes nothing.
#include "external/pinned_ranges.hpp"

#include <boost/test/unit_test.hpp>
#include <vector>

#include "core/sim_fixture.hpp"

using namespace sim_test;

namespace core_pinned_ranges {
namespace {

struct pins {
  sim_machine runtime{""};
  std::vector<std::byte> memory = std::vector<std::byte>(10000);
  std::size_t quiet = 0;  // number of ranges that had to be unpinned, and so needed to be idle
  fr::detail::pinned_ranges ranges{runtime.b,
                                   [this](std::span<const fr::detail::byte_range> leaving, const auto& change) {
                                     quiet += leaving.size();
                                     change();
                                   }};
  fr::detail::byte_range part(std::size_t begin, std::size_t end) { return {&memory[begin], &memory[0] + end}; }
  bool is_pinned(std::size_t i) const { return runtime.b.attributes(&memory[i]).is_known; }
};

}  // namespace
}  // namespace core_pinned_ranges

BOOST_AUTO_TEST_SUITE(core_pinned_ranges)

BOOST_FIXTURE_TEST_CASE(apart_and_touching_ranges_are_registered_apart, pins) {
  ranges.add(part(0, 100));
  ranges.add(part(100, 200));
  ranges.add(part(5000, 6000));
  BOOST_TEST(ranges.registrations() == 3u);
  BOOST_TEST(quiet == 0u);
  BOOST_TEST((is_pinned(0) && is_pinned(199) && !is_pinned(200) && is_pinned(5999) && !is_pinned(6000)));
  ranges.remove(part(100, 200));
  BOOST_TEST((is_pinned(99) && !is_pinned(100)));
  BOOST_TEST(quiet == 1u);
}

BOOST_FIXTURE_TEST_CASE(overlapping_ranges_are_counted, pins) {
  ranges.add(part(0, 1000));
  ranges.add(part(200, 300));
  ranges.add(part(0, 1000));
  BOOST_TEST(ranges.registrations() == 1u);
  BOOST_TEST(quiet == 0u);  // nothing was unpinned
  ranges.add(part(900, 2000));
  BOOST_TEST(ranges.registrations() == 1u);
  BOOST_TEST(quiet == 1u);
  ranges.remove(part(0, 1000));
  BOOST_TEST((is_pinned(0) && is_pinned(1999)));  // another pin of it remains
  ranges.remove(part(0, 1000));
  BOOST_TEST((!is_pinned(0) && is_pinned(200) && is_pinned(299) && !is_pinned(300) && is_pinned(900)));
  BOOST_TEST(ranges.registrations() == 2u);
  ranges.remove(part(200, 300));
  ranges.remove(part(900, 2000));
  BOOST_TEST(ranges.registrations() == 0u);
  BOOST_TEST(!is_pinned(950));
}

BOOST_FIXTURE_TEST_CASE(across_what_touches, pins) {
  ranges.add(part(0, 100));
  ranges.add(part(100, 200));
  ranges.add(part(50, 150));
  BOOST_TEST(ranges.registrations() == 1u);
  BOOST_TEST(quiet == 2u);
  ranges.remove(part(50, 150));
  BOOST_TEST(ranges.registrations() == 2u);
}

// Part of the range is already registered elsewhere: CUDA and the simulator refuse, and the existing pins stay.
BOOST_FIXTURE_TEST_CASE(what_fails_changes_nothing, pins) {
  ranges.add(part(0, 100));
  runtime.b.pin(&memory[300], 100);
  BOOST_CHECK_THROW(ranges.add(part(50, 350)), fr::invalid_argument);
  BOOST_TEST((is_pinned(0) && is_pinned(99) && !is_pinned(100)));
  BOOST_TEST(ranges.registrations() == 1u);
  BOOST_CHECK_THROW(ranges.add(part(350, 500)), fr::invalid_argument);
  BOOST_TEST(!is_pinned(450));
  ranges.remove(part(0, 100));
  BOOST_TEST((!is_pinned(0) && is_pinned(300)));
  runtime.b.unpin(&memory[300], 100);
}

BOOST_AUTO_TEST_SUITE_END()
