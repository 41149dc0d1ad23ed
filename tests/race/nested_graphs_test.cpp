// R18: graphs that are launched inside a capture.
#include <boost/test/unit_test.hpp>
#include <ferry/core.hpp>

#include "support/counting_backend.hpp"

namespace fr = ferry;

namespace nested_graphs {
namespace {

struct look {
  FERRY_HOST_DEVICE void operator()(std::size_t, const int*) const {}
};

}  // namespace
}  // namespace nested_graphs

BOOST_AUTO_TEST_SUITE(nested_graphs)

// Two graphs that only read may run concurrently. Two launches of one graph may not, because host functions and NCCL
// calls in it may conflict.
BOOST_AUTO_TEST_CASE(launches_of_one_come_one_after_the_other) {
  support::call_counts calls;
  fr::detail::backend& below = fr::runtime::current().backend();
  fr::runtime_scope scope(std::make_unique<support::counting_backend>(below, calls));
  const fr::stream s, t;
  const fr::device_array<int> a({100}, 1);
  const auto reader = [&] { return fr::capture(s, [&] { fr::parallel_for(s, 100, look{}, fr::in(a)); }); };
  fr::graph one = reader(), other = reader();
  const auto waits_of = [&](fr::graph& first, fr::graph& second) {
    const long before = calls.stream_waits;
    fr::graph outer = fr::capture(s, [&] { first.launch(s), second.launch(t); });
    const long waits = calls.stream_waits - before;
    outer.launch(s);
    return waits;
  };
  BOOST_TEST(waits_of(one, one) == waits_of(one, other) + 1);
  s.synchronize();
}

BOOST_AUTO_TEST_SUITE_END()
