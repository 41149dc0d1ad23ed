// as: host
// Creating, filling, cloning, moving, resizing and freeing arrays, in every memory kind.
#include "contract/fixture.hpp"

#include <array>

using namespace contract;

namespace contract_of_arrays {
namespace {

struct three {  // 24 bytes: larger than the backends' native fill sizes
  double a = 0, b = 0, c = 0;
  bool operator==(const three&) const = default;
  friend std::ostream& operator<<(std::ostream& out, const three& t) { return out << t.a << ',' << t.b << ',' << t.c; }
};
struct two {
  std::uint64_t a = 0, b = 0;
  bool operator==(const two&) const = default;
  friend std::ostream& operator<<(std::ostream& out, const two& t) { return out << t.a << ',' << t.b; }
};

// A value whose bytes all differ.
template <class T>
T some_value() {
  T v;
  auto* bytes = reinterpret_cast<unsigned char*>(&v);
  for (std::size_t i = 0; i < sizeof v; ++i) bytes[i] = static_cast<unsigned char>(0x11 * (i % 7) + 3 + i);
  return v;
}

template <memory_kind K, std::size_t Rank>
void make_of_rank(const fr::extents<Rank>& e) {
  const fr::basic_array<int, Rank, K> a(e, 7);
  BOOST_TEST((a.extents() == e));
  BOOST_TEST(a.size() == e.count());
  BOOST_TEST(a.size_bytes() == 4 * e.count());
  BOOST_TEST(a.is_contiguous());
  CHECK_EQUAL(fr::to_vector(a), std::vector<int>(e.count(), 7));
  const auto b = counted<int, Rank, K>(e);
  CHECK_EQUAL(fr::to_vector(b), counting<int>(e.count()));
}

// Fills a whole array, then a strided part with one descending dimension. All other elements stay.
template <memory_kind K, class T>
void fill_with() {
  const T v = some_value<T>(), zero{};
  fr::basic_array<T, 2, K> a({5, 7}, zero);
  CHECK_EQUAL(fr::to_vector(a), std::vector<T>(35, zero));
  fr::fill(a.slice({{1, 4, 2}, {0, 7, -3}}), v);  // rows 1, 3; columns 6, 3, 0
  std::vector<T> expected(35, zero);
  for (const std::size_t row : {1, 3})
    for (const std::size_t column : {0, 3, 6}) expected[row * 7 + column] = v;
  CHECK_EQUAL(fr::to_vector(a), expected);
  fr::fill(a, v);
  CHECK_EQUAL(fr::to_vector(a), std::vector<T>(35, v));
}

}  // namespace
}  // namespace contract_of_arrays

BOOST_FIXTURE_TEST_SUITE(contract_of_arrays, clean)

BOOST_AUTO_TEST_CASE_TEMPLATE(arrays_of_every_rank, K, kinds) {
  make_of_rank<K::value>(fr::extents<0>());
  make_of_rank<K::value>(fr::extents<1>(257));
  make_of_rank<K::value>(fr::extents<2>(3, 5));
  make_of_rank<K::value>(fr::extents<3>(3, 1, 5));
  make_of_rank<K::value>(fr::extents<6>(2, 3, 1, 2, 1, 3));
}

BOOST_AUTO_TEST_CASE_TEMPLATE(no_elements_are_fine_everywhere, K, kinds) {
  constexpr memory_kind k = K::value;
  const std::size_t before = fr::runtime::current().allocations();
  fr::basic_array<double, 2, k> a(fr::extents<2>(0, 5)), b(fr::extents<2>(0, 5), 1.0);
  fr::basic_array<double, 2, k> none;
  BOOST_TEST(fr::runtime::current().allocations() == before);  // no bytes, no allocation
  BOOST_TEST(a.empty());
  BOOST_TEST(none.size() == 0u);
  fr::fill(a, 3.0);
  fr::copy(a, b);
  BOOST_TEST(fr::to_vector(a).empty());
  BOOST_TEST(a.clone().empty());
  BOOST_TEST(a.slice({{0, 0}, {1, 3}}).empty());
  BOOST_TEST((a.transpose().extents() == fr::extents<2>(5, 0)));
  BOOST_TEST(a.reshape(fr::extents<1>(0)).empty());
  BOOST_TEST((fr::basic_array<int, 1, k>::from(std::vector<int>()).empty()));
  BOOST_TEST(fr::to_unified(a).empty());
  a.resize({2, 2});
  BOOST_TEST(a.size() == 4u);
  a.resize({0, 0});
  BOOST_TEST(a.empty());
  a.free();
  BOOST_TEST(a.is_ready());
}

BOOST_AUTO_TEST_CASE_TEMPLATE(arrays_from_memory_of_the_cpu, K, kinds) {
  using array = fr::basic_array<float, 1, K::value>;
  std::vector<float> v = counting<float>(1001);
  auto a = array::from(v);
  v.assign(1001, -1);  // from() has read it before it returned
  CHECK_EQUAL(fr::to_vector(a), counting<float>(1001));
  const auto values = counting<float>(12);
  CHECK_EQUAL(fr::to_vector(array::from(std::span<const float>(values).subspan(3, 5))), counting<float>(5, 3));
  CHECK_EQUAL(fr::to_vector(array::from({1.f, 2.f, 3.f})), counting<float>(3, 1));
  const auto m = fr::basic_array<float, 2, K::value>::from(std::span<const float>(values), {3, 4});
  BOOST_TEST((m.extents() == fr::extents<2>(3, 4)));
  CHECK_EQUAL(fr::to_vector(m), values);
}

BOOST_AUTO_TEST_CASE_TEMPLATE(arrays_with_known_contents, K, kinds) {
  constexpr memory_kind k = K::value;
  CHECK_EQUAL(fr::to_vector(fr::zeros<double, 2, k>({3, 5})), std::vector<double>(15, 0));
  CHECK_EQUAL(fr::to_vector(fr::ones<std::int16_t, 1, k>({9})), std::vector<std::int16_t>(9, 1));
  CHECK_EQUAL(fr::to_vector(fr::full<int, 3, k>({2, 3, 4}, -5)), std::vector<int>(24, -5));
  CHECK_EQUAL(fr::to_vector(fr::arange<int, k>(3, 10)), counting<int>(7, 3));
  CHECK_EQUAL(fr::to_vector(fr::arange<int, k>(3, 10, 3)), (std::vector<int>{3, 6, 9}));
  CHECK_EQUAL(fr::to_vector(fr::arange<int, k>(3, -4, -3)), (std::vector<int>{3, 0, -3}));
  CHECK_EQUAL(fr::to_vector(fr::arange<double, k>(0, 1, 0.25)), (std::vector<double>{0, 0.25, 0.5, 0.75}));
  CHECK_EQUAL(fr::to_vector(fr::linspace<double, k>(1, 2, 5)), (std::vector<double>{1, 1.25, 1.5, 1.75, 2}));
  BOOST_TEST((fr::arange<int, k>(3, 3).empty()));
  BOOST_TEST((fr::linspace<float, k>(3, 4, 0).empty()));
  BOOST_TEST((fr::to_vector(fr::linspace<float, k>(3, 4, 1)).at(0) == 3));
}

// Also beyond the integers that float can represent: 2^24 + 2 elements, of which two are equal.
BOOST_AUTO_TEST_CASE(arange_has_as_many_elements_as_it_should) {
  constexpr std::size_t n = (std::size_t{1} << 24) + 2;
  const auto v = fr::to_vector(fr::arange<float>(0, static_cast<float>(n)));
  BOOST_TEST(v.size() == n);
  BOOST_TEST(v.back() == static_cast<float>(n - 1));
  BOOST_TEST(fr::to_vector(fr::arange<float>(0, 1, 0.1f)).size() == 10u);
  BOOST_TEST(fr::to_vector(fr::arange<float>(0, 0.3f, 0.1f)).size() == 3u);
  BOOST_TEST((fr::arange<double>(0, -1).empty()));
  const auto wide = fr::to_vector(fr::arange<std::int64_t>(INT64_MIN, INT64_MAX, INT64_MAX));
  CHECK_EQUAL(wide, (std::vector<std::int64_t>{INT64_MIN, -1, INT64_MAX - 1}));
}

BOOST_AUTO_TEST_CASE(arange_of_small_types_ends) {
  CHECK_EQUAL(fr::to_vector(fr::arange<std::int8_t>(101, 127, 20)), (std::vector<std::int8_t>{101, 121}));
  CHECK_EQUAL(fr::to_vector(fr::arange<std::uint8_t>(200, 255, 50)), (std::vector<std::uint8_t>{200, 250}));
  CHECK_EQUAL(fr::to_vector(fr::arange<std::int8_t>(-101, -128, -20)), (std::vector<std::int8_t>{-101, -121}));
}

BOOST_AUTO_TEST_CASE_TEMPLATE(fill_elements_of_every_size, K, kinds) {
  fill_with<K::value, std::uint8_t>();
  fill_with<K::value, std::uint16_t>();
  fill_with<K::value, std::uint32_t>();
  fill_with<K::value, double>();
  fill_with<K::value, two>();
  fill_with<K::value, three>();
}

BOOST_AUTO_TEST_CASE_TEMPLATE(fill_on_a_given_stream, K, kinds) {
  const fr::stream s{fr::devices().back()};
  fr::basic_array<int, 1, K::value> a({1000}, 0, fr::devices().back());
  fr::fill(s, a, 3);
  BOOST_TEST(&last_user(a) == &s.timeline());
  fr::fill(s, a.slice({500, 1000}), 4);
  BOOST_TEST(&last_user(a) == &s.timeline());
  const auto v = fr::to_vector(a);
  BOOST_TEST((v[499] == 3 && v[500] == 4 && v[999] == 4));
}

BOOST_AUTO_TEST_CASE_TEMPLATE(clones_are_equal_and_apart, K, kinds) {
  auto a = counted<int, 2, K::value>(fr::extents<2>(4, 6), fr::devices().back());
  auto b = a.clone();
  fr::fill(a, -1);
  CHECK_EQUAL(fr::to_vector(b), counting<int>(24));
  BOOST_TEST((b.device() == fr::devices().back()));
  BOOST_TEST((b.extents() == a.extents()));
  BOOST_TEST(b.unsynchronized_data() != a.unsynchronized_data());
}

BOOST_AUTO_TEST_CASE_TEMPLATE(moving_and_swapping_move_no_bytes, K, kinds) {
  using array = fr::basic_array<int, 1, K::value>;
  static_assert(!std::is_copy_constructible_v<array> && !std::is_copy_assignable_v<array>);
  static_assert(std::is_nothrow_move_constructible_v<array> && std::is_nothrow_move_assignable_v<array>);
  auto a = counted<int, 1, K::value>(fr::extents<1>(5));
  auto b = counted<int, 1, K::value>(fr::extents<1>(3), fr::devices().back(), 10);
  const int *pa = a.unsynchronized_data(), *pb = b.unsynchronized_data();
  a.name("a");
  swap(a, b);
  BOOST_TEST(a.unsynchronized_data() == pb);
  BOOST_TEST((a.device() == fr::devices().back()));
  CHECK_EQUAL(fr::to_vector(b), counting<int>(5));
  const std::size_t alive = fr::runtime::current().allocations();
  a = std::move(b);  // a's previous memory is freed
  BOOST_TEST(fr::runtime::current().allocations() == alive - 1);
  BOOST_TEST(a.unsynchronized_data() == pa);
  BOOST_TEST(a.name() == "a");
  BOOST_TEST(b.empty());
  array c(std::move(a));
  BOOST_TEST(a.empty());
  CHECK_EQUAL(fr::to_vector(c), counting<int>(5));
  array& self = c;
  c = std::move(self);
  CHECK_EQUAL(fr::to_vector(c), counting<int>(5));
}

BOOST_AUTO_TEST_CASE_TEMPLATE(resize_preserves_what_lies_in_both_shapes, K, kinds) {
  auto a = counted<int, 1, K::value>(fr::extents<1>(10), fr::devices().back());
  a.name("grown");
  a.resize({1000});
  BOOST_TEST(a.size() == 1000u);
  BOOST_TEST(a.name() == "grown");
  BOOST_TEST((a.device() == fr::devices().back()));
  CHECK_EQUAL(fr::to_vector(a.slice({0, 10})), counting<int>(10));
  a.resize({4});
  CHECK_EQUAL(fr::to_vector(a), counting<int>(4));
  const int* p = a.unsynchronized_data();
  a.resize({4});
  BOOST_TEST(a.unsynchronized_data() == p);

  auto m = counted<int, 2, K::value>(fr::extents<2>(3, 4));
  m.resize({5, 2});  // more rows, fewer columns
  BOOST_TEST((m.extents() == fr::extents<2>(5, 2)));
  CHECK_EQUAL(fr::to_vector(m.slice(fr::slice{0, 3})), (std::vector<int>{0, 1, 4, 5, 8, 9}));
}

BOOST_AUTO_TEST_CASE_TEMPLATE(a_free_array_is_gone_and_says_so, K, kinds) {
  auto a = counted<int, 1, K::value>(fr::extents<1>(100));
  auto part = a.slice({10, 20});
  const auto constant = std::as_const(a).slice({0, 10});
  const std::size_t alive = fr::runtime::current().allocations();
  a.free();
  BOOST_TEST(fr::runtime::current().allocations() == alive - 1);
  a.free();                                           // the second call does nothing
  fr::basic_array<int, 1, K::value> other({100}, 5);  // most likely the same bytes
  std::array<int, 10> ten;
  check_error<fr::use_after_free>([&] { fr::to_vector(a); }, {"free()"});
  check_error<fr::use_after_free>([&] { fr::fill(part, 1); }, {"free()"});
  check_error<fr::use_after_free>([&] { fr::copy(constant, std::span<int>(ten)); }, {"free()"});
  check_error<fr::use_after_free>([&] { fr::copy(other.slice({0, 10}), part); }, {"free()"});
  check_error<fr::use_after_free>([&] { (void)a.clone(); }, {"free()"});
  check_error<fr::use_after_free>([&] { a.resize({10}); }, {"free()"});
  BOOST_TEST(contains(fr::explain(a), "freed"));
  CHECK_EQUAL(fr::to_vector(other), std::vector<int>(100, 5));
}

BOOST_AUTO_TEST_CASE(views_keep_the_bytes_alive) {
  const std::size_t before = fr::runtime::current().allocations();
  {
    auto part = fr::full<int, 1>({100}, 4).slice({10, 13});
    BOOST_TEST(fr::runtime::current().allocations() == before + 1);
    CHECK_EQUAL(fr::to_vector(part), std::vector<int>(3, 4));
  }
  BOOST_TEST(fr::runtime::current().allocations() == before);
}

BOOST_AUTO_TEST_CASE(new_arrays_go_to_the_given_device) {
  const fr::device last = fr::devices().back();
  BOOST_TEST((fr::device_array<int>({5}).device() == fr::devices().front()));
  {
    const fr::device_scope scope(last);
    BOOST_TEST((fr::device_array<int>({5}).device() == last));
    BOOST_TEST((fr::zeros<int, 1>({5}).device() == last));
    BOOST_TEST((fr::host_array<int>({5}, fr::devices().front()).device() == fr::devices().front()));
  }
  BOOST_TEST((fr::default_device() == fr::devices().front()));
}

BOOST_AUTO_TEST_SUITE_END()
