// Cells redistributed, and back, compared with the same array in CPU memory.
#include "multigpu/shards.hpp"

using namespace shards;

namespace resharding {
namespace {

fr::team some_of(dice& d) {
  const auto all = fr::devices();
  const std::size_t first = d.below(all.size());
  return fr::team(all.subspan(first, d.between(1, all.size() - first)));
}

template <std::size_t Rank>
void deal_again(dice& d) {
  const fr::team t = some_of(d), other = d.flip() ? t : some_of(d);
  fr::extents<Rank> e;
  for (std::size_t k = 0; k != Rank; ++k) e[k] = d.between(1, 9);
  const auto options = [&](const fr::team& on) {
    fr::shard_options o = any_cut(d, Rank, on.size());
    o.periodic = d.flip();
    return o;
  };
  fr::sharded_array<short, Rank> a(t, e, options(t));
  auto o = options(other);
  if (can_have_halo(other, e, o) && d.flip()) o.halo = 1;
  const auto values = random_values<short>(d, e.count());
  fr::copy(std::span<const short>(values), a);
  const auto b = fr::reshard(a, other, o);
  fr::fill(a, short{-1});  // must wait until the values were read
  BOOST_TEST(fr::to_vector(b) == values, boost::test_tools::per_element());
  for (std::size_t m = 0; m < other.size() && b.layout().has_halo(); ++m) {
    const auto found = fr::to_vector(b.shard_with_halo(m));
    std::size_t i = 0, wrong = 0;
    for_each_index(b.layout().local(m), [&](auto at) {
      const bool mirrors = wrap(b.layout(), at);
      wrong += mirrors && found[i] != values[offset(e, at)];
      ++i;
    });
    BOOST_TEST(wrong == 0u);
  }
  fr::reshard(b, a);
  BOOST_TEST(fr::to_vector(a) == values, boost::test_tools::per_element());
}

}  // namespace
}  // namespace resharding

BOOST_AUTO_TEST_SUITE(resharding)

BOOST_AUTO_TEST_CASE(preserves_all_cells_on_simulated_devices) {
  for (std::size_t seed = 0; seed < seeds(150); ++seed) {
    dice d(seed);
    fr::simulation sim(simulated_machine(seed, d.between(1, 6)));
    deal_again<1>(d), deal_again<2>(d), deal_again<3>(d);
  }
}

BOOST_AUTO_TEST_CASE(preserves_all_cells_on_this_machine) {
  for (std::size_t seed = 0; seed < 20; ++seed) {
    dice d(seed);
    deal_again<1>(d), deal_again<2>(d), deal_again<3>(d);
  }
}

BOOST_AUTO_TEST_CASE(of_other_shapes_is_refused) {
  fr::simulation sim("devices=2");
  const fr::team t = fr::team::all();
  fr::sharded_array<int, 2> a(t, {3, 4}), b(t, {4, 3});
  BOOST_CHECK_THROW(fr::reshard(a, b), fr::invalid_argument);
}

BOOST_AUTO_TEST_SUITE_END()
