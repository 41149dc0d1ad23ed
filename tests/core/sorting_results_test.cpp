// Different elements, searches and selections: compared with the standard library; destinations of results, and refused
// calls.
#include <complex>
#include <cstdlib>
#include <optional>
#include <string>

#include "ferry/core/graph.hpp"
#include "ferry/core/print.hpp"
#include "ferry/core/reduce.hpp"
#include "ferry/core/submit.hpp"
#include "sorting_checks.hpp"
#include "support/seeds.hpp"

namespace sorting_results {
namespace {

using namespace sorting_test;
using expressions_test::check_error;
using expressions_test::counted;
using expressions_test::mask_of;

struct on_two_devices {
  fr::simulation sim{"devices=2;check=races;schedule=random:7"};
};

// Kernels on memory of other devices run on copies in its scope.
struct staging_variable {
  staging_variable() {
    if (const char* text = std::getenv("FERRY_PEER_KERNELS")) before = text;
    ::setenv("FERRY_PEER_KERNELS", "stage", 1);
  }
  ~staging_variable() {
    before ? ::setenv("FERRY_PEER_KERNELS", before->c_str(), 1) : ::unsetenv("FERRY_PEER_KERNELS");
  }
  std::optional<std::string> before;
};

}  // namespace
}  // namespace sorting_results

BOOST_AUTO_TEST_SUITE(sorting_results)

BOOST_AUTO_TEST_CASE(random_elements_of_all_types) {
  for (std::size_t seed = 0; seed != support::seeds(60); ++seed) {
    fr::simulation sim("devices=2;check=races;schedule=random:" + std::to_string(seed));
    dice d(seed);
    check_unique<std::uint8_t>(d), check_unique<std::int16_t>(d), check_unique<fr::half>(d), check_unique<float>(d);
    check_unique<double>(d), check_unique<std::int64_t>(d);
    check_search<std::int8_t>(d), check_search<std::uint64_t>(d), check_search<float>(d), check_search<fr::bfloat16>(d);
    check_selection<std::uint8_t>(d), check_selection<fr::half>(d), check_selection<float>(d);
    check_selection<std::int64_t>(d);
  }
}

BOOST_FIXTURE_TEST_CASE(numbers_at_the_edges, on_two_devices) {
  constexpr float nan = std::numeric_limits<float>::quiet_NaN(), inf = std::numeric_limits<float>::infinity();
  const auto a = array_of<float>({0.f, -nan, -0.f, inf, -inf, nan, 1.f});
  CHECK_ELEMENTS(fr::argsort(a), {4, 0, 2, 6, 3, 1, 5});
  CHECK_ELEMENTS(fr::argsort(a, 0, fr::sort_order::descending), {3, 6, 0, 2, 4, 1, 5});
  const auto up = elements(fr::sort(a));
  const auto down = elements(fr::sort(a, 0, fr::sort_order::descending));
  const std::vector<float> want{-inf, -0.f, 0.f, 1.f, inf}, reversed(want.rbegin(), want.rend());
  BOOST_TEST(std::memcmp(up.data(), want.data(), sizeof(float) * 5) == 0);
  BOOST_TEST(std::memcmp(down.data(), reversed.data(), sizeof(float) * 5) == 0);
  BOOST_TEST((std::isnan(up[5]) && std::isnan(up[6]) && std::isnan(down[5]) && std::isnan(down[6])));
  BOOST_TEST(elements(fr::unique(a)).size() == 5u);
  CHECK_ELEMENTS(fr::searchsorted(fr::sort(a), array_of<float>({nan, -0.f, 0.5f})), {5, 1, 3});
  const auto [values, positions] = fr::top_k(a, 3);
  CHECK_ELEMENTS(values, {inf, 1.f, 0.f});
  CHECK_ELEMENTS(positions, {3, 6, 0});
}

BOOST_FIXTURE_TEST_CASE(expressions_reductions_and_kinds, on_two_devices) {
  const auto m = counted<int>(fr::extents<2>{3, 4});
  CHECK_ELEMENTS(fr::sort(m % 5, 0), {0, 0, 0, 1, 3, 1, 1, 2, 4, 4, 2, 3});
  fr::unified_array<int, 2> u({2, 2}, 1);
  static_assert(decltype(fr::sort(u))::kind == fr::memory_kind::unified);
  static_assert(decltype(fr::sort(m))::kind == fr::memory_kind::device);
  static_assert(decltype(fr::argsort(m))::kind == fr::memory_kind::device);
  static_assert(decltype(fr::sort(m + 1))::kind == fr::default_memory_kind<int>);
  CHECK_ELEMENTS(fr::sort(fr::sum(m, fr::axes{0}), 0, fr::sort_order::descending), {21, 18, 15, 12});
  CHECK_ELEMENTS(fr::searchsorted(array_of<int>({1, 3, 5}), array_of<double>({0.5, 3., 4.5, 9.})), {0, 1, 2, 3});
  CHECK_ELEMENTS(fr::searchsorted(array_of<int>({}), array_of<int>({3, 4})), {0, 0});
  using z = std::complex<float>;
  const auto selected = elements(fr::compress(mask_of({false, true, true}), array_of<z>({z(1), z(2, 1), z(3)})));
  BOOST_TEST((selected == std::vector<z>{z(2, 1), z(3)}));
}

BOOST_FIXTURE_TEST_CASE(streams_devices_and_graphs, on_two_devices) {
  fr::stream s(fr::device(1));
  fr::device_array<float> a({1000}, fr::device(1));
  fr::assign(s, a, fr::cast<float>((fr::index(0) * 7) % 1000));
  const auto sorted = fr::sort(a);
  BOOST_TEST(sorted.device().index() == 1);
  fr::sort_in_place(s, a, 0, fr::sort_order::descending);
  BOOST_TEST((elements(sorted) == elements(fr::lazy_arange(0.f, 1000.f))));
  BOOST_TEST((elements(a) == elements(999.f - fr::lazy_arange(0.f, 1000.f))));
  // A destination on another device.
  fr::device_array<std::int64_t> places({10}, -1, fr::device(0));
  const fr::scalar<std::uint64_t> n = fr::flatnonzero_into(places, a < 5.f);
  BOOST_TEST(std::uint64_t(n) == 5u);
  CHECK_ELEMENTS(places, {995, 996, 997, 998, 999, -1, -1, -1, -1, -1});
  fr::device_array<int> b({5}, fr::device(0));
  fr::stream t(fr::device(0));
  fr::graph g = fr::capture(t, [&] { fr::sort_in_place(t, b); });
  for (const int first : {3, 30}) {
    fr::assign(t, b, first - fr::cast<int>(fr::index(0)));
    g.launch(t);
    CHECK_ELEMENTS(b, {first - 4, first - 3, first - 2, first - 1, first});
  }
}

BOOST_AUTO_TEST_CASE(sources_are_read_between_what_other_streams_write) {
  for (std::size_t seed = 0; seed != support::seeds(25); ++seed) {
    fr::simulation sim("devices=1;check=races;schedule=random:" + std::to_string(seed));
    fr::stream s;
    fr::device_array<int> a({100}, -5);
    fr::assign(s, a, 99 - fr::cast<int>(fr::index(0)));
    const auto sorted = fr::sort(a);
    const auto places = fr::argsort(a);
    fr::device_array<int> large({100}, 0);
    const fr::scalar<std::uint64_t> n = fr::compress_into(large, a > 89, a);
    fr::assign(s, a, -7);
    BOOST_TEST((elements(sorted) == elements(fr::lazy_arange(0, 100))));
    BOOST_TEST((elements(places) == elements(99 - fr::lazy_arange(std::int64_t{0}, std::int64_t{100}))));
    BOOST_TEST(std::uint64_t(n) == 10u);
    CHECK_ELEMENTS(large.slice({0, 3}), {99, 98, 97});
  }
}

BOOST_FIXTURE_TEST_CASE(destinations_that_overlap_sources, on_two_devices) {
  auto a = counted<int>(fr::extents<1>{10});
  const fr::device_array<bool> all({8}, true);
  const fr::scalar<std::uint64_t> n = fr::compress_into(a.slice({2, 10}), all, a.slice({0, 8}));
  BOOST_TEST(std::uint64_t(n) == 8u);
  CHECK_ELEMENTS(a, {0, 1, 0, 1, 2, 3, 4, 5, 6, 7});
  const fr::scalar<std::uint64_t> k = fr::unique_into(a, a);
  BOOST_TEST(std::uint64_t(k) == 8u);
  CHECK_ELEMENTS(a, {0, 1, 2, 3, 4, 5, 6, 7, 6, 7});
  auto m = counted<int>(fr::extents<2>{3, 3});
  fr::sort_in_place(m.transpose(), 0, fr::sort_order::descending);
  CHECK_ELEMENTS(m, {2, 1, 0, 5, 4, 3, 8, 7, 6});
}

BOOST_FIXTURE_TEST_CASE(what_is_refused, on_two_devices) {
  const auto m = counted<int>(fr::extents<2>{3, 4});
  check_error<fr::invalid_argument>([&] { (void)fr::sort(m, 2); }, {"fr::sort", "axis 2", "2 dimensions"});
  check_error<fr::invalid_argument>([&] { (void)fr::argsort(m, -3); }, {"fr::argsort", "axis -3"});
  check_error<fr::invalid_argument>([&] { (void)fr::top_k(m, 5); }, {"fr::top_k", "5", "4"});
  check_error<fr::invalid_argument>([&] { (void)fr::partition(m, 3, 0); }, {"fr::partition", "element 3", "of 3"});
  check_error<fr::invalid_argument>([&] { (void)fr::compress(m > 3, m.transpose()); },
                                    {"fr::compress", "3 x 4", "4 x 3"});
  fr::device_array<int> one({1}, 1);
  fr::array_view<int, 1, fr::memory_kind::device> repeated(one.owner(), one.unsynchronized_data(), {3}, {0});
  check_error<fr::invalid_argument>([&] { fr::sort_in_place(repeated); }, {"fr::sort", "same element"});
  fr::device_array<int> freed({3}, 1);
  freed.free();
  check_error<fr::use_after_free>([&] { (void)fr::sort(freed); }, {"free"});
  check_error<fr::use_after_free>([&] { fr::sort_in_place(freed); }, {"free"});
  fr::unified_array<int> u({3}, 1);
  bool was_refused = false;
  fr::submit(
      fr::stream(),
      [&](fr::native_stream, const int*) {
        try {
          fr::sort_in_place(u);
        } catch (const fr::invalid_argument& e) {
          was_refused = std::string_view(e.what()).find("fr::sort") != std::string_view::npos;
        }
      },
      fr::in(u));
  BOOST_TEST(was_refused);
  fr::stream t(fr::device(0));
  check_error<fr::invalid_argument>([&] { (void)fr::capture(t, [&] { (void)fr::unique(u); }); }, {"captur"});
}

BOOST_AUTO_TEST_CASE(without_peers_sources_are_staged) {
  const staging_variable stage;
  fr::simulation apart("devices=2;check=races;peers=none");
  fr::device_array<int> far({100}, fr::device(1));
  far = fr::cast<int>(99 - fr::index(0));
  fr::device_array<std::int64_t> near({100}, -1, fr::device(0));
  const fr::scalar<std::uint64_t> n = fr::flatnonzero_into(near.slice({0, 50}), far < 10);
  BOOST_TEST(std::uint64_t(n) == 10u);
  BOOST_TEST(fr::value_at(near, 0) == 90);
  fr::device_array<float, 2> there({20, 30}, fr::device(1));
  there = fr::cast<float>((fr::index(0) * 7 + fr::index(1) * 11) % 17);
  fr::device_array<float> values({40}, -1.f, fr::device(0));
  const fr::scalar<std::uint64_t> different = fr::unique_into(values, there.transpose());
  BOOST_TEST(std::uint64_t(different) == 17u);
  BOOST_TEST(fr::value_at(values, 16) == 16.f);
}

BOOST_AUTO_TEST_SUITE_END()
