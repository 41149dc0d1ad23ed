// Three equations in array notation over a team that spans processes. Each process checks all cells.
#include "multigpu/equations.hpp"

BOOST_AUTO_TEST_SUITE(equations_of_processes)

BOOST_AUTO_TEST_CASE(equal_loops) {
  namespace fr = ferry;
  const fr::team t = fr::team::world();
  for (std::size_t seed = 0; seed < 10; ++seed) {
    BOOST_TEST_CONTEXT("seed " << seed) {
      equations::dice d(seed);
      equations::check<double>(d, t);
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()
