// Random arrays and views of all types are sorted as by the standard library, under random schedules with the race
// checker.
#include "sorting_checks.hpp"
#include "support/seeds.hpp"

namespace sorting_random {
namespace {

using namespace sorting_test;

template <class... T>
void check_types(std::uint64_t seed) {
  (
      [&] {
        fr::simulation sim("devices=2;check=races;schedule=random:" + std::to_string(seed));
        dice d(seed * 31 + sizeof(T));
        check<T, 2>(d, 2);
      }(),
      ...);
}

}  // namespace
}  // namespace sorting_random

BOOST_AUTO_TEST_SUITE(sorting_random)

BOOST_AUTO_TEST_CASE(all_types) {
  for (std::size_t seed = 0; seed != support::seeds(40); ++seed)
    check_types<bool, std::int8_t, std::uint8_t, std::int16_t, std::uint16_t, std::int32_t, std::uint32_t, std::int64_t,
                std::uint64_t, fr::half, fr::bfloat16, float, double>(seed);
}

BOOST_AUTO_TEST_CASE(all_ranks) {
  for (std::size_t seed = 0; seed != support::seeds(60); ++seed) {
    fr::simulation sim("devices=2;check=races;schedule=random:" + std::to_string(seed));
    dice d(seed);
    check<float, 1>(d, 2);
    check<int, 3>(d, 2);
    check<float, 4>(d, 2);
  }
}

BOOST_AUTO_TEST_SUITE_END()
