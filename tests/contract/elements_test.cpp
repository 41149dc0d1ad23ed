// Single elements as destinations and operands, in stream order: reductions into existing elements, least and greatest
// of scalars and numbers.
#include <cmath>
#include <random>

#include "contract/fixture.hpp"
#include "ferry/core/detail/pools/runtime_pools.hpp"
#include "ferry/core/detail/runtime/peer.hpp"
#include "support/busy_stream.hpp"
#include "support/seeds.hpp"

using namespace contract;

namespace contract_of_elements {
namespace {

struct value_of {
  FERRY_HOST_DEVICE double operator()(std::size_t i, const double* x) const { return x[i]; }
};
struct product_of {
  FERRY_HOST_DEVICE double operator()(std::size_t i, std::size_t j, const double* x, const double* y) const {
    return x[i] + 2 * y[j];
  }
};
struct count_even {
  FERRY_HOST_DEVICE bool operator()(std::size_t i) const { return i % 2 == 0; }
};
struct add_element {
  FERRY_HOST_DEVICE void operator()(std::size_t i, fr::mdspan<const double, 0> s, double* x) const { x[i] += s(); }
};

// Random programs on two arrays and a scalar, and the same on plain memory. All values are small integers: exact.
template <memory_kind Kind>
class program {
 public:
  explicit program(std::size_t seed) : random_(seed) {
    const auto all = fr::devices();
    for (std::size_t k = 0; k != 2; ++k) {
      for (double& x : expected_[k]) x = static_cast<double>(below(9));
      arrays_.push_back(fr::basic_array<double, 1, Kind>::from(std::vector<double>(expected_[k]), all[k % all.size()]));
    }
    for (int k = 0; k != 3; ++k) streams_.emplace_back(all[below(all.size())]);
  }
  void run(int steps) {
    fr::scalar<double> kept = fr::sum(arrays_[0]);
    double kept_value = sum(0);
    for (int n = 0; n != steps; ++n) {
      const std::size_t a = below(2), b = below(2), i = below(size), j = below(size);
      auto &to = arrays_[a], &from = arrays_[b];
      const fr::stream_ref s = streams_[below(3)];
      double& to_value = expected_[a][i];
      switch (below(9)) {
        case 0: fr::assign(s, fr::element(to, i), fr::sum(from)), to_value = sum(b); break;
        case 1:
          fr::element(to, i) = fr::max(from), to_value = *std::max_element(expected_[b].begin(), expected_[b].end());
          break;
        case 2: fr::element(to, i) = fr::element(from, j), to_value = expected_[b][j]; break;
        case 3: fr::element(to, i) = fr::min(kept, 5), to_value = std::min(kept_value, 5.); break;
        case 4:
          kept = fr::scalar<double>(fr::max(fr::element(from, j), 3)), kept_value = std::max(expected_[b][j], 3.);
          break;
        case 5: fr::element(to, i) = static_cast<double>(n % 7), to_value = n % 7; break;
        case 6:
          fr::parallel_reduce_into(s, fr::element(to, i), size, value_of{}, fr::minimum{}, fr::in(from));
          to_value = *std::min_element(expected_[b].begin(), expected_[b].end());
          break;
        case 7:
          fr::parallel_reduce_into(fr::element(to, i), {3, 4}, product_of{}, fr::maximum{}, fr::in(from), fr::in(to));
          to_value = product(b, a);
          break;
        case 8:
          fr::parallel_for(s, size, add_element{}, fr::in(fr::element(from, j)), fr::inout(arrays_[1 - b]));
          for (double& x : expected_[1 - b]) x += expected_[b][j];
          break;
      }
      for (std::size_t k = 0; k != 2; ++k)
        if (sum(k) > 1e6)
          arrays_[k] = fr::basic_array<double, 1, Kind>(fr::extents<1>(size), 1.0), expected_[k].assign(size, 1.0);
    }
    for (std::size_t k = 0; k != 2; ++k) CHECK_EQUAL(fr::to_vector(arrays_[k]), expected_[k]);
    BOOST_TEST(kept.value() == kept_value);
  }

 private:
  static constexpr std::size_t size = 7;
  std::size_t below(std::size_t n) { return random_() % n; }
  double sum(std::size_t k) const {
    double all = 0;
    for (const double x : expected_[k]) all += x;
    return all;
  }
  double product(std::size_t x, std::size_t y) const {
    double most = 0;
    for (std::size_t i = 0; i != 3; ++i)
      for (std::size_t j = 0; j != 4; ++j) most = std::max(most, expected_[x][i] + 2 * expected_[y][j]);
    return most;
  }
  std::mt19937_64 random_;
  std::array<std::vector<double>, 2> expected_{std::vector<double>(size), std::vector<double>(size)};
  std::vector<fr::basic_array<double, 1, Kind>> arrays_;
  std::vector<fr::stream> streams_;
};

}  // namespace
}  // namespace contract_of_elements

BOOST_FIXTURE_TEST_SUITE(contract_of_elements, clean)

BOOST_AUTO_TEST_CASE(random_programs) {
  for (std::size_t seed = 0; seed < support::seeds(150); ++seed) {
    const char* const peers = seed % 3 == 0 ? ";peers=none" : "";
    fr::simulation sim("devices=2;schedule=random:" + std::to_string(seed) + peers);
    sim.get().peers().kernels(fr::detail::peer_kernels::stage);
    program<memory_kind::device>(seed).run(25);
    program<memory_kind::unified>(seed).run(25);
  }
}

BOOST_AUTO_TEST_CASE_TEMPLATE(random_programs_on_this_machine, K, kinds) {
  for (std::size_t seed = 0; seed < 4; ++seed) program<K::value>(seed).run(25);
}

BOOST_AUTO_TEST_CASE(reductions_of_other_types) {
  fr::device_array<std::int64_t, 2> n({3, 2}, std::int64_t{-1});
  fr::device_array<std::uint64_t> counts({2}, std::uint64_t{9});
  const auto x = counted<int, 1, memory_kind::device>(fr::extents<1>(1000));
  fr::element(n, 1, 0) = fr::sum(x);
  fr::element(n, 2, 1) = fr::argmax(x);
  fr::parallel_reduce_into(fr::element(counts, 1), 1001, count_even{}, fr::plus{});
  CHECK_EQUAL(fr::to_vector(n), (std::vector<std::int64_t>{-1, -1, 499500, -1, -1, 999}));
  CHECK_EQUAL(fr::to_vector(counts), (std::vector<std::uint64_t>{9, 501}));
  auto column = n.slice({fr::all_of, {1, 2}});
  fr::element(column, 0, 0) = fr::lazy(fr::min(x)) + 5;  // an expression of rank 0
  BOOST_TEST(fr::to_vector(n)[1] == 5);
  fr::parallel_reduce_into(fr::element(counts, 0), 0, count_even{}, fr::plus{});
  BOOST_TEST(fr::to_vector(counts)[0] == 0u);
  fr::scalar<std::uint64_t> again;
  fr::parallel_reduce_into(fr::element(again.as_array()), {10}, count_even{}, fr::plus{});  // into an existing scalar
  BOOST_TEST(again.value() == 5u);
}

// Nothing waits, and the result takes no memory.
BOOST_AUTO_TEST_CASE(on_a_busy_stream) {
  fr::simulation sim("devices=1;schedule=random:1");
  const fr::stream s;
  const auto x = fr::device_array<double>::from({1, 2, 3});
  fr::device_array<double> y({8}, 0.0);
  s.synchronize(), fr::default_stream(y.device()).synchronize();
  fr::scalar<double> kept(y.device());
  support::busy_stream busy(s);
  const auto made = [&] { return sim.get().pools().statistics().made; };
  const auto before = made();
  fr::assign(s, fr::element(y, 3), fr::sum(x));
  fr::parallel_reduce_into(s, fr::element(y, 4), 3, value_of{}, fr::plus{}, fr::in(x));
  fr::element(y, 5) = fr::element(y, 4);
  fr::element(y, 6) = fr::max(fr::element(y, 3), 100);
  BOOST_TEST(made() == before);
  const fr::scalar<double> largest = fr::max(fr::element(y, 3), 2.5);
  BOOST_TEST(busy.is_busy());
  BOOST_TEST(!y.is_ready());
  BOOST_TEST(!largest.is_ready());
  busy.release();
  CHECK_EQUAL(fr::to_vector(y), (std::vector<double>{0, 0, 0, 6, 6, 6, 100, 0}));
  BOOST_TEST(largest.value() == 6);
}

BOOST_AUTO_TEST_CASE(least_and_greatest_of_scalars) {
  const auto x = fr::device_array<double>::from({1, 5, 3});
  const fr::scalar<double> s = fr::sum(x);
  const fr::scalar<std::int64_t> count = fr::parallel_reduce(6, count_even{}, fr::plus{}).value() > 2
                                             ? fr::scalar<std::int64_t>(fr::argmax(x))
                                             : fr::scalar<std::int64_t>();
  const fr::scalar<double> at_least = fr::max(s, 1.0), at_most = fr::min(2, s);
  BOOST_TEST(at_least.value() == 9);
  BOOST_TEST(at_most.value() == 2);
  const double now = fr::max(fr::min(s, 4.0), count);
  BOOST_TEST(now == 4);
  BOOST_TEST(double(fr::clamp(s, 1, 3)) == 3);
  BOOST_TEST(double(fr::max(fr::sum(x), fr::max(x))) == 9);
  BOOST_TEST(std::int64_t(fr::max(count, 0)) == 1);
  fr::unified_array<double> y({3}, 18.0);
  y /= fr::max(s, 1e-30);  // no wait
  CHECK_EQUAL(fr::to_vector(y), std::vector<double>(3, 2.0));
  const double none = std::numeric_limits<double>::quiet_NaN();
  BOOST_TEST(std::isnan(double(fr::max(s, none))));
  BOOST_TEST(double(fr::fmax(s, none)) == 9);
  // The CPU's functions take numbers, or the type that they are named with.
  BOOST_TEST(std::max(double(s), 1.0) == 9);
  BOOST_TEST(std::min<double>(s, 1.0) == 1);
  BOOST_TEST(std::max(s, at_most).value() == 9);
}

BOOST_AUTO_TEST_CASE(wrong_calls) {
  fr::device_array<double, 2> y({3, 4}, 0.0);
  y.name("energies");
  check_error<fr::invalid_argument>([&] { fr::element(y, 1, 4) = 1; },
                                    {"index 4", "'energies'", "extent 4", "elements_test.cpp:"});
  check_error<fr::invalid_argument>([&] { fr::element(y, -1, 0) = 1; }, {"index -1", "'energies'"});
  const fr::device_array<double> x;
  check_error<fr::invalid_argument>([&] { fr::element(y, 1, 1) = fr::max(x); },
                                    {"over no elements", "elements_test.cpp:"});
  auto e = fr::element(y, 1, 1);
  y.free();
  check_error<fr::use_after_free>([&] { e = 1; }, {"'energies'", "elements_test.cpp:"});
  check_error<fr::use_after_free>(
      [&] { fr::parallel_reduce_into(e, 3, value_of{}, fr::plus{}, fr::unified_array<double>({3}, 1.0)); },
      {"'energies'", "elements_test.cpp:"});
}

BOOST_AUTO_TEST_SUITE_END()
