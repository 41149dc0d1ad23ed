// Halo exchange compared with the same array in CPU memory: any rank, axis, width and period, strided and contiguous.
// By stores, by copies, and without peer access.
#include "multigpu/shards.hpp"

using namespace shards;

namespace halos {
namespace {

constexpr int untouched = -7;

// Every halo cell has its neighbour's value, and cells beyond the ends are unchanged.
template <std::size_t Rank, fr::memory_kind Kind>
void check_halos(const fr::sharded_array<int, Rank, Kind>& a, const std::vector<int>& values) {
  for (std::size_t m = 0; m < a.team().size(); ++m) {
    const auto local = a.layout().local(m);
    const std::vector<int> found = fr::to_vector(a.shard_with_halo(m));
    std::size_t i = 0, wrong = 0;
    for_each_index(local, [&](auto at) {
      const int expected = wrap(a.layout(), at) ? values[offset(a.extents(), at)] : untouched;
      wrong += found[i++] != expected;
    });
    BOOST_TEST(wrong == 0u, wrong << " cells of member " << m << " are wrong: " << a.layout().text());
  }
}

template <std::size_t Rank, fr::memory_kind Kind>
void exchange_once(dice& d, fr::team& t) {
  if (d.below(10) == 0) t.submit(fr::submission::by_threads);
  const auto [e, o] = any_layout<Rank>(d, t);
  fr::sharded_array<int, Rank, Kind> a(t, e, o, untouched), b(t, e, o, untouched);
  const auto first = random_values<int>(d, e.count()), second = random_values<int>(d, e.count());
  for (const auto* values : {&first, &second}) {  // reuses the buffers
    fr::copy(std::span<const int>(*values), a);
    fr::copy(std::span<const int>(first), b);
    fr::exchange_halos(a, b);
    check_halos(a, *values);
    check_halos(b, first);
    BOOST_TEST(fr::to_vector(a) == *values, boost::test_tools::per_element());
  }
  swap(a, b);
  fr::exchange_halos(a);
  check_halos(a, first);
}

void exchange_all(dice& d, fr::team t) {
  exchange_once<1, fr::memory_kind::device>(d, t);
  exchange_once<2, fr::memory_kind::device>(d, t);
  exchange_once<2, fr::memory_kind::unified>(d, t);
  exchange_once<3, fr::memory_kind::device>(d, t);
}

}  // namespace
}  // namespace halos

BOOST_AUTO_TEST_SUITE(halos)

BOOST_AUTO_TEST_CASE(mirror_their_cells_on_simulated_devices) {
  for (std::size_t seed = 0; seed < seeds(120); ++seed) {
    dice d(seed);
    fr::simulation sim(simulated_machine(seed, d.between(1, 6)));
    exchange_all(d, fr::team::all());
  }
}

BOOST_AUTO_TEST_CASE(mirror_their_cells_on_this_machine) {
  for (std::size_t seed = 0; seed < 25; ++seed) {
    dice d(seed);
    exchange_all(d, fr::team(fr::devices().subspan(0, d.between(1, fr::devices().size()))));
  }
}

// The plain case: rows, periodic, halo 1. All numbers computed by hand.
BOOST_AUTO_TEST_CASE(of_rows) {
  fr::simulation sim("devices=3");
  const fr::team t = fr::team::all();
  fr::sharded_array<int, 2> a(t, {4, 2}, {.axis = 0, .halo = 1, .periodic = true});
  fr::copy(std::vector<int>{0, 1, 10, 11, 20, 21, 30, 31}, a);
  fr::exchange_halos(a);
  BOOST_TEST((fr::to_vector(a.shard_with_halo(0)) == std::vector<int>{30, 31, 0, 1, 10, 11, 20, 21}));
  BOOST_TEST((fr::to_vector(a.shard_with_halo(1)) == std::vector<int>{10, 11, 20, 21, 30, 31}));
  BOOST_TEST((fr::to_vector(a.shard_with_halo(2)) == std::vector<int>{20, 21, 30, 31, 0, 1}));
}

BOOST_AUTO_TEST_CASE(fields_of_different_types_and_ranks_travel_together) {
  fr::simulation sim("devices=3;schedule=random:5");
  const fr::team t = fr::team::all();
  fr::sharded_array<double, 1> a(t, {9}, {.halo = 2, .periodic = true}, -1.0);
  fr::sharded_array<char, 2> b(t, {5, 7}, {.axis = 1, .halo = {1, 1}, .periodic = true}, 'x');
  fr::copy(std::vector<double>{0, 1, 2, 3, 4, 5, 6, 7, 8}, a);
  std::vector<char> letters(35);
  for (std::size_t i = 0; i < 35; ++i) letters[i] = static_cast<char>('!' + i);
  fr::copy(std::span<const char>(letters), b);
  fr::exchange_halos(a, b);
  BOOST_TEST((fr::to_vector(a.shard_with_halo(0)) == std::vector<double>{7, 8, 0, 1, 2, 3, 4}));
  BOOST_TEST((fr::to_vector(a.shard_with_halo(2)) == std::vector<double>{4, 5, 6, 7, 8, 0, 1}));
  const auto last = fr::to_vector(b.shard_with_halo(2));  // columns 5 and 6, with neighbours 4 and 0
  BOOST_TEST(last.size() == 7u * 4);
  for (std::size_t i = 0; i < 7; ++i)
    for (std::size_t j = 0; j < 4; ++j) BOOST_TEST(last[i * 4 + j] == letters[(i + 4) % 5 * 7 + (4 + j) % 7]);
}

BOOST_AUTO_TEST_SUITE_END()
