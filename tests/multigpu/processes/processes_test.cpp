// Collectives of a team that spans processes: run by mpirun with 1 to 4 of them, each makes all checks of its own members.
#include "processes.hpp"
#include "multigpu/collectives/cases.hpp"

using namespace collectives;

BOOST_AUTO_TEST_SUITE(teams_of_processes)

BOOST_AUTO_TEST_CASE(members_are_dealt_out) {
  const fr::team t = fr::team::world();
  fr::processes* const all = fr::processes::world();
  if (!all) {
    BOOST_TEST(t.size() == fr::devices().size());
    return;
  }
  BOOST_TEST(t.size() >= all->size());
  BOOST_TEST(t.local_size() >= 1u);
  BOOST_TEST(t.first_local() + t.local_size() <= t.size());
  if (all->rank() == 0) BOOST_TEST(t.first_local() == 0u);
  if (all->rank() + 1 == all->size()) BOOST_TEST(t.first_local() + t.local_size() == t.size());
  auto ones = filled<int>(t, 1, 1);
  fr::all_reduce(t, ones, fr::plus{});
  BOOST_TEST(fr::to_vector(ones.front()).front() == static_cast<int>(t.size()));
}

BOOST_AUTO_TEST_CASE(every_collective) {
  const fr::team t = fr::team::world();
  for (const std::size_t n : {1u, 3u, 1000u}) {
    check_type<std::int8_t>(t, n);
    check_type<int>(t, n);
    check_type<unsigned long>(t, n);
    check_type<float>(t, n);
    check_type<double>(t, n);
    check_ring(t, n);
  }
  check_type<float>(t, 100'003);  // messages that wait for their receiver
  check_type<int>(t, 0);
  check_moves<std::int16_t>(t, 7);
}

BOOST_AUTO_TEST_CASE(unified_and_pinned_arrays) {
  const fr::team t = fr::team::world();
  auto u = give<float, fr::memory_kind::unified>(t, 100);
  fr::all_reduce(t, u, fr::plus{});
  auto h = give<float, fr::memory_kind::host>(t, 100);
  fr::all_reduce(t, h, fr::plus{});
  for (std::size_t i = 0; i < 100; ++i)
    for (std::size_t m = 0; m < t.local_size(); ++m) {
      BOOST_TEST(u[m][i] == combined<float>(t.size(), i, fr::plus{}));
      BOOST_TEST(h[m][i] == combined<float>(t.size(), i, fr::plus{}));
    }
}

// Each process' devices work in a random order of their own.
BOOST_AUTO_TEST_CASE(under_random_schedules) {
  if (!fr::machine::current().is_simulated()) return;  // made by the next line
  for (int seed = 0; seed < 20; ++seed) {
    fr::processes* const all = fr::processes::world();
    fr::simulation machine("devices=4;peers=none;schedule=random:" +
                           std::to_string(10 * seed + (all ? static_cast<int>(all->rank()) : 0)));
    const fr::team t = fr::team::world();
    BOOST_TEST_CONTEXT("seed " << seed) {
      check_type<int>(t, 5);
      check_ring(t, 4);
    }
  }
}

// Counts, types and calls that differ are found before anything is moved, in all processes; the team goes on.
BOOST_AUTO_TEST_CASE(calls_that_differ) {
  fr::processes* const all = fr::processes::world();
  const fr::team t = fr::team::world();
  if (!all || all->size() < 2 || fr::machine::current().is_simulated() == false) return;
  const bool odd = all->rank() == 1;
  auto a = give<float>(t, odd ? 11 : 10);
  check_error<fr::invalid_argument>(
      [&] { fr::all_reduce(t, a, fr::plus{}); },
      {"process 0 all_reduce of 10 elements of float32 (4 bytes), sum", "process 1 all_reduce of 11 elements"});
  auto b = give<int>(t, 8);
  check_error<fr::invalid_argument>(
      [&] {
        if (odd)
          fr::broadcast(t, b, 0);
        else
          fr::all_reduce(t, b, fr::maximum{});
      },
      {"process 0 all_reduce of 8 elements of int32", "maximum", "process 1 broadcast", "root 0"});
  auto c = give<long>(t, 4);
  auto d = give<double>(t, 4);
  check_error<fr::invalid_argument>(
      [&] {
        if (odd)
          fr::all_reduce(t, c, fr::plus{});
        else
          fr::all_reduce(t, d, fr::plus{});
      },
      {"of float64", "of int64"});
  check_error<fr::invalid_argument>(
      [&] {
        fr::collective_group g(t);
        g.all_reduce(c, fr::plus{});
        if (odd) g.all_reduce(d, fr::plus{});
        g.submit();
      },
      {"number 1 of 1", "number 1 of 2"});
  check_type<int>(t, 6);
}

BOOST_AUTO_TEST_SUITE_END()
