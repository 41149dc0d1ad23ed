// parallel_for: iteration spaces, parameters, placement, and the access records it creates.
#include <thread>

#include "contract/fixture.hpp"
#if defined(__CUDACC__)
#include <cuda_runtime_api.h>
#endif

using namespace contract;

namespace contract_of_kernels {
namespace {

struct axpy {
  int a;
  FERRY_HOST_DEVICE void operator()(std::size_t i, const int* x, int* y) const {
    y[i] = static_cast<int>(static_cast<unsigned>(y[i]) + static_cast<unsigned>(a) * static_cast<unsigned>(x[i]));
  }
};
struct one_of {
  FERRY_HOST_DEVICE int operator()(std::size_t i, const int* x) const { return x[i]; }
};
struct number_2d {  // how often each element was visited, and with which indices
  FERRY_HOST_DEVICE void operator()(std::size_t i, std::size_t j, fr::mdspan<int, 2> v) const {
    v(i, j) += static_cast<int>(1000 * i + j);
  }
};
struct number_3d {
  FERRY_HOST_DEVICE void operator()(std::size_t i, std::size_t j, std::size_t k, fr::mdspan<int, 3> v) const {
    v(i, j, k) += static_cast<int>(10000 * i + 100 * j + k);
  }
};
struct visit_tile {
  std::size_t rows, columns;
  FERRY_HOST_DEVICE void operator()(fr::tile t, fr::mdspan<int, 2> v) const {
    const bool fits = t.rows <= rows && t.columns <= columns && t.row % rows == 0 && t.column % columns == 0;
    for (std::size_t i = t.row; i < t.row + t.rows; ++i)
      for (std::size_t j = t.column; j < t.column + t.columns; ++j) v(i, j) += fits ? 1 : 100;
  }
};
struct generic_sum {  // arrays arrive as mdspans if the functor's parameter is generic
  template <class X, class Y, class Value>
  FERRY_HOST_DEVICE void operator()(std::size_t i, X x, Y y, Value v) const {
    static_assert(std::is_const_v<typename X::element_type> && !std::is_const_v<typename Y::element_type>);
    y[i] = x[i] + v;
  }
};
struct pair_of_values {
  int a;
  double b;
};
struct mixed_parameters {
  FERRY_HOST_DEVICE void operator()(std::size_t i, double* y, pair_of_values v, fr::mdspan<const int, 2> m, bool twice,
                                    const std::int8_t* x) const {
    y[i] = (v.a + v.b + m(i, 1) + x[i]) * (twice ? 2 : 1);
  }
};
struct copy_of_span {
  FERRY_HOST_DEVICE void operator()(std::size_t i, fr::mdspan<const int, 1> x, fr::mdspan<int, 1> y) const {
    y(i) = x(i);
  }
};
struct nothing {
  FERRY_HOST_DEVICE void operator()(std::size_t, const int*) const {}
};
struct set {
  int to;
  FERRY_HOST_DEVICE void operator()(std::size_t i, int* p) const { p[i] = to; }
};
struct add_twice {  // the same array through two parameters
  FERRY_HOST_DEVICE void operator()(std::size_t i, int* y, const int* same) const { y[i] += same[i]; }
};

fr::device_array<int> with_lambda(std::size_t n, int factor) {
  fr::device_array<int> y({n}, 1);
  fr::parallel_for(
      n, FERRY_LAMBDA(std::size_t i, int* p) { p[i] += factor * static_cast<int>(i); }, y);
  return y;
}

// True if the most recent access record is a write.
bool last_use_wrote(const auto& a) { return a.owner().get().history.uses().back().write; }

}  // namespace
}  // namespace contract_of_kernels

BOOST_FIXTURE_TEST_SUITE(contract_of_kernels, clean)

BOOST_AUTO_TEST_CASE_TEMPLATE(one_dimension_on_every_device, K, kinds) {
  for (const fr::device d : fr::devices())
    for (const std::size_t n : {1u, 255u, 1000u, 1u << 20 | 3u}) {
      const fr::stream s{d};
      const auto x = counted<int, 1, K::value>(fr::extents<1>(n), d);
      fr::basic_array<int, 1, K::value> y({n}, 5, d);
      fr::parallel_for(s, n, axpy{3}, fr::in(x), fr::inout(y));
      BOOST_TEST(&last_user(y) == &s.timeline());
      fr::parallel_for(s, static_cast<int>(n), axpy{1}, x, y);
      std::vector<int> expected(n);
      for (std::size_t i = 0; i < n; ++i) expected[i] = 5 + 4 * static_cast<int>(i);
      BOOST_TEST((fr::to_vector(y) == expected), n << " elements on device " << d.index());
    }
}

BOOST_AUTO_TEST_CASE_TEMPLATE(two_and_three_dimensions, K, kinds) {
  for (const fr::extents<2> e : {fr::extents<2>(1, 1), {5, 7}, {33, 65}, {70001, 3}, {2, 1000}}) {
    fr::basic_array<int, 2, K::value> v(e, 1);
    fr::parallel_for(e, number_2d{}, v);
    std::vector<int> expected;
    for (std::size_t i = 0; i < e[0]; ++i)
      for (std::size_t j = 0; j < e[1]; ++j) expected.push_back(static_cast<int>(1 + 1000 * i + j));
    BOOST_TEST((fr::to_vector(v) == expected), e.text());
  }
  for (const fr::extents<3> e : {fr::extents<3>(1, 1, 1), {3, 5, 7}, {70001, 1, 2}, {2, 40, 60}}) {
    fr::basic_array<int, 3, K::value> v(e, 1);
    fr::parallel_for(v.extents(), number_3d{}, fr::inout(v));
    std::vector<int> expected;
    for (std::size_t i = 0; i < e[0]; ++i)
      for (std::size_t j = 0; j < e[1]; ++j)
        for (std::size_t k = 0; k < e[2]; ++k) expected.push_back(static_cast<int>(1 + 10000 * i + 100 * j + k));
    BOOST_TEST((fr::to_vector(v) == expected), e.text());
  }
}

BOOST_AUTO_TEST_CASE(tiles_cover_every_element_once) {
  for (const fr::extents<2> e : {fr::extents<2>(1, 1), {8, 8}, {9, 17}, {3, 100}, {100, 3}})
    for (const auto& [rows, columns] : {std::pair<std::size_t, std::size_t>{1, 1}, {2, 3}, {8, 8}, {200, 200}}) {
      fr::unified_array<int, 2> v(e, 0);
      fr::parallel_for(fr::tiles{e, rows, columns}, visit_tile{rows, columns}, v);
      BOOST_TEST((fr::to_vector(v) == std::vector<int>(e.count(), 1)),
                 e.text() << " in tiles of " << rows << " x " << columns);
    }
}

BOOST_AUTO_TEST_CASE(parameters_of_all_sorts) {
  const auto m = counted<int, 2, memory_kind::unified>(fr::extents<2>(50, 2));
  const auto x = counted<std::int8_t, 1, memory_kind::host>(fr::extents<1>(50));
  fr::device_array<double> y({50});
  fr::parallel_for(50, mixed_parameters{}, fr::out(y), pair_of_values{1, 0.5}, fr::in(m), true, x);
  std::vector<double> expected;
  for (int i = 0; i < 50; ++i) expected.push_back(2 * (1.5 + (2 * i + 1) + i));
  CHECK_EQUAL(fr::to_vector(y), expected);

  const auto a = counted<int, 1, memory_kind::device>(fr::extents<1>(50));
  fr::device_array<int> b({50});
  fr::parallel_for(50, generic_sum{}, a, b, 7);
  CHECK_EQUAL(fr::to_vector(b), counting<int>(50, 7));
  fr::parallel_for(25, generic_sum{}, fr::in(b.slice({0, 50, -2})), b.slice({0, 25}), 0);
  BOOST_TEST(fr::to_vector(b).at(0) == 56);
  std::vector<int> lambda;
  for (int i = 0; i < 100; ++i) lambda.push_back(1 + 3 * i);
  CHECK_EQUAL(fr::to_vector(with_lambda(100, 3)), lambda);
}

BOOST_AUTO_TEST_CASE_TEMPLATE(strided_views_arrive_as_mdspans, K, kinds) {
  auto a = counted<int, 2, K::value>(fr::extents<2>(6, 10));
  a.name("grid");
  fr::device_array<int> y({10});
  const auto row = a.reshape(fr::extents<1>(60)).slice({9, 60, -5});  // 59, 54, ..., 14
  BOOST_TEST(row.size() == 11u);
  fr::parallel_for(10, copy_of_span{}, fr::in(row), fr::out(y));
  CHECK_EQUAL(fr::to_vector(y), (std::vector<int>{59, 54, 49, 44, 39, 34, 29, 24, 19, 14}));
  fr::parallel_for(fr::extents<2>(10, 6), number_2d{}, a.transpose());
  const auto v = fr::to_vector(a);
  for (std::size_t i = 0; i < 6; ++i)
    for (std::size_t j = 0; j < 10; ++j) BOOST_TEST(v[10 * i + j] == static_cast<int>(10 * i + j + 1000 * j + i));
  check_error<fr::invalid_argument>(
      [&] {
        fr::parallel_for(3, set{1}, a.reshape(fr::extents<1>(60)).slice({0, 6, 2}));
      },
      {"strided", "'grid'", "mdspan"});
  BOOST_TEST((fr::to_vector(a) == v));
}

BOOST_AUTO_TEST_CASE(an_array_passed_twice) {
  auto y = counted<int, 1, memory_kind::device>(fr::extents<1>(300));
  fr::parallel_for(300, add_twice{}, fr::inout(y), fr::in(y));
  auto v = fr::to_vector(y);
  for (int i = 0; i < 300; ++i) BOOST_TEST(v[static_cast<std::size_t>(i)] == 2 * i);
  fr::parallel_for(100, add_twice{}, y.slice({0, 100}), fr::in(y.slice({100, 200})));
  v = fr::to_vector(y);
  for (int i = 0; i < 100; ++i) BOOST_TEST(v[static_cast<std::size_t>(i)] == 2 * i + 2 * (i + 100));
}

BOOST_AUTO_TEST_CASE(empty_spaces_submit_nothing) {
  fr::device_array<int> y({10}, 3);
  const auto before = last_user(y).last();
  fr::parallel_for(0, set{1}, y);
  fr::parallel_for(fr::extents<2>(0, 5), number_2d{}, fr::device_array<int, 2>({0, 5}));
  fr::parallel_for(fr::tiles{{5, 0}, 2, 2}, visit_tile{2, 2}, fr::device_array<int, 2>({5, 0}));
  BOOST_TEST(last_user(y).last() == before);
  fr::device_array<int> none;
  fr::parallel_for(
      10, [] FERRY_HOST_DEVICE(std::size_t i, int* p, int* q) { p[i] = q == nullptr ? 4 : 5; }, y, none);
  CHECK_EQUAL(fr::to_vector(y), std::vector<int>(10, 4));
}

BOOST_AUTO_TEST_CASE(how_an_argument_is_used) {
  fr::device_array<int> a({10}, 0);
  const fr::stream s;
  const auto uses_by = [&](auto&& argument, const auto& functor) {
    s.wait(fr::default_stream(fr::device(0)));
    fr::parallel_for(s, 10, functor, argument);
    BOOST_REQUIRE(&last_user(a) == &s.timeline());
    return last_use_wrote(a) ? "writes" : "reads";
  };
  BOOST_TEST(uses_by(fr::in(a), nothing{}) == "reads");
  BOOST_TEST(uses_by(std::as_const(a), nothing{}) == "reads");
  BOOST_TEST(uses_by(fr::array_view<const int, 1, memory_kind::device>(a), nothing{}) == "reads");
  BOOST_TEST(uses_by(a, nothing{}) == "reads");  // without in(): the parameter is const
  BOOST_TEST(uses_by(fr::inout(a), nothing{}) == "writes");
  BOOST_TEST(uses_by(fr::out(a), set{1}) == "writes");
  BOOST_TEST(uses_by(fr::inout(a), set{2}) == "writes");
  BOOST_TEST(uses_by(a.slice({0, 10}), set{3}) == "writes");
  CHECK_EQUAL(fr::to_vector(a), std::vector<int>(10, 3));
}

BOOST_AUTO_TEST_CASE(work_without_a_stream_goes_to_the_first_written_array, *needs_peers(0, 1) * two_devices) {
  const fr::device d0(0), d1(1);
  auto on0 = counted<int, 1, memory_kind::device>(fr::extents<1>(10), d0);
  auto on1 = counted<int, 1, memory_kind::device>(fr::extents<1>(10), d1);
  const auto line = [](fr::device d) { return &fr::default_stream(d).timeline(); };
  fr::parallel_for(10, axpy{1}, fr::in(on0), on1);
  BOOST_TEST(&last_user(on1) == line(d1));
  fr::parallel_for(10, axpy{1}, fr::in(on1), on0);
  BOOST_TEST(&last_user(on0) == line(d0));
  fr::parallel_for(10, nothing{}, fr::in(on1));  // nothing is written: the first array decides
  BOOST_TEST(&last_user(on1) == line(d1));
  const auto before = line(d1)->last();
  {
    const fr::device_scope scope(d1);  // no array: the default device
    fr::parallel_for(10, [] FERRY_HOST_DEVICE(std::size_t) {});
  }
  BOOST_TEST(line(d1)->last() == before + 1);
  fr::unified_array<int> at_home({10}, 0, d1);
  fr::parallel_for(10, axpy{1}, fr::in(on0), at_home);  // a unified array: its home device
  BOOST_TEST(&last_user(at_home) == line(d1));
  CHECK_EQUAL(fr::to_vector(on1), (std::vector<int>{0, 2, 4, 6, 8, 10, 12, 14, 16, 18}));
}

BOOST_AUTO_TEST_CASE(streams_are_ordered_by_what_they_touch) {
  const fr::device last = fr::devices().back();
  const fr::stream a{last}, b{last};
  fr::device_array<int> x({1000}, 1, last), y({1000}, 0, last);
  for (int i = 0; i < 50; ++i) {
    fr::parallel_for(i % 2 ? a : b, 1000, axpy{1}, fr::in(x), y);
    fr::parallel_for(i % 3 ? b : a, 1000, axpy{1}, fr::in(y), x);
  }
  unsigned p = 1, q = 0;
  for (int i = 0; i < 50; ++i) q += p, p += q;
  CHECK_EQUAL(fr::to_vector(x), std::vector<int>(1000, static_cast<int>(p)));
  CHECK_EQUAL(fr::to_vector(y), std::vector<int>(1000, static_cast<int>(q)));
}

void run_from_here_and_from_a_new_thread(fr::device d) {
  const fr::stream s{d};
  fr::device_array<int> x({1000}, 3, d), y({1000}, 4, d);
  std::thread([&] { fr::parallel_for(s, 1000, axpy{2}, fr::in(x), y); }).join();  // a thread without earlier calls
  fr::parallel_for(s, 1000, axpy{1}, fr::in(x), y);
  CHECK_EQUAL(fr::to_vector(y), std::vector<int>(1000, 13));
  BOOST_TEST((fr::parallel_reduce(s, 1000, one_of{}, fr::plus{}, fr::in(y)).value() == 13000));
}
// Uses the kernel handles that the first launches created.
BOOST_AUTO_TEST_CASE(kernels_run_again_and_in_threads_that_called_nothing_yet) {
  for (int round = 0; round < 3; ++round) run_from_here_and_from_a_new_thread(fr::default_device());
}
// Runs on every device while another one is current, and again through the cached handles.
BOOST_AUTO_TEST_CASE(kernels_run_where_their_streams_are, *needs_devices(2) * two_devices) {
  for (int round = 0; round < 3; ++round)
    for (const fr::device d : fr::devices()) run_from_here_and_from_a_new_thread(d);
}

#if defined(__CUDACC__)
BOOST_AUTO_TEST_CASE(errors_that_the_program_left_pending_are_not_the_launchs, *needs_cuda()) {
  fr::device_array<int> x({10}, 1), y({10}, 2);
  BOOST_TEST(cudaSetDevice(-7) != cudaSuccess);
  fr::parallel_for(10, axpy{1}, fr::in(x), y);
  BOOST_TEST(cudaGetLastError() != cudaSuccess);
  CHECK_EQUAL(fr::to_vector(y), std::vector<int>(10, 3));
}
#endif

BOOST_AUTO_TEST_CASE(freed_arrays_are_refused) {
  fr::device_array<int> a({10}, 1), b({10}, 2);
  auto view = a.slice({0, 5});
  a.free();
  check_error<fr::use_after_free>([&] { fr::parallel_for(10, axpy{1}, fr::in(a), b); }, {"free()"});
  check_error<fr::use_after_free>([&] { fr::parallel_for(5, set{1}, view); }, {"free()"});
  CHECK_EQUAL(fr::to_vector(b), std::vector<int>(10, 2));
}

BOOST_AUTO_TEST_SUITE_END()
