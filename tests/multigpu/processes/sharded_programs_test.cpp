// Random statements over sharded arrays of a team that spans processes. Each process checks all cells.
#include "multigpu/random_sharded_programs.hpp"

BOOST_AUTO_TEST_SUITE(sharded_arrays_of_processes)

BOOST_AUTO_TEST_CASE(statements_equal_those_of_one_array) {
  using namespace sharded_programs;
  const fr::team t = fr::team::world();
  for (std::size_t seed = 0; seed < 25; ++seed) {
    BOOST_TEST_CONTEXT("seed " << seed) {
      dice d(seed);
      if (seed % 2 == 0)
        random_statements<2>(d, t).run(6);
      else
        random_statements<1>(d, t).run(6);
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()
