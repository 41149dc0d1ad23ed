// Sharded arrays of teams that span processes: every process divides the same array, and checks its own members.
#include "multigpu/shards.hpp"
#include "processes/processes.hpp"

using namespace shards;

namespace shards_of_processes {
namespace {

constexpr int untouched = -7;

template <std::size_t Rank, fr::memory_kind Kind>
void check_halos(const fr::sharded_array<int, Rank, Kind>& a, const std::vector<int>& values) {
  const fr::team& t = a.team();
  for (std::size_t m = t.first_local(); m < t.first_local() + t.local_size(); ++m) {
    const std::vector<int> found = fr::to_vector(a.shard_with_halo(m));
    std::size_t i = 0, wrong = 0;
    for_each_index(a.layout().local(m), [&](auto at) {
      const int expected = wrap(a.layout(), at) ? values[offset(a.extents(), at)] : untouched;
      wrong += found[i++] != expected;
    });
    BOOST_TEST(wrong == 0u, wrong << " cells of member " << m << " are wrong: " << a.layout().text());
  }
}

template <std::size_t Rank, fr::memory_kind Kind>
void exchange_once(dice& d, const fr::team& t) {
  const auto [e, o] = any_layout<Rank>(d, t);
  fr::sharded_array<int, Rank, Kind> a(t, e, o, untouched), b(t, e, o, untouched);
  const auto first = random_values<int>(d, e.count()), second = random_values<int>(d, e.count());
  for (const auto* values : {&first, &second}) {  // reuses the buffers
    fr::copy(std::span<const int>(*values), a);
    fr::copy(std::span<const int>(first), b);
    fr::exchange_halos(a, b);
    check_halos(a, *values);
    check_halos(b, first);
  }
  // Only one process provides the values, and gets them back.
  const std::size_t root = d.below(t.size());
  const auto third = random_values<int>(d, e.count());
  fr::scatter(t.is_local(root) ? std::span<const int>(third) : std::span<const int>(), a, root);
  fr::exchange_halos(a);
  check_halos(a, third);
  const std::vector<int> all = fr::gather(a, root);
  BOOST_TEST(all == (t.is_local(root) ? third : std::vector<int>()), boost::test_tools::per_element());
}

}  // namespace
}  // namespace shards_of_processes

BOOST_AUTO_TEST_SUITE(shards_of_processes)

BOOST_AUTO_TEST_CASE(halos_on_this_machine) {
  const fr::team t = fr::team::world();
  for (std::size_t seed = 0; seed < 15; ++seed) {
    BOOST_TEST_CONTEXT("seed " << seed) {
      dice d(seed);  // the same in all processes
      exchange_once<1, fr::memory_kind::device>(d, t);
      exchange_once<2, fr::memory_kind::device>(d, t);
      exchange_once<2, fr::memory_kind::unified>(d, t);
      exchange_once<3, fr::memory_kind::device>(d, t);
    }
  }
}

BOOST_AUTO_TEST_CASE(halos_under_random_schedules) {
  for (std::size_t seed = 0; seed < seeds(25); ++seed) {
    fr::detail::processes* const all = fr::detail::processes::world();
    fr::simulation runtime("devices=4;peers=none;schedule=random:" +
                           std::to_string(7 * seed + (all ? all->rank() : 0)));
    const fr::team t = fr::team::world();
    BOOST_TEST_CONTEXT("seed " << seed) {
      dice d(seed);
      exchange_once<1, fr::memory_kind::device>(d, t);
      exchange_once<2, fr::memory_kind::device>(d, t);
      exchange_once<3, fr::memory_kind::unified>(d, t);
    }
  }
}

BOOST_AUTO_TEST_CASE(what_cannot_be) {
  const fr::team t = fr::team::world();
  fr::sharded_array<int, 1> a(t, {10});
  if (t.is_local(0))
    BOOST_CHECK_THROW(fr::scatter(std::vector<int>(9), a), fr::invalid_argument);
  else
    BOOST_CHECK_THROW(fr::scatter(std::vector<int>(), a), fr::error);
  fr::scatter(t.is_local(0) ? std::vector<int>(10, 5) : std::vector<int>(), a);  // all processes continue
  BOOST_TEST(fr::to_vector(a) == std::vector<int>(10, 5));
  for (std::size_t m = 0; m < t.size(); ++m)
    if (!t.is_local(m)) BOOST_CHECK_THROW((void)a.shard(m), fr::invalid_argument);
}

BOOST_AUTO_TEST_SUITE_END()
