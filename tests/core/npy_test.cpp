// Arrays to .npy files and back: types, ranks, orders, kinds, views.
#include <algorithm>
#include <numeric>
#include <tuple>

#include "ferry/core/machine.hpp"
#include "ferry/core/make.hpp"
#include "ferry/core/npy.hpp"
#include "npy_fixture.hpp"

using namespace npy_test;
using fr::memory_kind;
using fr::storage_order;

namespace {

using all_types = std::tuple<bool, std::int8_t, std::uint8_t, std::int16_t, std::uint16_t, std::int32_t, std::uint32_t,
                             std::int64_t, std::uint64_t, float, double, std::complex<float>, std::complex<double>>;

template <class T>
T value(std::size_t i) {
  if constexpr (std::is_same_v<T, bool>)
    return i % 3 == 1;
  else if constexpr (requires { typename T::value_type; })
    return {static_cast<typename T::value_type>(i) + 0.5f, -static_cast<typename T::value_type>(i)};
  else
    return static_cast<T>(i * 77 + 3);
}

// Trivial elements without std::vector<bool>.
template <class T>
struct elements {
  std::unique_ptr<T[]> data;
  std::size_t count;
  explicit elements(std::size_t n) : data(new T[n]), count(n) {
    for (std::size_t i = 0; i < n; ++i) data[i] = value<T>(i);
  }
  std::span<const T> get() const { return {data.get(), count}; }
};

template <class T, std::size_t Rank, memory_kind Kind>
bool holds(const fr::basic_array<T, Rank, Kind>& a, std::span<const T> expected) {
  elements<T> found(a.size());
  fr::copy(a, std::span<T>(found.data.get(), found.count));
  return std::ranges::equal(found.get(), expected);
}

// The bytes of each number reversed.
std::string swapped(std::string bytes, std::size_t unit) {
  for (std::size_t i = 0; i < bytes.size(); i += unit)
    std::reverse(bytes.begin() + static_cast<std::ptrdiff_t>(i), bytes.begin() + static_cast<std::ptrdiff_t>(i + unit));
  return bytes;
}

template <class T>
std::size_t unit() {
  if constexpr (requires { typename T::value_type; }) return sizeof(typename T::value_type);
  return sizeof(T);
}

template <memory_kind Kind, class T, std::size_t Rank>
void round_trip(const folder& here, const fr::extents<Rank>& e) {
  const elements<T> original(e.count());
  const auto a = fr::basic_array<T, Rank, Kind>::from(original.get(), e, fr::device(1));
  for (const auto order : {storage_order::row_major, storage_order::column_major}) {
    fr::save_npy(here("array.npy"), a, order);
    fr::save_npy(here("span.npy"), original.get(), e, order);
    const std::string bytes = bytes_of(here("array.npy"));
    BOOST_TEST(bytes == bytes_of(here("span.npy")));
    BOOST_TEST(bytes.size() == 128 + e.count() * sizeof(T));
    const auto back = fr::load_npy<T, Rank, Kind>(here("array.npy"), fr::device(1));
    BOOST_TEST((back.extents() == e && back.device() == fr::device(1) && holds(back, original.get())));

    std::string other = bytes.substr(0, 128);
    if (other[21] == '<') other[21] = '>';
    other += swapped(bytes.substr(128), unit<T>());
    BOOST_TEST((holds(fr::load_npy<T, Rank, Kind>(here.with(other)), original.get())));
  }
}

template <memory_kind Kind>
void round_trips() {
  const fr::simulation sim("devices=2;schedule=random:5");
  const folder here;
  std::apply(
      [&]<class... T>(const T&...) {
        const auto all_ranks = [&]<class U>(const U&) {
          round_trip<Kind, U>(here, fr::extents<0>{});
          round_trip<Kind, U>(here, fr::extents{5});
          round_trip<Kind, U>(here, fr::extents{3, 4});
          round_trip<Kind, U>(here, fr::extents{2, 3, 4});
          round_trip<Kind, U>(here, fr::extents{2, 1, 3, 2});
        };
        (all_ranks(T{}), ...);
      },
      all_types{});
  round_trip<Kind, float>(here, fr::extents{0});
  round_trip<Kind, float>(here, fr::extents{2, 0, 3});
  round_trip<Kind, std::complex<double>>(here, fr::extents{700, 800});
}

}  // namespace

BOOST_AUTO_TEST_SUITE(npy)

BOOST_AUTO_TEST_CASE(unified_arrays_come_back) { round_trips<memory_kind::unified>(); }
BOOST_AUTO_TEST_CASE(device_arrays_come_back) { round_trips<memory_kind::device>(); }
BOOST_AUTO_TEST_CASE(host_arrays_come_back) { round_trips<memory_kind::host>(); }

// Bytes of numpy.save of NumPy 2.4.6: numpy.arange(6, dtype='<i2').reshape(2, 3), in both orders.
BOOST_AUTO_TEST_CASE(files_are_those_of_numpy) {
  const fr::simulation sim("devices=2");
  const folder here;
  const std::string dict[] = {"{'descr': '<i2', 'fortran_order': False, 'shape': (2, 3), }",
                              "{'descr': '<i2', 'fortran_order': True, 'shape': (2, 3), }"};
  const std::string c_data("\0\0\1\0\2\0\3\0\4\0\5\0", 12), fortran_data("\0\0\3\0\1\0\4\0\2\0\5\0", 12);
  const auto a = fr::arange<std::int16_t>(0, 6);
  fr::save_npy(here(), a.reshape(fr::extents{2, 3}));
  BOOST_TEST(bytes_of(here()) == numpy_header(version_1, dict[0]) + c_data);
  fr::save_npy(here(), a.reshape(fr::extents{2, 3}), storage_order::column_major);
  BOOST_TEST(bytes_of(here()) == numpy_header(version_1, dict[1]) + fortran_data);
  for (const std::string& prefix : {version_1, version_2, version_3}) {
    const auto m = fr::load_npy<std::int16_t, 2>(here.with(numpy_header(prefix, dict[1]) + fortran_data + "more"));
    BOOST_TEST(fr::to_vector(m) == fr::to_vector(a), boost::test_tools::per_element());
  }
  // One dimension is in both orders; NumPy calls that C.
  fr::save_npy(here(), a, storage_order::column_major);
  BOOST_TEST(!fr::read_npy_header(here()).fortran_order);
}

BOOST_AUTO_TEST_CASE_TEMPLATE(
    views_are_written_in_row_major_order, Array,
    decltype(std::tuple<fr::device_array<int, 3>, fr::unified_array<int, 3>, fr::host_array<int, 3>>{})) {
  const fr::simulation sim("devices=2;schedule=random:3");
  const folder here;
  std::vector<int> all(6 * 5 * 4);
  std::iota(all.begin(), all.end(), 0);
  const auto a = Array::from(all, fr::extents{6, 5, 4}, fr::device(1));
  const auto check = [&](const auto& v) {
    for (const auto order : {storage_order::row_major, storage_order::column_major}) {
      fr::save_npy(here(), v, order);
      const auto back = fr::load_npy<int, 3>(here());
      BOOST_TEST((back.extents() == v.extents()));
      BOOST_TEST(fr::to_vector(back) == fr::to_vector(v), boost::test_tools::per_element());
    }
  };
  check(a.slice({1, 4}));
  check(a.slice({{1, 6, 2}, {0, 5, -1}, {1, 3}}));
  check(a.transpose());
  check(a.slice({{2, 3}, {}, {3, 4}}));
  check(a.slice({{2, 2}, {}, {3, 4}}));
}

BOOST_AUTO_TEST_CASE(a_save_sees_the_work_before_it_and_a_load_the_reuse_of_memory) {
  const folder here;
  for (int seed = 0; seed < 8; ++seed) {
    const fr::simulation sim("devices=2;schedule=random:" + std::to_string(seed));
    fr::unified_array<int> u({1000}, 1);
    fr::device_array<int> d({1000}, 2, fr::device(1));
    fr::copy(d, u);
    fr::fill(d, 7);
    fr::save_npy(here("u.npy"), u);
    fr::save_npy(here("d.npy"), d);
    { fr::unified_array<int> dies({1000}, 9); }
    const auto back = fr::load_npy<int, 1>(here("u.npy"));
    const auto at_1 = fr::load_npy<int, 1, memory_kind::device>(here("d.npy"), fr::device(1));
    BOOST_TEST(std::ranges::count(fr::to_vector(back), 2) == 1000);
    BOOST_TEST(std::ranges::count(fr::to_vector(at_1), 7) == 1000);
  }
}

BOOST_AUTO_TEST_CASE(bools_are_0_or_1_in_memory) {
  const fr::simulation sim;
  const folder here;
  const auto a = fr::load_npy<bool, 1>(
      here.with(bare_header("{'descr': '|b1', 'fortran_order': False, 'shape': (4,)}") + std::string("\0\1\2\xff", 4)));
  const char* bytes = reinterpret_cast<const char*>(a.cbegin());
  BOOST_TEST(std::string(bytes, 4) == std::string("\0\1\1\1", 4));
}

BOOST_AUTO_TEST_CASE(nothing_is_left_of_the_arrays) {
  const fr::simulation sim("devices=2");
  const folder here;
  fr::save_npy(here(), std::vector<float>(6, 1.f), fr::extents{2, 3}, storage_order::column_major);
  BOOST_TEST(fr::machine::current().made_allocations == 0u);  // no device for memory of the CPU
  static_cast<void>(fr::load_npy<float, 2, memory_kind::device>(here()));
  BOOST_TEST(fr::machine::current().allocations() == 0u);
}

BOOST_AUTO_TEST_SUITE_END()
