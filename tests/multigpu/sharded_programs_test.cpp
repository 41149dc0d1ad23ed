// Random statements over sharded arrays: any rank, distribution, halo and number of members; shifted operands, aliases,
// masks, several outputs, reductions.
#include "multigpu/random_sharded_programs.hpp"

namespace sharded_programs {
namespace {

void run_all(dice& d, fr::team t) {
  if (d.below(10) == 0) t.submit(fr::submission::by_threads);
  switch (d.below(3)) {
    case 0: return random_statements<1>(d, t).run(8);
    case 1: return random_statements<2>(d, t).run(8);
    default: return random_statements<3>(d, t).run(6);
  }
}

}  // namespace
}  // namespace sharded_programs

BOOST_AUTO_TEST_SUITE(sharded_programs)

BOOST_AUTO_TEST_CASE(equal_those_of_one_array_on_simulated_devices) {
  for (std::size_t seed = 0; seed < seeds(200); ++seed) {
    BOOST_TEST_CONTEXT("seed " << seed) {
      dice d(seed);
      fr::simulation sim(simulated_machine(seed, d.between(1, 6)));
      run_all(d, fr::team::all());
    }
  }
}

BOOST_AUTO_TEST_CASE(equal_those_of_one_array_on_this_machine) {
  for (std::size_t seed = 0; seed < 20; ++seed) {
    dice d(seed);
    run_all(d, fr::team(fr::devices().subspan(0, d.between(1, fr::devices().size()))));
  }
}

BOOST_AUTO_TEST_SUITE_END()
