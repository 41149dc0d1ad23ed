// Loops and reductions on the CPU as the device, with and without checks of indices: the same results, whatever the
// space, the views, the number of threads and the lengths of vectors.
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <ferry/core.hpp>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "support/check_error.hpp"
#include "support/cpu_device.hpp"
#include "support/failures.hpp"
#include "support/quiet_stderr.hpp"
#include "support/seeds.hpp"

namespace fr = ferry;

namespace cpu_loops {
namespace {

using support::check_error;
using support::cpu_device;
using support::has;

constexpr const char* machines[] = {"threads=1;check=off", "threads=2;check=off", "threads=4;check=off",
                                    "threads=1;check=on",  "threads=3;check=on",  "threads=2"};

// One formula for all ranks, so that the oracle calls the functors with plain spans.
struct mix_1 {
  std::size_t first;
  FERRY_HOST_DEVICE void operator()(std::size_t i, fr::mdspan<const double, 1> a, fr::mdspan<double, 1> b) const {
    i += first;
    b(i) = b(i) * 0.5 + a(i - 1) - 2 * a(i) + a(i + 1);
  }
};
struct mix_2 {
  std::size_t first;
  FERRY_HOST_DEVICE void operator()(std::size_t i, std::size_t j, fr::mdspan<const double, 2> a,
                                    fr::mdspan<double, 2> b) const {
    i += first, j += first;
    b(i, j) = b(i, j) * 0.5 + a(i - 1, j) + a(i, j - 1) - 4 * a(i, j) + a(i, j + 1) + a(i + 1, j);
  }
};
struct mix_3 {
  std::size_t first;
  FERRY_HOST_DEVICE void operator()(std::size_t i, std::size_t j, std::size_t k, fr::mdspan<const double, 3> a,
                                    fr::mdspan<double, 3> b) const {
    i += first, j += first, k += first;
    b(i, j, k) = b(i, j, k) * 0.5 + a(i - 1, j, k) + a(i, j - 1, k) + a(i, j, k - 1) - 6 * a(i, j, k) + a(i, j, k + 1) +
                 a(i, j + 1, k) + a(i + 1, j, k);
  }
};
struct mix_tile {
  FERRY_HOST_DEVICE void operator()(fr::tile t, fr::mdspan<const double, 2> a, fr::mdspan<double, 2> b) const {
    for (std::size_t i = t.row; i != t.row + t.rows; ++i)
      for (std::size_t j = t.column; j != t.column + t.columns; ++j) b(i, j) = 3 * a(i, j) - b(i, j);
  }
};
// Elements of the types that spans consist of: a compiler must not take them for parts of spans.
struct count_up {
  FERRY_HOST_DEVICE void operator()(std::size_t i, std::size_t j, fr::mdspan<std::size_t, 2> n,
                                    fr::mdspan<char, 2> c) const {
    n(i, j) += 1000 * i + j;
    c(i, j) = static_cast<char>(c(i, j) + static_cast<char>(i + j));
  }
};
template <template <class, std::size_t> class A>
struct fields {
  A<double, 2> from;
  std::optional<A<double, 2>> to;
  double factor;
  FERRY_MEMBERS(from, to, factor);
};
struct scale_fields {
  FERRY_HOST_DEVICE void operator()(std::size_t i, std::size_t j, fields<fr::mdspan> f) const {
    (*f.to)(i, j) = f.factor * f.from(i, j) + static_cast<double>(j);
  }
};
struct scale_members {
  FERRY_HOST_DEVICE void operator()(std::size_t i, fr::soa_span<float, int> s) const {
    s.span<0>()(i) = 2 * s.get<0>(i) + static_cast<float>(s.span<1>()(i));
  }
};
struct read_at {
  std::size_t offset;
  FERRY_HOST_DEVICE void operator()(std::size_t i, fr::mdspan<const int, 1> x, fr::mdspan<int, 1> y) const {
    y(i) = x(i + offset);
  }
};
struct assert_small {
  std::size_t at;
  FERRY_HOST_DEVICE void operator()(std::size_t i, std::size_t j, std::size_t k, fr::mdspan<int, 3> y) const {
    y(i, j, k) = 1;
    FERRY_ASSERT(10000 * i + 100 * j + k != at, "planted");
  }
};
struct product {
  FERRY_HOST_DEVICE double operator()(std::size_t i, std::size_t j, fr::mdspan<const double, 2> a,
                                      fr::mdspan<const double, 2> b) const {
    return a(i, j) * b(i, j);
  }
};
struct element {
  FERRY_HOST_DEVICE float operator()(std::size_t i, fr::mdspan<const float, 1> a) const { return a(i); }
};
// A result that is no number, and has no default.
struct located_value {
  FERRY_HOST_DEVICE located_value(double v, std::size_t i) : value(v), at(i) {}
  double value;
  std::size_t at;
};
struct locate {
  FERRY_HOST_DEVICE located_value operator()(std::size_t i, fr::mdspan<const float, 1> a) const { return {a(i), i}; }
};
struct least {
  template <class T>
  static T identity() {
    return {1e300, ~std::size_t{0}};
  }
  FERRY_HOST_DEVICE located_value operator()(const located_value& a, const located_value& b) const {
    return b.value < a.value || (b.value == a.value && b.at < a.at) ? b : a;
  }
};

template <std::size_t Rank>
fr::mdspan<double, Rank> span_of(std::vector<double>& v, const fr::extents<Rank>& e) {
  return {v.data(), e, fr::row_major(e)};
}

bool same_bits(const std::vector<double>& a, const std::vector<double>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(double)) == 0;
}

class random_case {
 public:
  explicit random_case(std::size_t seed) : random_(seed) {}
  // Lengths around those of vectors and chunks, and any others.
  std::size_t length(std::size_t most) {
    static constexpr std::size_t special[] = {1, 2, 3, 7, 8, 31, 32, 33, 63, 64, 65, 95, 96, 97, 128};
    const std::size_t n = below(2) == 0 ? special[below(std::size(special))] : 1 + below(most);
    return std::min(n, most);
  }
  std::size_t below(std::size_t n) { return std::uniform_int_distribution<std::size_t>(0, n - 1)(random_); }
  std::vector<double> values(std::size_t n) {
    std::vector<double> v(n);
    for (double& x : v) x = std::uniform_real_distribution<double>(-1, 1)(random_);
    return v;
  }

 private:
  std::mt19937_64 random_;
};

// The inner region of arrays with one element around it, and columns at the end that loops leave alone.
template <class F, std::size_t Rank>
void check_inner(random_case& r, const fr::extents<Rank>& inner) {
  fr::extents<Rank> whole;
  for (std::size_t d = 0; d != Rank; ++d) whole[d] = inner[d] + 2 + (d + 1 == Rank ? r.below(3) : 0);
  std::vector<double> a = r.values(whole.count()), b = r.values(whole.count());
  fr::unified_array<double, Rank> x(whole), y(whole);
  std::copy(a.begin(), a.end(), fr::host(x).data());
  std::copy(b.begin(), b.end(), fr::host(y).data());
  fr::parallel_for(inner, F{1}, fr::in(x), fr::inout(y));
  const auto from = span_of(a, whole), to = span_of(b, whole);
  if constexpr (Rank == 1)
    for (std::size_t i = 0; i != inner[0]; ++i) F{1}(i, from, to);
  if constexpr (Rank == 2)
    for (std::size_t i = 0; i != inner[0]; ++i)
      for (std::size_t j = 0; j != inner[1]; ++j) F{1}(i, j, from, to);
  if constexpr (Rank == 3)
    for (std::size_t i = 0; i != inner[0]; ++i)
      for (std::size_t j = 0; j != inner[1]; ++j)
        for (std::size_t k = 0; k != inner[2]; ++k) F{1}(i, j, k, from, to);
  BOOST_REQUIRE_MESSAGE(same_bits(fr::to_vector(y), b), "a space of " << inner.text());
}

// Views without adjacent elements along the last axis, and rows of another array.
void check_views(random_case& r, std::size_t rows, std::size_t columns) {
  const fr::extents<2> inner(rows, columns), whole(rows + 2, columns + 2);
  std::vector<double> a = r.values(whole.count()), b = r.values(whole.count());
  fr::unified_array<double, 2> turned({whole[1], whole[0]}), wide({whole[0], 2 * whole[1]}, 7.);
  auto x = turned.transpose();
  auto y = wide.slice({fr::all_of, {0, wide.extent(1), 2}});
  for (std::size_t i = 0; i != whole[0]; ++i)
    for (std::size_t j = 0; j != whole[1]; ++j) {
      x(i, j) = a[i * whole[1] + j];
      y(i, j) = b[i * whole[1] + j];
    }
  fr::parallel_for(inner, mix_2{1}, fr::in(x), fr::inout(y));
  const auto from = span_of(a, whole), to = span_of(b, whole);
  for (std::size_t i = 0; i != rows; ++i)
    for (std::size_t j = 0; j != columns; ++j) mix_2{1}(i, j, from, to);
  BOOST_REQUIRE_MESSAGE(same_bits(fr::to_vector(y), b), "views of " << whole.text());
  for (std::size_t i = 0; i != whole[0]; ++i)
    for (std::size_t j = 1; j < wide.extent(1); j += 2) BOOST_REQUIRE(wide(i, j) == 7);
}

void check_tiles(random_case& r, std::size_t rows, std::size_t columns) {
  const fr::extents<2> e(rows, columns);
  std::vector<double> a = r.values(e.count()), b = r.values(e.count());
  fr::unified_array<double, 2> x(e), y(e);
  std::copy(a.begin(), a.end(), fr::host(x).data());
  std::copy(b.begin(), b.end(), fr::host(y).data());
  fr::parallel_for(fr::tiles{e, 1 + r.below(9), 1 + r.below(40)}, mix_tile{}, fr::in(x), fr::inout(y));
  for (std::size_t i = 0; i != b.size(); ++i) b[i] = 3 * a[i] - b[i];
  BOOST_REQUIRE(same_bits(fr::to_vector(y), b));
}

// The view has 2000 elements of an array of 3000: the loop reads behind it. Without checks that is not found.
std::string failure_behind_a_view() {
  fr::unified_array<int> x({3000}, 4), y({2000}, 0);
  x.name("temperature");
  return support::failure_of<fr::device_error>([&] {
    fr::parallel_for(2000, read_at{7}, fr::in(x.slice({{0, 2000}})), fr::out(y));
    fr::default_stream(fr::devices()[0]).synchronize();
    BOOST_TEST(fr::to_vector(y) == std::vector<int>(2000, 4));
  });
}

}  // namespace
}  // namespace cpu_loops

BOOST_AUTO_TEST_SUITE(cpu_loops)
using namespace cpu_loops;

BOOST_AUTO_TEST_CASE(random_loops_equal_plain_ones) {
  for (std::size_t seed = 0; seed != support::seeds(60); ++seed)
    for (const char* machine : machines) {
      BOOST_TEST_CONTEXT("FERRY_CPU=" << machine << ", seed " << seed) {
        const cpu_device cpu(machine);
        random_case r(seed);
        check_inner<mix_1>(r, fr::extents<1>(r.length(5000)));
        check_inner<mix_2>(r, fr::extents<2>(r.length(60), r.length(200)));
        check_inner<mix_3>(r, fr::extents<3>(r.length(12), r.length(14), r.length(100)));
        check_views(r, r.length(40), r.length(100));
        check_tiles(r, r.length(50), r.length(100));
      }
    }
}

BOOST_AUTO_TEST_CASE(elements_of_any_type_may_be_written) {
  for (const char* machine : machines) {
    const cpu_device cpu(machine);
    constexpr std::size_t rows = 21, columns = 103;
    fr::unified_array<std::size_t, 2> n({rows, columns}, std::size_t{5});
    fr::unified_array<char, 2> c({rows, columns}, char{1});
    fr::parallel_for({rows, columns}, count_up{}, fr::inout(n), fr::inout(c));
    for (std::size_t i = 0; i != rows; ++i)
      for (std::size_t j = 0; j != columns; ++j) {
        BOOST_REQUIRE(n(i, j) == 5 + 1000 * i + j);
        BOOST_REQUIRE(c(i, j) == static_cast<char>(1 + static_cast<char>(i + j)));
      }
  }
}

BOOST_AUTO_TEST_CASE(structs_of_arrays_are_the_same) {
  for (const char* machine : machines) {
    const cpu_device cpu(machine);
    constexpr std::size_t rows = 37, columns = 99;
    fr::unified_array<double, 2> a({rows, columns}), b({rows, columns}, 0.);
    for (std::size_t i = 0; i != rows; ++i)
      for (std::size_t j = 0; j != columns; ++j) a(i, j) = static_cast<double>(100 * i + j);
    fields<fr::unified_array> f{a.clone(), std::move(b), 0.25};
    fr::parallel_for({rows, columns}, scale_fields{}, fr::inout(f));
    for (std::size_t i = 0; i != rows; ++i)
      for (std::size_t j = 0; j != columns; ++j)
        BOOST_REQUIRE((*f.to)(i, j) == 0.25 * a(i, j) + static_cast<double>(j));

    fr::soa<float, int> s(1003);
    for (std::size_t i = 0; i != s.size(); ++i) s.member<0>()[i] = 1, s.member<1>()[i] = static_cast<int>(i);
    fr::parallel_for(s.size(), scale_members{}, fr::inout(s));
    for (std::size_t i = 0; i != s.size(); ++i) BOOST_REQUIRE(s.member<0>()[i] == 2 + static_cast<float>(i));
  }
}

BOOST_AUTO_TEST_CASE(checks_are_on_or_off) {
  const support::quiet_stderr quiet;
  for (const char* threads : {"threads=1;", "threads=2;"}) {
    {
      const cpu_device cpu(std::string(threads) + "check=off");
      BOOST_TEST(failure_behind_a_view() == "");
    }
    {
      const cpu_device cpu(std::string(threads) + "check=on");
      const std::string text = failure_behind_a_view();
      BOOST_TEST((has(text, "'temperature' is outside its extent 2000") && has(text, "called with index 1993")), text);
    }
    {
      const cpu_device cpu(threads);  // as this source is compiled
      BOOST_TEST((failure_behind_a_view() == "") == !FERRY_CHECK_INDICES);
    }
    const fr::simulation sim(std::string(threads) + "check=off");  // simulated devices check indices always
    BOOST_TEST(has(failure_behind_a_view(), "is outside its extent 2000"));
  }
}

BOOST_AUTO_TEST_CASE(all_checks_of_the_environment_check_indices) {
  const support::quiet_stderr quiet;
  const char* const now = std::getenv("FERRY_CHECK");
  const std::string before = now ? now : "";
  ::setenv("FERRY_CHECK", "on", 1);
  std::string text;
  {
    const cpu_device cpu("threads=2;check=off");
    text = failure_behind_a_view();
  }
  now ? ::setenv("FERRY_CHECK", before.c_str(), 1) : ::unsetenv("FERRY_CHECK");
  BOOST_TEST(has(text, "is outside its extent 2000"), text);
}

// Elements that are not adjacent are checked, because such loops gain nothing.
BOOST_AUTO_TEST_CASE(strided_views_are_checked) {
  const support::quiet_stderr quiet;
  const cpu_device cpu("threads=2;check=off");
  fr::unified_array<int> x({6000}, 4), y({2000}, 0);
  const std::string text = support::failure_of<fr::device_error>([&] {
    fr::parallel_for(2000, read_at{7}, fr::in(x.slice({{0, 4000, 2}})), fr::out(y));
    fr::default_stream(fr::devices()[0]).synchronize();
  });
  BOOST_TEST(has(text, "is outside its extent 2000"), text);
}

BOOST_AUTO_TEST_CASE(assertions_name_the_index_without_checks) {
  const support::quiet_stderr quiet;
  for (const char* machine : {"threads=1;check=off", "threads=2;check=off", "threads=3;check=on"}) {
    const cpu_device cpu(machine);
    fr::unified_array<int, 3> y({17, 9, 70}, 0);
    check_error<fr::device_error>(
        [&] {
          fr::parallel_for({17, 9, 70}, assert_small{130569}, fr::inout(y));
          fr::default_stream(fr::devices()[0]).synchronize();
        },
        {"planted", "called with index (13, 5, 69)"});
  }
}

// Memory that no thread has written has no pages: the threads that fill it place them.
BOOST_AUTO_TEST_CASE(threads_touch_new_memory_first) {
  constexpr std::size_t bytes = std::size_t{32} << 20;
  const auto touched = [](const fr::device_array<char>& a) {
    const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
    const auto first = (reinterpret_cast<std::uintptr_t>(a.unsynchronized_data()) / page + 1) * page;
    std::vector<unsigned char> pages(bytes / page - 2);
    BOOST_REQUIRE(::mincore(reinterpret_cast<void*>(first), pages.size() * page, pages.data()) == 0);
    return static_cast<double>(std::count_if(pages.begin(), pages.end(), [](unsigned char p) { return p & 1; })) /
           static_cast<double>(pages.size());
  };
  {
    const cpu_device cpu("threads=2");
    fr::device_array<char> a({bytes});
    BOOST_TEST(touched(a) < 0.1);
    fr::fill(a, 1);
    fr::synchronize();
    BOOST_TEST(touched(a) == 1);
  }
  const cpu_device cpu("threads=2;check=on");
  BOOST_TEST(touched(fr::device_array<char>({bytes})) == 1);
}

// Neither threads nor checks change the bits of a sum; lines are shorter and longer than the lanes of a sum.
BOOST_AUTO_TEST_CASE(sums_depend_on_the_space_only) {
  for (std::size_t seed = 0; seed != support::seeds(20); ++seed) {
    random_case r(seed);
    const std::size_t rows = r.length(100), columns = r.length(300);
    std::vector<double> a = r.values(rows * columns), b = r.values(rows * columns);
    std::vector<double> sums;
    std::vector<std::size_t> places;
    double exact = 0, bound = 0;
    for (std::size_t i = 0; i != a.size(); ++i) exact += a[i] * b[i], bound += std::abs(a[i] * b[i]);
    for (const char* machine : machines) {
      const cpu_device cpu(machine);
      fr::unified_array<double, 2> x({rows, columns}), y({rows, columns});
      std::copy(a.begin(), a.end(), fr::host(x).data());
      std::copy(b.begin(), b.end(), fr::host(y).data());
      sums.push_back(fr::parallel_reduce({rows, columns}, product{}, fr::plus{}, fr::in(x), fr::in(y)).value());
      fr::unified_array<float> z({rows * columns});
      for (std::size_t i = 0; i != z.size(); ++i) z[i] = static_cast<float>(std::round(20 * a[i]));
      const float most = fr::parallel_reduce(z.size(), element{}, fr::maximum{}, fr::in(z)).value();
      BOOST_TEST(most == *std::max_element(z.begin(), z.end()));
      const located_value found = fr::parallel_reduce(z.size(), locate{}, least{}, fr::in(z)).value();
      places.push_back(found.at);
      BOOST_TEST(found.at == static_cast<std::size_t>(std::min_element(z.begin(), z.end()) - z.begin()));
    }
    BOOST_TEST(std::abs(sums[0] - exact) <= 1e-14 * bound + 1e-300);
    for (const double s : sums) BOOST_TEST(std::memcmp(&s, &sums[0], sizeof s) == 0);
    for (const std::size_t at : places) BOOST_TEST(at == places[0]);
  }
}

BOOST_AUTO_TEST_SUITE_END()
