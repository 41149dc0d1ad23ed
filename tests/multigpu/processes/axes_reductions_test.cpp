// Reductions along axes over a team that spans processes. Each process checks its copy, or all cells.
#include "multigpu/random_axes_reductions.hpp"

BOOST_AUTO_TEST_SUITE(axes_reductions_of_processes)

BOOST_AUTO_TEST_CASE(equal_those_of_one_array) {
  const ferry::team t = ferry::team::world();
  for (std::size_t seed = 0; seed < 8; ++seed) {
    BOOST_TEST_CONTEXT("seed " << seed) {
      axes_reductions::dice d(seed);
      axes_reductions::run_any(d, t);
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()
