// Links between devices: tested on first use, disabled, and kernels on staging copies where there is no link.
#include "contract/peer_cases.hpp"
#include "contract/small_chunks.hpp"
#include "ferry/core/detail/runtime/peer.hpp"
#include "support/quiet_stderr.hpp"

#include <cstdlib>

using namespace contract;

namespace contract_of_peer_links {
namespace {

struct shift_left {  // both are parts of one array
  FERRY_HOST_DEVICE void operator()(std::size_t i, const int* from, int* to) const {
    if (i % 2 == 0) to[i] = from[i];
  }
};
struct set_second {
  FERRY_HOST_DEVICE void operator()(std::size_t i, fr::mdspan<int, 1> v) const { v(i) = static_cast<int>(i); }
};

}  // namespace
}  // namespace contract_of_peer_links

BOOST_FIXTURE_TEST_SUITE(contract_of_peer_links, clean)

BOOST_AUTO_TEST_CASE(a_link_that_loses_bytes_is_found_said_once_and_not_used) {
  for (const char* schedule : {"eager", "random:1", "random:2"}) {
    const support::quiet_stderr said;
    const variable on("FERRY_PEER", "on");
    fr::simulation sim(std::string("devices=3;broken=0-1;schedule=") + schedule);
    sim.get().peers().kernels(fr::detail::peer_kernels::error);
    const fr::device d0(0), d1(1), d2(2);
    const auto x = counted<int, 1, memory_kind::device>(fr::extents<1>(1000), d0);
    fr::device_array<int> y({1000}, 0, d1);
    for (int i = 0; i < 3; ++i) {
      fr::copy(x, y);
      CHECK_EQUAL(fr::to_vector(y), counting<int>(1000));
      fr::fill(y, 0);
    }
    BOOST_TEST(contains(fr::route(d1, d0).text(), "staged"));
    BOOST_TEST(contains(fr::route(d1, d0).text(), "the test of the link failed"));
    BOOST_TEST(!d0.can_reach(d1));
    BOOST_TEST(!d1.can_reach(d0));
    check_error<fr::peer_access_error>([&] { fr::parallel_for(fr::default_stream(d1), 10, add_from{}, fr::in(x), y); },
                                       {"the test of the link failed", "did not arrive", "FERRY_PEER_KERNELS=stage"});
    // Also for pools, where they are in use.
    BOOST_TEST(count(said.text(), ": copies between them go through the CPU") == 1u, said.text());
    BOOST_TEST(count(said.text(), " in pools of the driver: ") <= 1u, said.text());
    BOOST_TEST(count(said.text(), "the driver reports devices 0 and 1 as peers") +
                       count(said.text(), "the driver reports devices 1 and 0 as peers") <=
                   2u,
               said.text());
    BOOST_TEST(contains(fr::route(d0, d2).text(), "peer"));
    BOOST_TEST(contains(fr::route(d1, d2).text(), "peer"));
  }
}

BOOST_AUTO_TEST_CASE(peers_can_be_switched_off) {
  const variable off("FERRY_PEER", "off");
  fr::simulation sim("devices=2;schedule=random:3");
  sim.get().peers().kernels(fr::detail::peer_kernels::error);
  const fr::device d0(0), d1(1);
  BOOST_TEST(!d0.can_reach(d1));
  BOOST_TEST(contains(fr::route(d0, d1).text(), "FERRY_PEER=off"));
  auto x = counted<int, 1, memory_kind::device>(fr::extents<1>(1000), d0);
  fr::device_array<int> y({1000}, d1);
  fr::copy(x, y);
  CHECK_EQUAL(fr::to_vector(y), counting<int>(1000));
  check_error<fr::peer_access_error>([&] { fr::parallel_for(fr::default_stream(d1), 10, add{1}, x); },
                                     {"FERRY_PEER=off"});
}

BOOST_AUTO_TEST_CASE(settings_that_do_not_parse) {
  for (const auto& [name, value, allowed] :
       {std::tuple("FERRY_PEER", "no", "off, on"), std::tuple("FERRY_PEER_KERNELS", "mirror", "error, stage"),
        std::tuple("FERRY_MULTIPATH", "1", "teams, always, never"),
        std::tuple("FERRY_COPY_THREADS", "0x", "1 to 1024")}) {
    const variable wrong(name, value);
    check_error<fr::parse_error>([] { const fr::simulation sim("devices=2"); },
                                 {std::string(name) + "='" + value + "'", allowed});
  }
}

BOOST_AUTO_TEST_CASE(kernels_run_on_mirrors_where_there_is_no_link) {
  for (const char* how : {"devices=3;peers=none", "devices=3;peers=none;schedule=random:1",
                          "devices=3;peers=0-2;schedule=random:2", "devices=3;broken=0-1;schedule=random:3"}) {
    const support::quiet_stderr quiet;
    fr::simulation sim(how);
    sim.get().peers().kernels(fr::detail::peer_kernels::stage);
    const small_chunks small;
    const fr::device d0(0), d1(1);
    BOOST_TEST(d1.can_reach(d0));
    const fr::stream s{d1};
    auto x = counted<int, 1, memory_kind::device>(fr::extents<1>(1000), d0);
    fr::device_array<int> y({1000}, 1, d0), own({1000}, 2, d1);
    fr::parallel_for(s, 1000, add_from{}, fr::in(x), own);
    CHECK_EQUAL(fr::to_vector(own), counting<int>(1000, 2));
    fr::parallel_for(s, 1000, add_from{}, fr::in(own), y);
    CHECK_EQUAL(fr::to_vector(y), counting<int>(1000, 3));
    BOOST_TEST(&last_user(y) == &fr::default_stream(d0).timeline());  // to_vector's
    BOOST_TEST(fr::parallel_reduce(s, 1000, value_of{}, fr::plus{}, fr::in(y)).value() == 499500 + 3000);
    // Only declared outputs are copied back, and strided views leave the elements in between unchanged.
    fr::parallel_for(s, 100, add{1000}, y.slice({100, 200}));
    fr::parallel_for(s, 50, set_second{}, y.slice({300, 400, 2}));
    std::vector<int> expected = counting<int>(1000, 3);
    for (std::size_t i = 100; i < 200; ++i) expected[i] += 1000;
    for (std::size_t i = 0; i < 50; ++i) expected[300 + 2 * i] = static_cast<int>(i);
    CHECK_EQUAL(fr::to_vector(y), expected);
    // Two parts of one array alias in the staging copy as they do in the original.
    fr::parallel_for(s, 998, shift_left{}, std::as_const(x).slice({1, 999}), x.slice({0, 998}));
    expected = counting<int>(1000);
    for (std::size_t i = 0; i < 998; i += 2) expected[i] = expected[i + 1];
    CHECK_EQUAL(fr::to_vector(x), expected);
    fr::submit(
        s, [](fr::native_stream n, int* p) { set_ints(n, p, 500, 42); }, fr::inout(x));
    std::fill_n(expected.begin(), 500, 42);
    CHECK_EQUAL(fr::to_vector(x), expected);
    fr::fill(s, x, 7);
    BOOST_TEST(&last_user(x) == &s.timeline());
    CHECK_EQUAL(fr::to_vector(x), std::vector<int>(1000, 7));
    fr::graph g = fr::capture(s, [&] { fr::parallel_for(s, 1000, add{1}, x); });
    g.launch(s);
    g.launch(s);
    CHECK_EQUAL(fr::to_vector(x), std::vector<int>(1000, 9));
  }
}

BOOST_AUTO_TEST_CASE(a_mirrored_kernel_is_one_use) {
  for (unsigned seed = 0; seed < 30; ++seed) {
    fr::simulation sim("devices=2;peers=none;schedule=random:" + std::to_string(seed));
    sim.get().peers().kernels(fr::detail::peer_kernels::stage);
    const small_chunks small;
    const fr::stream s{fr::device(0)}, t{fr::device(1)};
    fr::device_array<int> x({700}, 0, fr::device(0));
    for (int i = 0; i < 6; ++i) fr::parallel_for(i % 2 ? s : t, 700, add{1 << i}, x);
    fr::parallel_for(t, 700, add{100}, x);
    t.synchronize();
    CHECK_EQUAL(std::span<const int>(x.unsynchronized_data(), 700), std::vector<int>(700, 163));
  }
}

BOOST_AUTO_TEST_SUITE_END()
