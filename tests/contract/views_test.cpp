// as: host
// Views of arrays, CPU access, names, and text output.
#include "contract/fixture.hpp"

#include <algorithm>
#include <sstream>

using namespace contract;

namespace contract_of_views {
namespace {

// The element indices of a slice, by its definition.
std::vector<std::size_t> indices(const fr::slice& s, std::size_t extent) {
  const auto end = std::min(static_cast<std::size_t>(s.end), extent);
  std::vector<std::size_t> v;
  for (auto i = static_cast<std::size_t>(s.begin); i < end; ++i) v.push_back(i);
  if (s.step < 0) std::reverse(v.begin(), v.end());
  std::vector<std::size_t> every;
  const auto step = static_cast<std::size_t>(s.step < 0 ? -s.step : s.step);
  for (std::size_t i = 0; i < v.size(); i += step) every.push_back(v[i]);
  return every;
}

const std::vector<fr::slice> some_slices{{},         {2},        {0, 5, 2},  {1, 6, 3},   {3, 3},      {0, 7, -1},
                                         {1, 6, -2}, {2, 7, -4}, {6, 7, -1}, {0, 7, 100}, {0, 7, -100}};

std::string text_of(const auto& a) {
  std::ostringstream out;
  out << a;
  return out.str();
}

}  // namespace
}  // namespace contract_of_views

BOOST_FIXTURE_TEST_SUITE(contract_of_views, clean)

BOOST_AUTO_TEST_CASE_TEMPLATE(slices_mean_what_they_say, K, kinds) {
  const auto a = counted<int, 1, K::value>(fr::extents<1>(7));
  for (const fr::slice& s : some_slices) {
    const auto expected = indices(s, 7);
    const auto part = a.slice(s);
    BOOST_TEST_CONTEXT("slice " << s.begin << ':' << s.end << ':' << s.step) {
      BOOST_TEST(part.size() == expected.size());
      CHECK_EQUAL(fr::to_vector(part), std::vector<int>(expected.begin(), expected.end()));
    }
  }
}

BOOST_AUTO_TEST_CASE_TEMPLATE(slices_of_two_dimensions_and_of_slices, K, kinds) {
  const auto a = counted<int, 2, K::value>(fr::extents<2>(7, 9));
  for (const fr::slice& s : {fr::slice{1, 6, 2}, fr::slice{0, 7, -3}}) {
    const auto part = a.slice({s, {2, 8, -2}});
    std::vector<int> expected;
    for (const std::size_t i : indices(s, 7))
      for (const std::size_t j : indices({2, 8, -2}, 9)) expected.push_back(static_cast<int>(9 * i + j));
    CHECK_EQUAL(fr::to_vector(part), expected);
    // A slice of a slice: the last row, with the columns in their original order.
    const auto row = part.slice({{part.extent(0) - 1, part.extent(0)}, {0, 3, -1}});
    CHECK_EQUAL(fr::to_vector(row),
                (std::vector<int>{expected.rbegin()[0], expected.rbegin()[1], expected.rbegin()[2]}));
  }
  CHECK_EQUAL(fr::to_vector(a.slice({{3, 4}})), counting<int>(9, 27));  // omitted dimensions are taken whole
}

// Integers of any types, mixed.
BOOST_AUTO_TEST_CASE_TEMPLATE(slices_of_signed_and_unsigned_integers, K, kinds) {
  auto a = counted<int, 2, K::value>(fr::extents<2>(7, 9));
  const int one = 1;
  const long three = 3;
  const std::size_t seven = a.extent(0);
  const unsigned two = 2;
  const auto part = a.slice({{one, seven - 4}, {two, three}});
  CHECK_EQUAL(fr::to_vector(part), (std::vector<int>{11, 20}));
  CHECK_EQUAL(fr::to_vector(a.slice({{0, fr::slice{}.end, -3}, {two}}).slice({{one, 2}, {0, 1}})),
              std::vector<int>{29});
  CHECK_EQUAL(fr::to_vector(a.slice({seven - 1, 7})), counting<int>(9, 54));
  BOOST_TEST((a.slice({{one}}).extents() == fr::extents<2>(6, 9)));
}

BOOST_AUTO_TEST_CASE_TEMPLATE(reshape_and_transpose, K, kinds) {
  auto a = counted<int, 3, K::value>(fr::extents<3>(2, 3, 4));
  const auto flat = a.reshape(fr::extents<2>(6, 4));
  BOOST_TEST(flat.unsynchronized_data() == a.unsynchronized_data());
  CHECK_EQUAL(fr::to_vector(flat), counting<int>(24));
  auto t = a.transpose();
  BOOST_TEST((t.extents() == fr::extents<3>(4, 3, 2)));
  BOOST_TEST(!t.is_contiguous());
  std::vector<int> expected;
  for (int k = 0; k < 4; ++k)
    for (int j = 0; j < 3; ++j)
      for (int i = 0; i < 2; ++i) expected.push_back(12 * i + 4 * j + k);
  CHECK_EQUAL(fr::to_vector(t), expected);
  CHECK_EQUAL(fr::to_vector(t.transpose()), counting<int>(24));
  fr::fill(t.slice({{3, 4}}), 100);  // written through the view: the last index is 3
  const auto v = fr::to_vector(a);
  for (std::size_t i = 0; i < v.size(); ++i) BOOST_TEST(v[i] == (i % 4 == 3 ? 100 : static_cast<int>(i)));
  BOOST_TEST((a.reshape(fr::extents<6>(1, 2, 3, 2, 2, 1)).size() == 24u));
}

BOOST_AUTO_TEST_CASE_TEMPLATE(views_are_cloned_into_arrays_of_their_own, K, kinds) {
  const fr::device last = fr::devices().back();
  const auto a = counted<int, 2, K::value>(fr::extents<2>(3, 4), last);
  const auto column = a.slice({fr::all_of, {1, 2}});
  fr::basic_array<int, 2, K::value> copied = column.clone();  // of a const view, without const
  BOOST_TEST(
      (copied.is_contiguous() && copied.device() == last && copied.owner().unchecked() != a.owner().unchecked()));
  CHECK_EQUAL(fr::to_vector(copied), (std::vector<int>{1, 5, 9}));
  fr::fill(copied, 0);
  CHECK_EQUAL(fr::to_vector(a), counting<int>(12));
  auto b = counted<int, 1, K::value>(fr::extents<1>(6));
  CHECK_EQUAL(fr::to_vector(b.slice({0, 6, -2}).clone()), (std::vector<int>{5, 3, 1}));
  CHECK_EQUAL(fr::to_vector(a.transpose().clone().reshape(fr::extents<1>(12))), fr::to_vector(a.transpose()));
  BOOST_TEST(b.slice({2, 2}).clone().empty());
  BOOST_TEST((fr::array_view<const int, 3, K::value>().clone().empty()));
}

BOOST_AUTO_TEST_CASE_TEMPLATE(views_report_their_place, K, kinds) {
  const fr::basic_array<double, 2, K::value> a({4, 6}, fr::devices().back());
  const auto down = a.slice({{0, 4, -1}, {1, 5, 2}});
  const auto* first = reinterpret_cast<const std::byte*>(a.unsynchronized_data());
  BOOST_TEST((down.bytes().begin == first + 1 * 8));           // element (0, 1)
  BOOST_TEST((down.bytes().end == first + (18 + 3 + 1) * 8));  // after element (3, 3)
  BOOST_TEST((down.device() == fr::devices().back()));
  BOOST_TEST((down.strides() == fr::strides<2>{-6, 2}));
  BOOST_TEST(a.slice({{1, 3}}).is_contiguous());
  BOOST_TEST(!down.is_contiguous());
  BOOST_TEST(a.slice({{1, 2}, {0, 6}}).is_contiguous());
  BOOST_TEST(a.slice({{1, 4, 2}, {2, 2}}).is_contiguous());  // no elements
}

BOOST_AUTO_TEST_CASE_TEMPLATE(the_cpu_reads_and_writes_elements, K, host_kinds) {
  constexpr memory_kind k = K::value;
  fr::basic_array<int, 1, k> u({7}, 1);
  u[3] = 5;
  u(4) = 6;
  u.at(5) = 7;
  BOOST_TEST((std::as_const(u)[3] + std::as_const(u)(4) + std::as_const(u).at(5) + u[0] == 19));
  for (int& e : u) e *= 2;
  BOOST_TEST(std::accumulate(u.cbegin(), u.cend(), 0) == 2 * (4 * 1 + 5 + 6 + 7));
  fr::fill(u, 9);  // a new write ends the CPU's earlier permission
  BOOST_TEST(u[6] == 9);
  BOOST_TEST(*std::max_element(std::as_const(u).begin(), std::as_const(u).end()) == 9);

  auto m = counted<int, 2, k>(fr::extents<2>(3, 5));
  BOOST_TEST(m(2, 4) == 14);
  m.at(1, 1) = -6;
  auto h = fr::host(m);
  BOOST_TEST(h(1, 1) == -6);
  h(1, 1) = 6;
  CHECK_EQUAL(fr::to_vector(m), counting<int>(15));
  auto columns = m.slice({{0, 3}, {4, 5}});
  auto strided = fr::host(columns);
  strided(2, 0) = 100;
  BOOST_TEST(std::as_const(m)(2, 4) == 100);
  auto down = m.slice({{0, 3, -1}});
  BOOST_TEST(down(0, 0) == 10);
  const auto span = fr::host_span(m);
  std::sort(span.begin(), span.end(), std::greater<>());
  BOOST_TEST(fr::const_host_span(m).front() == 100);
  static_assert(std::is_same_v<decltype(fr::host_span(std::as_const(m))), fr::host_elements<const int>>);
  static_assert(std::is_base_of_v<std::span<const int>, fr::host_elements<const int>>);
  static_assert(std::is_same_v<decltype(fr::host(std::as_const(m))), fr::host_view<const int, 2>>);
  fr::basic_array<double, 0, k> one(fr::extents<0>(), 2.5);
  BOOST_TEST(one() == 2.5);
  one() = 3;
  BOOST_TEST(fr::to_vector(one).at(0) == 3);
}

BOOST_AUTO_TEST_CASE_TEMPLATE(at_checks_indices_and_begin_needs_neighbours, K, host_kinds) {
  auto u = counted<int, 2, K::value>(fr::extents<2>(3, 4));
  u.name("rates");
  check_error<fr::invalid_argument>([&] { u.at(1, 4) = 0; }, {"index 4", "dimension 1", "'rates'", "extent 4"});
  check_error<fr::invalid_argument>([&] { (void)std::as_const(u).at(-1, 0); }, {"index -1", "dimension 0", "extent 3"});
  check_error<fr::invalid_argument>([&] { (void)std::as_const(u).at(3, 0); },
                                    {"index 3", "dimension 0", "'rates'", "extent 3", "views_test.cpp"});
  check_error<fr::invalid_argument>([&] { (void)fr::basic_array<int, 1, K::value>().at(0); }, {"index 0", "extent 0"});
  // A one-dimensional array also has operator[].
  auto one = counted<int, 1, K::value>(fr::extents<1>(10));
  one.name("one");
  if constexpr (FERRY_CHECK_INDICES) {
    check_error<fr::invalid_argument>([&] { u(1, 4) = 0; }, {"index 4", "dimension 1", "'rates'", "extent 4"});
    check_error<fr::invalid_argument>([&] { (void)std::as_const(u)(-1, 0); }, {"index -1", "dimension 0", "extent 3"});
    check_error<fr::invalid_argument>([&] { (void)std::as_const(u)(3, 0); },
                                      {"index 3", "dimension 0", "'rates'", "extent 3"});
    check_error<fr::invalid_argument>([&] { one[10] = 0; }, {"index 10", "dimension 0", "'one'", "extent 10"});
    check_error<fr::invalid_argument>([&] { (void)std::as_const(one)[10]; }, {"index 10", "'one'", "extent 10"});
    check_error<fr::invalid_argument>([&] { one[-1] = 0; }, {"index -1", "'one'", "extent 10"});
    check_error<fr::invalid_argument>([&] { one.slice({0, 5})[5] = 0; }, {"index 5", "'one'", "extent 5"});
    check_error<fr::invalid_argument>([&] { (void)fr::basic_array<int, 1, K::value>()[0]; }, {"index 0", "extent 0"});
  }
  check_error<fr::invalid_argument>([&] { (void)fr::basic_array<int, 1, K::value>().front(); },
                                    {"index 0", "extent 0"});
  check_error<fr::invalid_argument>([&] { (void)fr::basic_array<int, 1, K::value>().back(); },
                                    {"index -1", "extent 0", "views_test.cpp"});
  BOOST_TEST((std::as_const(one).front() == 0 && std::as_const(one).back() == 9 && one.slice({2, 5}).back() == 4));
  one.front() = -1, one.back() = 99;
  BOOST_TEST((one[0] == -1 && one[9] == 99));
  one.front() = 0;
  one[9] = 90;
  BOOST_TEST((std::as_const(one)[9] == 90 && one[0] == 0));
  auto t = u.transpose();
  check_error<fr::invalid_argument>([&] { (void)t.begin(); }, {"contiguous", "4 x 3", "ferry::host"});
  BOOST_TEST(t(3, 2) == 11);
  const auto h = fr::host(t);
  BOOST_TEST((h(3, 2) == 11 && h.extent(0) == 4 && h.stride(0) == 1 && h.data() == u.unsynchronized_data()));
}

BOOST_AUTO_TEST_CASE(device_arrays_are_no_ranges) {
  static_assert(!std::ranges::range<fr::device_array<int>>);
  static_assert(!std::is_convertible_v<fr::device_array<int>&, std::span<const int>>);
  static_assert(std::ranges::contiguous_range<fr::unified_array<int>>);
  static_assert(std::ranges::contiguous_range<const fr::host_array<int, 2>>);
  static_assert(std::is_same_v<std::ranges::range_reference_t<const fr::unified_array<int>>, const int&>);
  BOOST_TEST(true);
}

BOOST_AUTO_TEST_CASE_TEMPLATE(names, K, kinds) {
  using array = fr::basic_array<int, 1, K::value>;
  auto a = array({5}, 1).name("counts");
  BOOST_TEST(a.name() == "counts");
  BOOST_TEST(a.slice({1, 2}).name() == "counts");
  BOOST_TEST(array({5}).name() == "");  // a new array that reuses named bytes has no name
  BOOST_TEST(a.clone().name() == "");
  BOOST_TEST(fr::clone_on(fr::devices().back(), a).name() == "counts");
  BOOST_TEST(array().name("of nothing").name() == "");
  const auto dropped = std::move(a);
  BOOST_TEST(dropped.name() == "counts");
}

BOOST_AUTO_TEST_CASE(arrays_as_text) {
  const auto last = std::to_string(fr::devices().size() - 1);
  auto a = counted<int, 1, memory_kind::device>(fr::extents<1>(8), fr::devices().back());
  BOOST_TEST(text_of(a) == "device array of 8 int on device " + last + "\n[0, 1, 2, 3, 4, 5, 6, 7]");
  a.name("few");
  a.resize({9});
  fr::fill(a.slice({8, 9}), 8);
  BOOST_TEST(text_of(a) == "device array of 9 int on device " + last + ", named 'few'\n[0, 1, 2, ..., 6, 7, 8]");
  const auto m = counted<std::uint8_t, 2, memory_kind::unified>(fr::extents<2>(2, 3));
  BOOST_TEST(contains(text_of(m), "unified array of 2 x 3 unsigned char on device 0\n[[0, 1, 2],\n [3, 4, 5]]"));
  const auto rows = counted<int, 2, memory_kind::host>(fr::extents<2>(100, 1));
  BOOST_TEST(contains(text_of(rows), "\n[[0],\n [1],\n [2],\n ...,\n [97],\n [98],\n [99]]"));
  BOOST_TEST(contains(text_of(a.slice({0, 3, -1})), "\n[2, 1, 0]"));
  BOOST_TEST(text_of(fr::device_array<int, 2>()) == "device array of 0 x 0 int, empty\n[]");
  BOOST_TEST(contains(text_of(fr::host_array<int, 0>(fr::extents<0>(), 7)), "host array of scalar int on device 0\n7"));
  struct opaque {
    int a;
  };
  BOOST_TEST(contains(text_of(fr::unified_array<opaque>({2}, opaque{1})), "\n[?, ?]"));
}

BOOST_AUTO_TEST_CASE(arrays_report_the_stream_that_used_them_last) {
  const fr::stream s{fr::devices().front()}, t{fr::devices().back()};
  const auto is = [](const std::optional<fr::stream_ref>& found, const fr::stream& expected) {
    return found && *found == expected;
  };
  fr::unified_array<int> a({100}), b({100});
  BOOST_TEST((!a.last_stream() && !fr::unified_array<int>().last_stream()));
  fr::fill(s, a, 1);
  BOOST_TEST(is(a.last_stream(), s));
  BOOST_TEST(a[5] == 1);  // CPU accesses are not listed
  BOOST_TEST(is(a.last_stream(), s));
  auto left = a.slice({0, 50}), right = a.slice({50, 100});
  fr::copy(t, std::as_const(left), b.slice({0, 50}));  // a reader
  BOOST_TEST((is(left.last_stream(), t) && is(a.last_stream(), t) && is(b.last_stream(), t)));
  BOOST_TEST((!right.last_stream() || is(right.last_stream(), s)));
  BOOST_TEST(!b.slice({50, 100}).last_stream());
  fr::pointer(right, s);
  BOOST_TEST((is(right.last_stream(), s) && is(a.last_stream(), s) && is(left.last_stream(), t)));
  fr::fill(t, right, 2);
  for (std::size_t i = 0; i < 80; ++i)
    fr::fill(i % 2 ? s : t, a.slice({i, i + 1}), 3);  // more uses than the history stores separately
  BOOST_TEST(is(a.last_stream(), s));
  fr::fill(t, a.slice({3, 4}), 4);
  BOOST_TEST(is(a.last_stream(), t));
  const int* bytes = a.unsynchronized_data();
  a = {};
  std::vector<fr::unified_array<int>> next;  // uses of these bytes by another array are not listed
  do {
    next.emplace_back(fr::extents<1>{100});
    BOOST_TEST(!next.back().last_stream());
  } while (next.back().unsynchronized_data() != bytes && next.size() < 1000);
  b.free();
  BOOST_CHECK_THROW((void)b.last_stream(), fr::use_after_free);
}

BOOST_AUTO_TEST_CASE(arrays_explained) {
  const fr::device d = fr::devices().back();
  const fr::stream s{d};
  auto a = fr::device_array<float>({100}, d).name("field");
  BOOST_TEST(
      contains(fr::explain(a), "device array of 100 float on device " + std::to_string(d.index()) + ", named 'field'"));
  BOOST_TEST(contains(fr::explain(a), "bytes 0 to 400 of a block of " + std::to_string(a.owner().get().bytes)));
  BOOST_TEST(contains(fr::explain(a), "device memory of device " + std::to_string(d.index()) + "\n"));
  fr::fill(s, a.slice({25, 50}), 1);
  const std::string by = "stream " + std::to_string(s.timeline().id()) + " of device " + std::to_string(d.index());
  const std::string text = fr::explain(a);
  BOOST_TEST(contains(text, "written by " + by + ", ticket"), text);
  BOOST_TEST(contains(text, "bytes 100 to 200"), text);
  BOOST_TEST(!contains(fr::explain(a.slice({50, 100})), "bytes 100 to 200"));  // uses of other bytes are not listed
  s.synchronize();
  BOOST_TEST(contains(fr::explain(a), "finished"));
  BOOST_TEST(contains(fr::explain(a), "nothing that the CPU would have to wait for"));
  BOOST_TEST(contains(fr::explain(fr::unified_array<int>()), "no bytes"));
  fr::pointer(a, s);
  BOOST_TEST(contains(fr::explain(a), "written by " + by + " through a raw pointer that is still out"));
  fr::to_vector(a);
}

BOOST_AUTO_TEST_SUITE_END()
