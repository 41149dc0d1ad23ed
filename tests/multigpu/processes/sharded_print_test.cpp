// Text of sharded arrays of a team that spans processes: each process gets that of all elements.
#include "ferry/core/print.hpp"
#include "multigpu/shards.hpp"

BOOST_AUTO_TEST_SUITE(sharded_print_of_processes)

BOOST_AUTO_TEST_CASE(is_the_text_of_one_array) {
  using namespace shards;
  const fr::team t = fr::team::world();
  for (std::size_t seed = 0; seed < 20; ++seed) {
    dice d(seed);
    const auto [e, o] = any_layout<2>(d, t);
    const std::vector<float> v = random_values<float>(d, e.count());
    fr::sharded_array<float, 2> u(t, e, o, 7777.f);
    fr::copy(std::span<const float>(v), u);
    fr::print_options how;
    how.threshold = d.below(60), how.edge_items = d.below(4);
    BOOST_TEST(fr::to_text(u, how) == fr::to_text(fr::host_array<float, 2>::from(v, e), how), u.layout().text());
  }
  const fr::sharded_array<float, 1> zeros(t, {2}, {}, -0.f);
  fr::print(zeros);
}

BOOST_AUTO_TEST_SUITE_END()
