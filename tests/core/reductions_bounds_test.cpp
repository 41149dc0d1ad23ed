// The error of floating point sums, the same bits for any number of threads, and both builds of the loops.
#include <cmath>
#include <cstring>
#include <random>
#include <vector>

#include "expressions_fixture.hpp"
#include "ferry/core/reduce.hpp"
#include "interpreter/reduce.hpp"
#include "interpreter/reduction_loops.hpp"
#include "reductions/bound_reduction.hpp"

namespace reductions_bounds {
namespace {

namespace fr = ferry;
using namespace ferry::detail;

struct on_a_simulated_device {
  fr::simulation sim{"devices=1"};
};

template <class T>
std::vector<T> random_numbers(std::size_t n, double low, double high, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<T> v(n);
  for (T& x : v) x = static_cast<T>(std::uniform_real_distribution<double>(low, high)(random));
  return v;
}

// docs/reductions.md: at most (32 + log2 n) u sum |x|.
template <class T>
void check_sum(std::size_t n, double low, double high) {
  const std::vector<T> v = random_numbers<T>(n, low, high, static_cast<unsigned>(n));
  long double exact = 0, size = 0;
  for (const T x : v) exact += x, size += std::fabs(x);
  const long double u = sizeof(T) == 4 ? 0x1p-24L : 0x1p-53L;
  const T found = fr::sum(expressions_test::array_of(v));
  const long double bound = (32 + std::log2(static_cast<long double>(n))) * u * size;
  BOOST_TEST(std::fabs(found - exact) <= bound, "n = " << n << ": off by " << std::fabs(found - exact));
  // Sums of positive numbers: far better than adding one after the other.
  if (low > 0 && n > 100000) BOOST_TEST(std::fabs(found - exact) <= 8 * u * exact);
}

// A reduction of a program over memory of this test, on any number of threads.
std::vector<std::byte> result_by(unsigned threads, const reduction_program& r, std::size_t bytes) {
  fr::host_array<std::byte, 1> memory({bytes});
  program_operand to;
  to.owner = memory.owner();
  to.data = memory.unsynchronized_data();
  to.shape = r.shape();
  to.type = r.result;
  auto stride = static_cast<std::ptrdiff_t>(size_of(r.result));
  for (std::size_t d = 0; d != to.shape.rank; ++d)
    to.stride_bytes[d] = stride, stride *= static_cast<std::ptrdiff_t>(to.shape.extent[d]);
  const bound_result result{&to, r.program.root, &r};
  const bound_reduction bound(r.program, {&result, 1});
  reduce_on_cpu(bound.view(), threads);
  return fr::to_vector(memory);
}

}  // namespace
}  // namespace reductions_bounds

using namespace reductions_bounds;

BOOST_FIXTURE_TEST_SUITE(reductions_bounds_of, on_a_simulated_device)

BOOST_AUTO_TEST_CASE(sums_are_within_their_bound) {
  for (const std::size_t n : {1, 2, 31, 32, 33, 511, 512, 2049, 100003, 1 << 20}) {
    check_sum<float>(n, 0.5, 1), check_sum<float>(n, -1, 1);
    check_sum<double>(n, 0.5, 1), check_sum<double>(n, -1, 1);
  }
}

BOOST_AUTO_TEST_CASE(sums_of_equal_floats_do_not_stop) {
  fr::device_array<float, 1> a({std::size_t{1} << 25});
  a = 1.f + 0.f * fr::index(0);
  BOOST_TEST(float(fr::sum(a)) == 0x1p25f);  // one by one, float stops at 2^24
}

BOOST_AUTO_TEST_CASE(results_do_not_depend_on_the_number_of_threads) {
  const std::size_t rows = 1500, columns = 1100;
  const std::vector<float> v = random_numbers<float>(rows * columns, -1, 1, 3);
  fr::host_array<float, 2> a({rows, columns});
  std::copy(v.begin(), v.end(), a.unsynchronized_data());
  const int first[] = {0}, second[] = {1};
  const axis_list lists[] = {{{}, true}, {first}, {second}};
  for (const axis_list& axes : lists)
    for (const reduction_function f :
         {reduction_function::sum, reduction_function::var, reduction_function::max, reduction_function::argmin}) {
      const expression_program p = array_program(operand_of(a));
      const reduction_program r = reduce_program(f, p, scalar_type::float32, axes);
      std::size_t bytes = size_of(r.result);
      for (std::size_t d = 0; d != r.shape().rank; ++d) bytes *= r.shape().extent[d];
      const auto one = result_by(1, r, bytes);
      for (const unsigned threads : {2u, 3u, 8u})
        BOOST_TEST((result_by(threads, r, bytes) == one), text_of(r) << " differs on " << threads << " threads");
    }
}

BOOST_AUTO_TEST_CASE(weights_are_added_in_the_same_order_on_any_number_of_threads) {
  const std::vector<float> v = random_numbers<float>(3000000, -1, 1, 9);
  fr::host_array<float, 1> w({v.size()});
  std::copy(v.begin(), v.end(), w.unsynchronized_data());
  const expression_program weights = array_program(operand_of(w));
  expression_program bins = fr::cast<int>(w * 50.f).program();
  const reduction_program r = count_program(std::move(bins), 40, &weights);
  const auto one = result_by(1, r, 40 * 8);
  for (const unsigned threads : {2u, 5u}) BOOST_TEST((result_by(threads, r, 40 * 8) == one));
}

BOOST_AUTO_TEST_CASE(both_builds_of_the_loops_give_the_same_bits) {
  const reduction_table* const wide = avx2_reduction_loops();
  if (!wide) {
    BOOST_TEST_MESSAGE("this processor or this build has no AVX2");
    BOOST_TEST(portable_reduction_loops().reduce[0][static_cast<int>(scalar_type::float32)].fold != nullptr);
    return;
  }
  std::mt19937_64 random(5);
  std::size_t compared = 0;
  for (int o = 0; o != reduction_operations; ++o)
    for (int t = 0; t != scalar_types; ++t) {
      const reduction_loops &a = portable_reduction_loops().reduce[o][t], &b = wide->reduce[o][t];
      BOOST_TEST((a.fold == nullptr) == (b.fold == nullptr));
      if (!a.fold) continue;
      const auto type = static_cast<scalar_type>(t);
      const std::size_t n = 1013;
      alignas(64) std::byte x[1024 * 16];
      for (std::size_t i = 0; i != n * size_of(real_of(type)) / size_of(real_of(type)) * (is_complex(type) ? 2 : 1);
           ++i) {
        std::byte* const at = x + i * size_of(real_of(type));
        const double value = static_cast<double>(random() % 20001) / 10000 - 1;
        if (real_of(type) == scalar_type::float32) {
          const auto f = static_cast<float>(value);
          std::memcpy(at, &f, 4);
        } else if (real_of(type) == scalar_type::float64) {
          std::memcpy(at, &value, 8);
        } else {
          const std::uint64_t bits = type == scalar_type::boolean ? random() % 2 : random();
          std::memcpy(at, &bits, size_of(type));
        }
      }
      std::vector<std::byte> found[2];
      for (int which = 0; which != 2; ++which) {
        const reduction_loops& loops = which == 0 ? a : b;
        std::vector<std::byte> value(n * 16), second(n * 16);
        const accumulators all{value.data(), second.data()};
        loops.clear(all, n);
        loops.fold(all, x, n, 0, 0);
        loops.fold_each({value.data() + size_of(type), second.data() + 8}, x, 300, 5, 0);
        loops.fold_runs({value.data() + 400 * size_of(type), second.data() + 400 * 8}, x, 10, 100);
        loops.fold_groups({value.data() + 500 * size_of(type), second.data() + 500 * 8}, x, 2, 50, 10);
        found[which] = value;
        found[which].insert(found[which].end(), second.begin(), second.end());
      }
      BOOST_TEST((found[0] == found[1]), "operation " << o << " of " << name_of(type));
      ++compared;
    }
  BOOST_TEST(compared > 30u);
}

BOOST_AUTO_TEST_SUITE_END()
