// The program's own vectors as unified arrays: where devices access them directly, and where they are pinned.
#include <algorithm>
#include <memory>
#include <numeric>
#include <ranges>
#include <type_traits>

#include "contract/fixture.hpp"

using namespace contract;

namespace contract_of_system_memory {
namespace {

struct add_one {
  FERRY_HOST_DEVICE void operator()(std::size_t i, int* p) const { p[i] += 1; }
};

// The same steps on any runtime.
void port_a_loop_of_a_vector() {
  std::vector<int> v(5000);
  std::iota(v.begin(), v.end(), 0);
  const fr::device last = fr::devices().back();
  fr::stream a, b(last);
  {
    auto u = fr::as_unified(v, {.stream = {}, .name = "v"});
    BOOST_TEST(static_cast<const void*>(u.unsynchronized_data()) == static_cast<const void*>(v.data()));
    fr::parallel_for(a, u.size(), add_one{}, u);
    fr::parallel_for(b, u.size(), add_one{}, u);
    BOOST_TEST(u[0] == 2);
    u[1] = 100;
    fr::parallel_for(a, u.size(), add_one{}, u);
    fr::device_array<int> copied({u.size()}, last);
    fr::copy(u, copied);
    fr::parallel_for(b, u.size(), add_one{}, u);
    BOOST_TEST(fr::to_vector(copied)[1] == 101);
  }  // waits
  BOOST_TEST((v[0] == 4 && v[1] == 102 && v[4999] == 5003));
  int four[4] = {1, 2, 3, 4};
  auto square = fr::as_unified(four, fr::extents<2>(2, 2));
  fr::parallel_for(4, add_one{}, square);
  square.give_back();
  BOOST_TEST((four[0] == 2 && four[3] == 5));
}

// CPU loops and standard algorithms wait once for the earlier work, as loops over arrays do.
void walk_over_a_vector() {
  std::vector<int> v(5000);
  std::iota(v.rbegin(), v.rend(), 0);
  auto u = fr::as_unified(v);
  using view = decltype(u);
  static_assert(std::ranges::contiguous_range<view> && std::ranges::contiguous_range<const view>);
  static_assert(std::is_const_v<std::remove_reference_t<decltype(*std::as_const(u).begin())>>);
  fr::parallel_for(u.size(), add_one{}, u);
  std::sort(u.begin(), u.end());
  BOOST_TEST((u[0] == 1 && u[4999] == 5000));
  fr::parallel_for(u.size(), add_one{}, u);
  for (int& x : u) x += 10;
  long sum = 0;
  for (const int x : std::as_const(u)) sum += x;
  BOOST_TEST(sum == 5000L * 5001 / 2 + 11 * 5000L);
  const std::vector<int> constant(100, 3);
  for (const int& x : fr::as_unified(constant)) BOOST_TEST(x == 3);
  for (int& x : fr::as_unified(v)) x = 1;  // a temporary that ends with the loop
  u.give_back();
  BOOST_TEST(std::ranges::count(v, 1) == 5000);
}

}  // namespace
}  // namespace contract_of_system_memory

BOOST_FIXTURE_TEST_SUITE(contract_of_system_memory, clean)

BOOST_AUTO_TEST_CASE(vectors_are_used_where_they_are) { port_a_loop_of_a_vector(); }

BOOST_AUTO_TEST_CASE(devices_that_read_pageable_memory_and_others) {
  for (const char* how : {"pageable_access=on", "pageable_access=off"})
    for (unsigned seed = 0; seed < 20; ++seed) {
      fr::simulation sim("devices=2;schedule=random:" + std::to_string(seed) + ";" + how);
      BOOST_TEST(sim.get().reaches_pageable() == contains(how, "on"));
      port_a_loop_of_a_vector();
    }
}

BOOST_AUTO_TEST_CASE(loops_and_algorithms_of_the_cpu) { walk_over_a_vector(); }

BOOST_AUTO_TEST_CASE(loops_and_algorithms_with_devices_of_both_sorts) {
  for (const char* how : {"pageable_access=on", "pageable_access=off"}) {
    const fr::simulation sim(std::string("devices=2;schedule=random:3;") + how);
    walk_over_a_vector();
  }
}

BOOST_AUTO_TEST_CASE(memory_is_pinned_only_where_it_must_be) {
  std::vector<int> v(10000);
  for (const bool reached : {true, false}) {
    fr::simulation sim(reached ? "pageable_access=on" : "pageable_access=off");
    const auto u = fr::as_unified(v);
    BOOST_TEST((sim.get().backend().attributes(v.data()).is_known == !reached));
    BOOST_TEST((u.owner().get().kind == (reached ? memory_kind::unified : memory_kind::host)));
  }
}

BOOST_AUTO_TEST_CASE(arrays_of_ferry_and_nothing) {
  fr::unified_array<int> a({100}, 7);
  a.name("mine");
  check_error<fr::invalid_argument>([&] { fr::as_unified(a.unsynchronized_data(), fr::extents<1>(100)); },
                                    {"array 'mine'", "use the array itself"});
  BOOST_TEST(a[99] == 7);
  std::vector<int> none;
  const auto empty = fr::as_unified(none);
  BOOST_TEST(empty.size() == 0u);
  const fr::device_array<int> d({10}, 1);
  check_error<fr::invalid_argument>(
      [&] { fr::as_unified(const_cast<int*>(d.unsynchronized_data()), fr::extents<1>(10)); }, {"device memory"});
}

BOOST_AUTO_TEST_SUITE_END()
