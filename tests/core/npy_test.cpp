// Arrays to .npy files and back: types, ranks, orders, kinds, views.
#include <algorithm>
#include <array>
#include <complex>
#include <numeric>
#include <tuple>

#include "ferry/core/detail/pools/runtime_pools.hpp"
#include "ferry/core/make.hpp"
#include "ferry/core/npy.hpp"
#include "ferry/core/runtime.hpp"
#include "npy_fixture.hpp"

using namespace npy_test;
using fr::memory_kind;
using fr::storage_order;

namespace npy {
namespace {

template <class T>
T value(std::size_t i) {
  if constexpr (std::is_same_v<T, bool>)
    return i % 3 == 1;
  else if constexpr (requires { typename T::value_type; })
    return {static_cast<typename T::value_type>(i) + 0.5f, -static_cast<typename T::value_type>(i)};
  else
    return static_cast<T>(i * 77 + 3);
}

// Reverses the bytes of each number.
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

void check_equal(const std::string& found, const std::string& expected, const std::string& what) {
  BOOST_TEST((found == expected), what);
}

// Files in both storage orders and byte orders, written from CPU memory, become arrays that write the same files again.
template <memory_kind Kind, class T, std::size_t Rank>
void round_trip(const folder& here, const fr::extents<Rank>& e) {
  constexpr std::array orders{storage_order::row_major, storage_order::column_major};
  const std::size_t n = e.count();
  const auto original = std::make_unique<T[]>(n);
  for (std::size_t i = 0; i < n; ++i) original[i] = value<T>(i);
  std::vector<std::string> files;
  for (const auto order : orders) {
    fr::save_npy(here(), std::span<const T>(original.get(), n), e, order);
    files.push_back(bytes_of(here()));
  }
  const char* raw = reinterpret_cast<const char*>(original.get());
  check_equal(files[0].substr(128), std::string(raw, n * sizeof(T)), "row-major data");
  for (std::string file : files)
    for (const bool swap : {false, true}) {
      if (swap && file[21] == '<') file[21] = '>';
      here.with(swap ? file.substr(0, 128) + swapped(file.substr(128), unit<T>()) : file);
      const auto a = fr::load_npy<T, Rank, Kind>(here(), fr::device(1));
      for (const auto order : orders) {
        fr::save_npy(here(), a, order);
        check_equal(bytes_of(here()), files[order == storage_order::column_major], file.substr(0, 80));
      }
    }
}

// As in CUDA's libraries.
struct library_complex {
  using value_type = float;
  library_complex(float re = 0, float im = 0) : parts{re, im} {}
  float real() const { return parts[0]; }
  float imag() const { return parts[1]; }
  float parts[2];
};
static_assert(fr::npy_element<library_complex> && fr::detail::npy_type_of<library_complex>().kind == 'c');
static_assert(!fr::npy_element<std::complex<long double>>);

template <memory_kind Kind>
void every_type() {
  const fr::simulation sim("devices=2;schedule=random:5");
  const folder here;
  [&]<class... T>(const std::tuple<T...>*) {
    (round_trip<Kind, T>(here, fr::extents{3, 4}), ...);
  }(static_cast<const std::tuple<bool, std::int8_t, std::uint8_t, std::int16_t, std::uint16_t, std::int32_t,
                                 std::uint32_t, std::int64_t, std::uint64_t, float, double, std::complex<float>>*>(
      nullptr));
}

// With one type: all pairs would take minutes to compile.
template <memory_kind Kind>
void every_rank() {
  const fr::simulation sim("devices=2;schedule=random:5");
  const folder here;
  using widest = std::complex<double>;
  round_trip<Kind, widest>(here, fr::extents<0>{});
  round_trip<Kind, widest>(here, fr::extents{5});
  round_trip<Kind, widest>(here, fr::extents{0});
  round_trip<Kind, widest>(here, fr::extents{2, 3, 4});
  round_trip<Kind, widest>(here, fr::extents{2, 0, 3});
  round_trip<Kind, widest>(here, fr::extents{2, 1, 3, 2});
  round_trip<Kind, widest>(here, fr::extents{520, 512});  // more than one chunk
}

}  // namespace
}  // namespace npy

BOOST_AUTO_TEST_SUITE(npy)

BOOST_AUTO_TEST_CASE(unified_arrays_of_every_type_come_back) { every_type<memory_kind::unified>(); }
BOOST_AUTO_TEST_CASE(device_arrays_of_every_type_come_back) { every_type<memory_kind::device>(); }
BOOST_AUTO_TEST_CASE(unified_arrays_of_every_rank_come_back) { every_rank<memory_kind::unified>(); }
BOOST_AUTO_TEST_CASE(device_arrays_of_every_rank_come_back) { every_rank<memory_kind::device>(); }
BOOST_AUTO_TEST_CASE(host_arrays_of_every_rank_come_back) { every_rank<memory_kind::host>(); }

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
  // A one-dimensional array has both orders; NumPy writes C order.
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
  BOOST_TEST(fr::runtime::current().pools().statistics().made == 0u);  // CPU memory needs no device
  static_cast<void>(fr::load_npy<float, 2, memory_kind::device>(here()));
  BOOST_TEST(fr::runtime::current().allocations() == 0u);
}

BOOST_AUTO_TEST_SUITE_END()
