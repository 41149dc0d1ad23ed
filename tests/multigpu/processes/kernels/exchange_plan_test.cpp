// Exchange plans of a team that spans processes.
#include "multigpu/random_exchanges.hpp"
#include "support/failures.hpp"

namespace exchange_plans_of_processes {}

BOOST_AUTO_TEST_SUITE(exchange_plans_of_processes)

BOOST_AUTO_TEST_CASE(random_programs) {
  const ferry::team t = ferry::team::world();
  for (std::size_t seed = 0; seed < 25; ++seed) exchanges::check_all(seed, t);
}

// A wrong list in one process is an error in all, and the team goes on.
BOOST_AUTO_TEST_CASE(all_processes_refuse_a_wrong_list) {
  namespace fr = ferry;
  const fr::team t = fr::team::world();
  const fr::sharded_array<float, 1> u(t, {10}, {}, 0.f);
  std::vector<std::vector<std::size_t>> needed(t.local_size());
  if (t.is_local(0)) needed[0].push_back(10);
  const std::string text = support::failure_of<fr::error>([&] { (void)fr::exchange_plan(u, needed); });
  BOOST_TEST(support::has(text, "needs index 10"), text);
  exchanges::check_all(1, t);
}

BOOST_AUTO_TEST_SUITE_END()
