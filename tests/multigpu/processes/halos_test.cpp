// Sharded arrays of a team that spans processes: each process checks its own members' halos.
#include "multigpu/shards.hpp"

using namespace shards;

BOOST_AUTO_TEST_SUITE(sharded_arrays_of_processes)

BOOST_AUTO_TEST_CASE(halos_come_from_other_processes) {
  const fr::team t = fr::team::world();
  for (std::size_t seed = 0; seed < 30; ++seed) {
    dice d(seed);
    const auto layout = any_layout<2>(d, t);  // clang++ 14: lambdas cannot capture structured bindings
    const auto& e = layout.first;
    const auto& o = layout.second;
    fr::sharded_array<int, 2> a(t, e, o, -7);
    fr::sharded_array<double, 2> b(t, e, o, -7.0);
    const auto first = random_values<int>(d, e.count());
    const auto second = random_values<double>(d, e.count());
    fr::copy(std::span<const int>(first), a);
    fr::copy(std::span<const double>(second), b);
    for (int again = 0; again < 2; ++again) fr::exchange_halos(a, b);
    const auto check = [&](const auto& array, const auto& values) {
      for (std::size_t i = 0; i < t.local_size(); ++i) {
        const std::size_t m = t.first_local() + i;
        const auto found = fr::to_vector(array.shard_with_halo(m));
        std::size_t k = 0, wrong = 0;
        for_each_index(array.layout().local(m), [&](auto at) {
          const bool mirrors = wrap(array.layout(), at);
          wrong += found[k++] != (mirrors ? values[offset(e, at)] : -7);
        });
        BOOST_TEST(wrong == 0u, wrong << " cells of member " << m << " are wrong, seed " << seed);
      }
    };
    check(a, first), check(b, second);
  }
}

BOOST_AUTO_TEST_CASE(shards_of_other_processes_are_refused) {
  const fr::team t = fr::team::world();
  const fr::sharded_array<int, 1> a(t, {10}, {}, 0);
  for (std::size_t m = 0; m < t.size(); ++m)
    if (!t.is_local(m)) BOOST_CHECK_THROW((void)a.shard(m), fr::invalid_argument);
}

BOOST_AUTO_TEST_SUITE_END()
