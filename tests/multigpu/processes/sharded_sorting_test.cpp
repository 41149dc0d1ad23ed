// Sorting of sharded arrays of a team that spans processes. Each process checks all elements.
#include "multigpu/random_sharded_sorting.hpp"

BOOST_AUTO_TEST_SUITE(sharded_sorting_of_processes)

BOOST_AUTO_TEST_CASE(equals_sorting_of_one_array) {
  using namespace sharded_sorting;
  const fr::team t = fr::team::world();
  for (std::size_t seed = 0; seed < 15; ++seed) {
    BOOST_TEST_CONTEXT("seed " << seed) {
      sorting_test::dice d(seed);
      check_types<std::int8_t, std::uint32_t, fr::half, float, double>(d, t);
      check_lines<float>(d, t);
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()
