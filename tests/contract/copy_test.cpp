// as: host
// Copies between all memory kinds and all devices, contiguous and strided.
#include "contract/fixture.hpp"

#include <algorithm>
#include <array>

using namespace contract;

namespace contract_of_copies {
namespace {

template <class First, class Second>
struct pair_of_kinds {
  static constexpr memory_kind from = First::value, to = Second::value;
};
using device_kind = kind<memory_kind::device>;
using unified_kind = kind<memory_kind::unified>;
using host_kind = kind<memory_kind::host>;
using pairs = std::tuple<pair_of_kinds<device_kind, device_kind>, pair_of_kinds<device_kind, unified_kind>,
                         pair_of_kinds<device_kind, host_kind>, pair_of_kinds<unified_kind, device_kind>,
                         pair_of_kinds<unified_kind, unified_kind>, pair_of_kinds<unified_kind, host_kind>,
                         pair_of_kinds<host_kind, device_kind>, pair_of_kinds<host_kind, unified_kind>,
                         pair_of_kinds<host_kind, host_kind>>;

template <class Pair>
struct sides {
  fr::basic_array<std::int16_t, 2, Pair::from> from;
  fr::basic_array<std::int16_t, 2, Pair::to> to;
  sides(fr::device a, fr::device b)
      : from(counted<std::int16_t, 2, Pair::from>({13, 11}, a, 1000)),
        to({13, 11}, std::int16_t(-1), b) {}
};

// Copies a part of `from` to an equal part of `to`. Checks that part, and that the rest of `to` is unchanged.
template <class Pair>
void copy_part(fr::device a, fr::device b, std::initializer_list<fr::slice> from, std::initializer_list<fr::slice> to) {
  sides<Pair> s(a, b);
  const auto source = std::as_const(s.from).slice(from);
  auto destination = s.to.slice(to);
  fr::copy(source, destination);
  const auto expected = fr::to_vector(source);
  CHECK_EQUAL(fr::to_vector(destination), expected);
  CHECK_EQUAL(fr::to_vector(s.from), counting<std::int16_t>(143, 1000));
  const auto all = fr::to_vector(s.to);
  BOOST_TEST(static_cast<std::size_t>(std::count(all.begin(), all.end(), -1)) == 143 - expected.size());
}

template <class Pair>
void copy_between(fr::device a, fr::device b) {
  BOOST_TEST_CONTEXT("from device " << a.index() << " to device " << b.index()) {
    copy_part<Pair>(a, b, {{}}, {{}});                                      // contiguous
    copy_part<Pair>(a, b, {{3, 8}}, {{0, 5}});                              // contiguous, odd offsets
    copy_part<Pair>(a, b, {{2, 9}, {1, 8}}, {{3, 10}, {4, 11}});            // rows with a pitch
    copy_part<Pair>(a, b, {{2, 3}}, {{0, 1}, {0, 11, -1}});                 // contiguous to strided
    copy_part<Pair>(a, b, {{2, 3}, {0, 11, -1}}, {{4, 5}});                 // strided to contiguous
    copy_part<Pair>(a, b, {{0, 13, -6}, {0, 11, 5}}, {{1, 4}, {2, 9, 3}});  // strided to strided
  }
}

// All kinds of copies between two arrays of a device pair that need no memory kind in the type.
void copy_everything(fr::device a, fr::device b) {
  copy_between<pair_of_kinds<device_kind, device_kind>>(a, b);
  copy_between<pair_of_kinds<unified_kind, device_kind>>(a, b);
  copy_between<pair_of_kinds<device_kind, host_kind>>(a, b);
}

struct rgb {  // 3 bytes: no word size fits
  std::uint8_t r, g, b;
  bool operator==(const rgb&) const = default;
  friend std::ostream& operator<<(std::ostream& out, const rgb& c) { return out << +c.r << ',' << +c.g << ',' << +c.b; }
};

}  // namespace
}  // namespace contract_of_copies

BOOST_FIXTURE_TEST_SUITE(contract_of_copies, clean)

BOOST_AUTO_TEST_CASE_TEMPLATE(copies_on_one_device, Pair, pairs) { copy_between<Pair>(fr::device(0), fr::device(0)); }

BOOST_TEST_DECORATOR(*needs_devices(2) * two_devices)
BOOST_AUTO_TEST_CASE_TEMPLATE(copies_between_all_devices, Pair, pairs) {
  for (const fr::device a : fr::devices().first(2))
    for (const fr::device b : fr::devices())
      if (a != b) copy_between<Pair>(a, b);
}

BOOST_AUTO_TEST_CASE(copies_between_devices_that_are_no_peers) {
  for (const char* how : {"devices=2;peers=none", "devices=2;peers=none;schedule=random:5"}) {
    const fr::simulation apart(how);
    copy_everything(fr::device(0), fr::device(1));
    copy_everything(fr::device(1), fr::device(0));
  }
}

BOOST_AUTO_TEST_CASE(a_copy_between_no_peers_is_ordered_on_its_stream) {
  const fr::simulation apart("devices=2;peers=none;schedule=random:3");
  for (const int given : {0, 1}) {
    const fr::stream s{fr::device(given)};
    const auto a = counted<int, 2, memory_kind::device>(fr::extents<2>(20, 30), fr::device(0));
    fr::device_array<int, 2> b({30, 20}, fr::device(1));
    fr::copy(s, a.transpose(), b.slice({{0, 30, -1}}));
    s.synchronize();  // the given stream waits for the internal ones, so the bytes have arrived
    std::vector<int> expected(600);
    for (std::size_t i = 0; i < 600; ++i) expected[i] = static_cast<int>(i % 20 * 30 + 29 - i / 20);
    CHECK_EQUAL(std::span<const int>(b.unsynchronized_data(), 600), expected);
    CHECK_EQUAL(fr::to_vector(b), expected);
  }
}

BOOST_AUTO_TEST_CASE(copies_on_a_given_stream, *needs_devices(2) * two_devices) {
  for (const fr::device d : fr::devices()) {
    const fr::stream s{d};
    const auto a = counted<int, 1, memory_kind::device>(fr::extents<1>(999), fr::device(0));
    fr::device_array<int> b({999}, fr::device(1));
    fr::copy(s, a, b);
    BOOST_TEST(&last_user(b) == &s.timeline());
    CHECK_EQUAL(fr::to_vector(b), counting<int>(999));
  }
  const auto a = counted<int, 1, memory_kind::device>(fr::extents<1>(9), fr::device(0));
  fr::device_array<int> b({9}, fr::device(1));
  fr::copy(a, b);  // without a stream: the default stream of the destination's device
  BOOST_TEST(&last_user(b) == &fr::default_stream(fr::device(1)).timeline());
}

BOOST_AUTO_TEST_CASE_TEMPLATE(copies_of_overlapping_parts, K, kinds) {
  constexpr memory_kind k = K::value;
  const auto expect = [](auto& a, const std::vector<int>& expected) { CHECK_EQUAL(fr::to_vector(a), expected); };
  for (const auto& [from, to] : {std::pair<std::size_t, std::size_t>{0, 7}, {7, 0}, {0, 0}}) {
    auto a = counted<int, 1, k>(fr::extents<1>(1000));
    fr::copy(a.slice({from, from + 900}), a.slice({to, to + 900}));
    std::vector<int> expected = counting<int>(1000);
    for (std::size_t i = 0; i < 900; ++i) expected[to + i] = static_cast<int>(from + i);
    expect(a, expected);
  }
  auto reversed = counted<int, 1, k>(fr::extents<1>(101));
  fr::copy(reversed.slice({0, 101, -1}), reversed);
  std::vector<int> expected = counting<int>(101);
  std::reverse(expected.begin(), expected.end());
  expect(reversed, expected);

  auto square = counted<int, 2, k>(fr::extents<2>(9, 9));
  fr::copy(square.transpose(), square);
  expected.assign(81, 0);
  for (std::size_t i = 0; i < 81; ++i) expected[i] = static_cast<int>(i % 9 * 9 + i / 9);
  expect(square, expected);

  auto pairs_of = counted<int, 1, k>(fr::extents<1>(10));  // interleaved, and no byte in common
  fr::copy(pairs_of.slice({0, 10, 2}), pairs_of.slice({1, 10, 2}));
  expect(pairs_of, {0, 0, 2, 2, 4, 4, 6, 6, 8, 8});
}

BOOST_AUTO_TEST_CASE_TEMPLATE(odd_sizes_and_offsets, K, kinds) {
  for (const std::size_t n : {1u, 3u, 127u, 1025u, 100003u}) {
    const auto v = counting<std::uint8_t>(n + 5);
    const auto a = fr::basic_array<std::uint8_t, 1, K::value>::from(v);
    fr::basic_array<std::uint8_t, 1, K::value> b({n + 3}, 0xEE);
    fr::copy(a.slice({5, n + 5}), b.slice({1, n + 1}));
    std::vector<std::uint8_t> expected(n + 3, 0xEE);
    std::copy(v.begin() + 5, v.end(), expected.begin() + 1);
    BOOST_TEST((fr::to_vector(b) == expected));
  }
  std::vector<rgb> colours(35);
  for (std::size_t i = 0; i < 35; ++i) colours[i] = {std::uint8_t(i), std::uint8_t(2 * i), std::uint8_t(7 * i)};
  const auto image = fr::basic_array<rgb, 2, K::value>::from(std::span<const rgb>(colours), {5, 7});
  const auto part = fr::to_vector(image.slice({{1, 5, 2}, {0, 7, -2}}));
  std::vector<rgb> expected;
  for (const std::size_t i : {1, 3})
    for (const std::size_t j : {6, 4, 2, 0}) expected.push_back(colours[7 * i + j]);
  CHECK_EQUAL(part, expected);
}

BOOST_AUTO_TEST_CASE_TEMPLATE(copies_of_memory_of_the_cpu, K, kinds) {
  auto a = fr::zeros<int, 2, K::value>({4, 6}, fr::devices().back());
  std::vector<int> v = counting<int>(24);
  fr::copy(std::span<const int>(v), a);
  v.assign(24, -1);  // copy() has read it before it returned
  CHECK_EQUAL(fr::to_vector(a), counting<int>(24));
  std::vector<int> column{7, 8, 9, 10};
  fr::copy(column, a.slice({{0, 4}, {5, 6}}));
  fr::copy(a.slice({{0, 4}, {5, 6}}), std::span<int>(v).first(4));
  CHECK_EQUAL(v, (std::vector<int>{7,  8,  9,  10, -1, -1, -1, -1, -1, -1, -1, -1,
                                   -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1}));
  fr::copy(column, a.slice({{0, 4, -1}, {0, 1}}));
  CHECK_EQUAL(fr::to_vector(a.slice({{0, 4}, {0, 1}})), (std::vector<int>{10, 9, 8, 7}));
  CHECK_EQUAL(fr::to_vector(a.slice({{1, 2}, {0, 6, 5}})), (std::vector<int>{9, 8}));
}

BOOST_AUTO_TEST_CASE_TEMPLATE(copies_in_other_kinds_and_on_other_devices, K, kinds) {
  const fr::device last = fr::devices().back(), first = fr::devices().front();
  const auto a = counted<int, 2, K::value>(fr::extents<2>(5, 7), last);
  const auto there = fr::clone_on(first, a);
  static_assert(std::is_same_v<decltype(there), const fr::basic_array<int, 2, K::value>>);
  BOOST_TEST((there.device() == first));
  const auto u = fr::to_unified(a.transpose());
  const auto d = fr::to_device(a);
  const auto h = fr::to_host(a);
  static_assert(std::is_same_v<decltype(u), const fr::unified_array<int, 2>>);
  static_assert(std::is_same_v<decltype(d), const fr::device_array<int, 2>>);
  static_assert(std::is_same_v<decltype(h), const fr::host_array<int, 2>>);
  BOOST_TEST((u.device() == last && d.device() == last && h.device() == last));
  for (const auto& v : {fr::to_vector(there), fr::to_vector(d), fr::to_vector(h)}) CHECK_EQUAL(v, counting<int>(35));
  BOOST_TEST((u.extents() == fr::extents<2>(7, 5)));
  for (std::size_t i = 0; i < 7; ++i)
    for (std::size_t j = 0; j < 5; ++j) BOOST_TEST(u(i, j) == static_cast<int>(7 * j + i));
}

BOOST_AUTO_TEST_SUITE_END()
