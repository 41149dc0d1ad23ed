// Sums of products, whose products are not stored: the same bits as with stored ones, for any operands.
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <cstdint>
#include <ferry/core.hpp>
#include <random>
#include <string>
#include <tuple>
#include <vector>

#include "interpreter/loop_table.hpp"
#include "interpreter/reduction_loops.hpp"
#include "support/cpu_device.hpp"

namespace reductions_products {
namespace {

namespace fr = ferry;

constexpr const char* machines[] = {"threads=1", "threads=3;check=off"};

template <class T>
fr::unified_array<T> random_array(std::size_t n, unsigned seed) {
  std::mt19937 dice(seed);
  fr::unified_array<T> a({n}, T(0));
  for (T& x : a)
    if constexpr (std::is_integral_v<T>)
      x = static_cast<T>(dice()) - 1000000;
    else
      x = std::uniform_real_distribution<T>(-1, 2)(dice);
  return a;
}

// The last operation of the second program is no product, so its products are stored. Both have equally many steps, so
// their blocks are the same, and the divisions by 1 change nothing.
template <class T, class A, class B>
void compare(const A& a, const B& b, const std::string& what) {
  const T one(1), three(3);
  BOOST_TEST(T(fr::sum((a / one) * b)) == T(fr::sum((a * b) / one)), what);
  BOOST_TEST(T(fr::sum((a / one) * a)) == T(fr::sum((a * a) / one)), what);
  BOOST_TEST(T(fr::sum((a / one) * three)) == T(fr::sum((a * three) / one)), what);
}

}  // namespace
}  // namespace reductions_products

BOOST_AUTO_TEST_SUITE(reductions_products)

using numbers = std::tuple<float, double, std::int64_t>;
BOOST_AUTO_TEST_CASE_TEMPLATE(sums_have_the_bits_of_stored_products, T, numbers) {
  for (const char* how : machines) {
    const support::cpu_device cpu(how);
    for (const std::size_t n :
         std::initializer_list<std::size_t>{1, 3, 31, 32, 33, 511, 512, 513, 1000, 4096, 10007, 1000003}) {
      const auto a = random_array<T>(n, 1), b = random_array<T>(n, 2);
      const std::string of = how + std::string(", ") + std::to_string(n);
      compare<T>(a, b, of);
      compare<T>(a.slice({0, n, 2}), b.slice({0, n, 2}), of + ", every second");
      compare<T>(a.reshape(fr::extents<2>{1, n}), b.reshape(fr::extents<2>{1, n}), of + ", as a row");
    }
  }
}

// A product that another result needs is stored for that one.
BOOST_AUTO_TEST_CASE(a_product_with_two_uses) {
  for (const char* how : machines) {
    const support::cpu_device cpu(how);
    const auto a = random_array<double>(5000, 1), b = random_array<double>(5000, 2);
    const fr::unified_array<double> stored(a * b);
    const auto [sum, most, norm] = fr::reduce_all(fr::sum(a * b), fr::max(a * b), fr::norm(a * b));
    double expected = 0, greatest = stored[0], squares = 0;
    for (const double p : stored) expected += p, greatest = std::max(greatest, p), squares += p * p;
    BOOST_TEST(sum.value() == expected, boost::test_tools::tolerance(1e-12));
    BOOST_TEST(most.value() == greatest);
    BOOST_TEST(norm.value() == std::sqrt(squares), boost::test_tools::tolerance(1e-12));
  }
}

// Both builds of the loops exist or lack together, and give the same bits.
BOOST_AUTO_TEST_CASE(builds_for_avx2) {
  using namespace ferry::detail;
  BOOST_TEST((avx2_loops() == nullptr) == (avx2_reduction_loops() == nullptr));
  if (!avx2_loops()) {
    BOOST_TEST_MESSAGE("this processor or this build has no AVX2");
    return;
  }
  constexpr int multiply = static_cast<int>(operation::multiply), type = static_cast<int>(scalar_type::float64);
  BOOST_TEST((avx2_loops()->operations[multiply][type] != nullptr));
  const auto sum = [](const reduction_table& t, const double* x, const double* y, std::size_t n) {
    double to = 0, unused = 0;
    t.reduce[static_cast<int>(reduction_operation::sum)][type].fold_products(
        {reinterpret_cast<std::byte*>(&to), reinterpret_cast<std::byte*>(&unused)},
        reinterpret_cast<const std::byte*>(x), reinterpret_cast<const std::byte*>(y), n);
    return to;
  };
  std::mt19937 dice(3);
  std::uniform_real_distribution<double> number(-1, 1);
  std::vector<double> x(2000), y(2000);
  for (std::size_t i = 0; i != x.size(); ++i) x[i] = number(dice), y[i] = number(dice);
  for (std::size_t n = 1; n <= x.size(); n += 37)
    BOOST_TEST(sum(*avx2_reduction_loops(), x.data(), y.data(), n) ==
               sum(portable_reduction_loops(), x.data(), y.data(), n));
}

BOOST_AUTO_TEST_SUITE_END()
