// as: host
// Copies of the driver's pool memory on streams of another device. They need access to the pool even if the copy stays
// on one device. Each case uses fresh pools without any grants.
#include "contract/fixture.hpp"

using namespace contract;

namespace contract_of_pool_copies {
namespace {

// Arrays in a driver's pool of device 0, and a stream of device 1.
struct other_stream {
  fr::pool pool{fr::device(0), {.kind = fr::pool_kind::driver}};
  fr::stream s{fr::device(1)};
  const std::vector<int> v = counting<int>(1000, 5);
  fr::device_array<int> array(int fill) {
    const fr::pool_scope scope(pool);
    return fr::device_array<int>({1000}, fill, fr::device(0));
  }
};

}  // namespace
}  // namespace contract_of_pool_copies

BOOST_FIXTURE_TEST_SUITE(contract_of_pool_copies, clean)

BOOST_AUTO_TEST_CASE(within_the_pool, *needs_devices(2) * two_devices) {
  other_stream o;
  fr::device_array<int> a = o.array(7), b = o.array(8);
  fr::copy(o.s, a, b);
  CHECK_EQUAL(fr::to_vector(b), std::vector<int>(1000, 7));
}

BOOST_AUTO_TEST_CASE(from_and_to_the_cpu, *needs_devices(2) * two_devices) {
  other_stream o;
  fr::device_array<int> a = o.array(7);
  const auto pinned = fr::host_array<int>::from(o.v);
  fr::unified_array<int> back({1000}, 0);
  fr::copy(o.s, pinned, a);
  fr::copy(o.s, a, back);
  CHECK_EQUAL(fr::to_vector(back), o.v);
}

BOOST_AUTO_TEST_CASE(many_at_once, *needs_devices(2) * two_devices) {
  other_stream o;
  fr::device_array<int> a = o.array(7), b = o.array(8), c = o.array(9);
  fr::host_array<int> d({1000}, 0);
  fr::copy_many(o.s, {{a, b}, {c, d}});
  CHECK_EQUAL(fr::to_vector(b), std::vector<int>(1000, 7));
  CHECK_EQUAL(fr::to_vector(d), std::vector<int>(1000, 9));
}

BOOST_AUTO_TEST_CASE(in_a_graph, *needs_peers(0, 1) * two_devices) {
  other_stream o;
  fr::device_array<int> a = o.array(7), b = o.array(8);
  fr::graph g = fr::capture(o.s, [&] { fr::copy(o.s, a, b); });
  g.launch(o.s);
  CHECK_EQUAL(fr::to_vector(b), std::vector<int>(1000, 7));
}

BOOST_AUTO_TEST_SUITE_END()
