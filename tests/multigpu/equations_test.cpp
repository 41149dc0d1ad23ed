// Three equations in array notation over the devices of one process.
#include "multigpu/equations.hpp"

BOOST_AUTO_TEST_SUITE(equations)

BOOST_AUTO_TEST_CASE(equal_loops_on_simulated_devices) {
  for (std::size_t seed = 0; seed < seeds(60); ++seed) {
    BOOST_TEST_CONTEXT("seed " << seed) {
      dice d(seed);
      fr::simulation sim(simulated_machine(seed, d.between(1, 4)));
      if (seed % 2 == 0)
        check<double>(d, fr::team::all());
      else
        check<float>(d, fr::team::all());
    }
  }
}

BOOST_AUTO_TEST_CASE(equal_loops_on_this_machine) {
  for (std::size_t seed = 0; seed < 10; ++seed) {
    dice d(seed);
    check<float>(d, fr::team(fr::devices().subspan(0, d.between(1, fr::devices().size()))));
  }
}

BOOST_AUTO_TEST_SUITE_END()
