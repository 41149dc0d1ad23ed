// Kernels on memory of other devices, and kernels that fail.
#include "contract/peer_cases.hpp"
#include "contract/small_chunks.hpp"
#include "ferry/core/detail/runtime/peer.hpp"

using namespace contract;

namespace contract_of_peers {
namespace {

struct one_too_far {
  FERRY_HOST_DEVICE void operator()(std::size_t i, std::size_t j, fr::mdspan<int, 2> v) const { v(i, j + 1) = 1; }
};
struct needs_positive {
  FERRY_HOST_DEVICE void operator()(std::size_t i, const int* x, int* y) const {
    FERRY_ASSERT(x[i] > 0, "only positive values");
    y[i] = x[i];
  }
};

// The text of the device_error that the work causes.
template <class Work>
std::string device_error_of(const fr::stream& s, Work work) {
  try {
    work();
    s.synchronize();
  } catch (const fr::device_error& e) {
    BOOST_TEST(e.is_sticky());
    return e.what();
  }
  return "no error";
}

}  // namespace
}  // namespace contract_of_peers

BOOST_FIXTURE_TEST_SUITE(contract_of_peers, clean)

BOOST_TEST_DECORATOR(*needs_peers(0, 1) * two_devices)
BOOST_AUTO_TEST_CASE_TEMPLATE(kernels_on_memory_of_another_device, K, kinds) {
  for (const auto& [owner, user] : {std::pair(fr::device(0), fr::device(1)), std::pair(fr::device(1), fr::device(0))}) {
    const fr::stream s{user};
    const auto x = counted<int, 1, K::value>(fr::extents<1>(10000), owner);
    fr::basic_array<int, 1, K::value> y({10000}, 1, owner);
    fr::device_array<int> own({10000}, 2, user);
    fr::parallel_for(s, 10000, add_from{}, fr::in(x), own);  // reads
    fr::parallel_for(s, 10000, add_from{}, fr::in(own), y);  // and writes
    fr::fill(s, own, 0);
    const auto total = fr::parallel_reduce(s, 10000, value_of{}, fr::plus{}, fr::in(y));
    CHECK_EQUAL(fr::to_vector(y), counting<int>(10000, 3));
    BOOST_TEST(total.value() == 49995000 + 30000);
    const auto z = y.slice({0, 10000, -3});
    fr::basic_array<int, 1, K::value> part({z.size()}, owner);
    fr::copy(s, z, part);  // a strided copy on a third device
    BOOST_TEST((fr::to_vector(part) == fr::to_vector(z)));
    fr::fill(s, y, 7);
    BOOST_TEST(&last_user(y) == &s.timeline());
    CHECK_EQUAL(fr::to_vector(y), std::vector<int>(10000, 7));
  }
}

BOOST_AUTO_TEST_CASE(devices_take_turns_on_one_array, *needs_peers(0, 1) * two_devices) {
  const fr::stream s{fr::device(0)}, t{fr::device(1)};
  fr::device_array<int> a({1000}, 0, fr::device(0));
  fr::unified_array<int> u({1000}, 0, fr::device(1));
  for (int i = 1; i <= 50; ++i) {
    fr::parallel_for(i % 2 ? s : t, 1000, add{i}, a);
    fr::parallel_for(i % 3 ? s : t, 1000, add_from{}, fr::in(a), u);
  }
  int sum = 0, all = 0;
  for (int i = 1; i <= 50; ++i) sum += i, all += sum;
  CHECK_EQUAL(fr::to_vector(a), std::vector<int>(1000, sum));
  CHECK_EQUAL(u, std::vector<int>(1000, all));
}

BOOST_AUTO_TEST_CASE(where_peer_access_is_impossible_the_error_says_what_to_do) {
  for (const char* how : {"devices=2;peers=none", "devices=2;peers=none;schedule=random:1"}) {
    fr::simulation apart(how);
    apart.get().peers().kernels(fr::detail::peer_kernels::error);
    const fr::device d0(0), d1(1);
    const fr::stream s{d1};
    auto x = counted<int, 1, memory_kind::device>(fr::extents<1>(100), d0);
    fr::device_array<int> y({100}, 0, d1);
    BOOST_TEST(!d1.can_reach(d0));
    BOOST_TEST(d1.can_reach(d1));
    const auto before = s.timeline().last();
    const auto refused = [&](auto call) {
      check_error<fr::peer_access_error>(
          call, {"device 1 (simulated device 1)", "memory of device 0 (simulated device 0)", "ferry::clone_on",
                 "run the kernel on device 0", "unified"});
    };
    refused([&] { fr::parallel_for(s, 100, add_from{}, fr::in(x), y); });
    refused([&] { (void)fr::parallel_reduce(s, 100, value_of{}, fr::plus{}, fr::in(x)); });
    refused([&] {
      fr::submit(
          s, [](fr::native_stream, const int*) { BOOST_ERROR("called"); }, fr::in(x));
    });
    refused([&] { fr::pointer(x, s); });
    refused([&] { fr::fill(s, x, 1); });
    BOOST_TEST(s.timeline().last() == before);  // nothing was enqueued
    fr::copy(s, x, y);                          // copies use another route
    fr::parallel_for(s, 100, add{1}, y);
    CHECK_EQUAL(fr::to_vector(y), counting<int>(100, 1));
    const auto near = fr::clone_on(d1, x);  // the suggested remedies work
    fr::parallel_for(s, 100, add_from{}, fr::in(near), y);
    const auto shared = fr::to_unified(x);
    const auto pinned = fr::to_host(x);
    fr::parallel_for(s, 100, add_from{}, fr::in(shared), y);
    fr::parallel_for(s, 100, add_from{}, fr::in(pinned), y);
    for (int i = 0; i < 100; ++i) BOOST_TEST(fr::to_vector(y)[static_cast<std::size_t>(i)] == 4 * i + 1);
  }
}

BOOST_AUTO_TEST_CASE(a_grant_that_fails_is_asked_for_again) {
  const variable on("FERRY_PEER", "on");
  fr::simulation sim("devices=2;fail=peer@1");
  sim.get().peers().kernels(fr::detail::peer_kernels::error);
  const fr::stream s{fr::device(1)};
  const auto x = counted<int, 1, memory_kind::device>(fr::extents<1>(10), fr::device(0));
  fr::device_array<int> y({10}, 0, fr::device(1));
  check_error<fr::peer_access_error>([&] { fr::parallel_for(s, 10, add_from{}, fr::in(x), y); }, {"fail="});
  fr::parallel_for(s, 10, add_from{}, fr::in(x), y);
  CHECK_EQUAL(fr::to_vector(y), counting<int>(10));
}

BOOST_AUTO_TEST_CASE(an_index_out_of_bounds_names_array_and_index) {
  for (const char* how : {"devices=2", "devices=2;schedule=random:1"}) {
    const fr::simulation sim(how);
    const fr::stream s{fr::device(1)};
    fr::unified_array<int, 2> v({3, 5}, 0, fr::device(1));
    v.name("velocity");
    const std::string text = device_error_of(s, [&] { fr::parallel_for(s, v.extents(), one_too_far{}, v); });
    for (const char* part :
         {"device 1", "one_too_far", "index 5", "dimension 1", "'velocity'", "extent 5", "called with index (0, 4)"})
      BOOST_TEST(contains(text, part), "'" << part << "' is missing in: " << text);
    check_error<fr::device_error>([&] { fr::parallel_for(s, 10, add{1}, v.reshape(fr::extents<1>(15))); },
                                  {"velocity"});
    fr::unified_array<int> other({10}, 1);  // device 0 continues to work
    fr::parallel_for(10, add{1}, other);
    CHECK_EQUAL(other, std::vector<int>(10, 2));
  }
}

BOOST_AUTO_TEST_CASE(a_failed_assertion_is_a_device_error) {
  const fr::simulation sim("devices=1;schedule=random:2");
  const fr::stream s;
  const auto x = fr::device_array<int>::from({3, 2, 1, 0});
  fr::device_array<int> y({4}, 0);
  BOOST_TEST(device_error_of(s, [&] { fr::parallel_for(s, 3, needs_positive{}, fr::in(x), y); }) == "no error");
  const std::string text = device_error_of(s, [&] { fr::parallel_for(s, 4, needs_positive{}, fr::in(x), y); });
  for (const char* part : {"needs_positive", "x[i] > 0", "only positive values", "peers_test.cpp:", "assertion failed",
                           "called with index 3"})
    BOOST_TEST(contains(text, part), "'" << part << "' is missing in: " << text);
}

BOOST_AUTO_TEST_SUITE_END()
