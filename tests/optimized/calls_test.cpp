// Calls of functors in optimized loops of the CPU: what they may not do to each other.
#include <boost/test/unit_test.hpp>

#include <ferry/core.hpp>
#include <vector>

#include "support/cpu_device.hpp"

namespace fr = ferry;

namespace optimized_calls {
namespace {

constexpr std::size_t n = 3200;

// The index into the local array depends on the value.
struct local_array {
  FERRY_HOST_DEVICE long operator()(long x) const {
    long t[2];
    t[x & 1] = x;
    t[1 - (x & 1)] = 3 * x;
    return t[x >> 2 & 1];
  }
  FERRY_HOST_DEVICE void operator()(std::size_t i, fr::mdspan<const long, 1> a, fr::mdspan<long, 1> b) const {
    b(i) = (*this)(a(i));
  }
};
FERRY_FUNCTION(long, with_local_array, (long x), {
  long t[2];
  t[x & 1] = x;
  t[1 - (x & 1)] = 3 * x;
  return t[x >> 2 & 1];
});

struct point {
  double x, y;
};
// Reads by `t` what it wrote by `s`.
struct one_array_twice {
  FERRY_HOST_DEVICE void operator()(std::size_t i, fr::mdspan<point, 1> s, fr::mdspan<const point, 1> t,
                                    fr::mdspan<double, 1> b) const {
    s(i).x = 2 * s(i).y;
    const double v = t(i).x;
    s(i).y = v + 1;
    b(i) = v;
  }
};

std::vector<long> numbers() {
  std::vector<long> all(n);
  for (std::size_t i = 0; i != n; ++i) all[i] = static_cast<long>(i * 40503 % 1009);
  return all;
}
std::vector<long> expected() {
  std::vector<long> all = numbers();
  for (long& x : all) x = local_array{}(x);
  return all;
}

}  // namespace
}  // namespace optimized_calls

BOOST_AUTO_TEST_SUITE(optimized_calls)

BOOST_AUTO_TEST_CASE(calls_do_not_share_local_arrays) {
  for (const char* options : {"threads=1;check=off", "threads=2;check=off", "threads=2;check=on"}) {
    const support::cpu_device cpu(options);
    const auto a = fr::device_array<long>::from(numbers());
    fr::device_array<long> by_loop({n}), by_function({n}), by_transform({n});
    fr::parallel_for(n, local_array{}, fr::in(a), fr::out(by_loop));
    by_function = with_local_array(a);
    fr::transform(fr::out(by_transform), local_array{}, fr::in(a));
    BOOST_TEST((fr::to_vector(by_loop) == expected()));
    BOOST_TEST((fr::to_vector(by_function) == expected()));
    BOOST_TEST((fr::to_vector(by_transform) == expected()));
  }
}

BOOST_AUTO_TEST_CASE(one_array_may_be_two_arguments) {
  for (const char* options : {"threads=1;check=off", "threads=2;check=on"}) {
    const support::cpu_device cpu(options);
    std::vector<point> points(n);
    for (std::size_t i = 0; i != n; ++i) points[i] = {1, static_cast<double>(i)};
    auto s = fr::device_array<point>::from(points);
    fr::device_array<double> b({n});
    fr::parallel_for(n, one_array_twice{}, fr::inout(s), fr::in(s), fr::out(b));
    const std::vector<double> found = fr::to_vector(b);
    std::size_t wrong = 0;
    for (std::size_t i = 0; i != n; ++i) wrong += found[i] != 2 * static_cast<double>(i);
    BOOST_TEST(wrong == 0U);
  }
}

BOOST_AUTO_TEST_SUITE_END()
