// Expressions over more than 2^31 elements on CUDA devices, interpreted and compiled.
// as: host
#include <boost/test/unit_test.hpp>
#include <cstdint>
#include <vector>

#include "cuda_fixture.hpp"
#include "expressions_fixture.hpp"
#include "ferry/core/fill.hpp"
#include "ferry/core/reduce.hpp"

namespace cuda_large_expressions {
namespace {

namespace fr = ferry;
using bytes = fr::device_array<std::uint8_t, 1>;

constexpr std::size_t count = (std::size_t{1} << 31) + 7;

std::uint8_t element(std::size_t i) { return static_cast<std::uint8_t>(i % 251); }
bytes numbers() {
  bytes a({count});
  a = fr::cast<std::uint8_t>(fr::index(0) % 251);
  return a;
}

// Compares the ends, the elements around 2^31 and some between with f(index).
template <class F>
bool agrees(const bytes& y, F f) {
  constexpr std::size_t part = 1000;
  for (const std::size_t begin : {std::size_t{0}, count / 3, (std::size_t{1} << 31) - part / 2, count - part}) {
    const std::size_t end = begin + part < count ? begin + part : count;
    const std::vector<std::uint8_t> got = fr::to_vector(y.slice({begin, end}));
    for (std::size_t i = begin; i != end; ++i)
      if (got[i - begin] != f(i)) return false;
  }
  return true;
}

// Two arrays, and what a transposition or a scan needs besides.
const boost::unit_test::precondition has_memory{cuda_test::needs_device_memory{std::size_t{10} << 30}};

}  // namespace

BOOST_AUTO_TEST_SUITE(cuda_large_expressions, *has_memory)

BOOST_AUTO_TEST_CASE(elements) {
  const bytes a = numbers();
  BOOST_TEST(agrees(a, element));
  bytes y({count});
  const auto plus_index = [](std::size_t i) { return static_cast<std::uint8_t>(element(i) + i % 5); };
  y = a + fr::cast<std::uint8_t>(fr::index(0) % 5);
  BOOST_TEST(agrees(y, plus_index));
  fr::fill(y, std::uint8_t(0));
  BOOST_TEST(fr::precompile(a + fr::cast<std::uint8_t>(fr::index(0) % 5)));
  y = a + fr::cast<std::uint8_t>(fr::index(0) % 5);
  BOOST_TEST(agrees(y, plus_index));
  BOOST_TEST(std::uint64_t(fr::count(y != a + fr::cast<std::uint8_t>(fr::index(0) % 5))) == 0u);
}

BOOST_AUTO_TEST_CASE(backwards) {
  const bytes a = numbers();
  bytes y({count});
  y = a.slice({{0, count, -1}}) + std::uint8_t(1);
  BOOST_TEST(agrees(y, [](std::size_t i) { return static_cast<std::uint8_t>(element(count - 1 - i) + 1); }));
}

BOOST_AUTO_TEST_CASE(transposed) {
  constexpr std::size_t rows = 46341, columns = 46342;  // more than 2^31
  fr::device_array<std::uint8_t, 2> a({rows, columns}), y({columns, rows});
  a = fr::cast<std::uint8_t>((7 * fr::index(0) + fr::index(1)) % 253);
  y = a.transpose() + std::uint8_t(1);
  const auto expected = [] { return fr::cast<std::uint8_t>((7 * fr::index(1) + fr::index(0)) % 253 + 1); };
  BOOST_TEST(std::uint64_t(fr::count(y != expected())) == 0u);
  const std::vector<std::uint8_t> last = fr::to_vector(y.slice({{columns - 1, columns}, {rows - 2, rows}}));
  BOOST_TEST(last[1] == (7 * (rows - 1) + columns - 1) % 253 + 1);
  BOOST_TEST(last[0] == (7 * (rows - 2) + columns - 1) % 253 + 1);
}

BOOST_AUTO_TEST_CASE(reductions) {
  bytes a = numbers();
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i != 251; ++i) sum += i;
  sum *= count / 251;
  for (std::size_t i = 0; i != count % 251; ++i) sum += i;
  BOOST_TEST(std::uint64_t(fr::sum(a)) == sum);
  fr::fill(a.slice({count - 3, count - 2}), std::uint8_t(255));
  BOOST_TEST(std::int64_t(fr::argmax(a)) == static_cast<std::int64_t>(count - 3));
  bytes most({count});
  most = fr::inclusive_scan(a, fr::maximum{}, 0);
  BOOST_TEST(agrees(most, [](std::size_t i) { return i < 251 ? element(i) : i < count - 3 ? 250 : 255; }));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace cuda_large_expressions
