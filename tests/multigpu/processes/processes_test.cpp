// Collectives of a team that spans processes: mpirun runs this with 1 to 4 of them, and each process checks its own
// members.
#include <cstdlib>
#include <cstring>
#include <map>

#include "multigpu/collectives/halves.hpp"
#include "needs_processes.hpp"

using namespace collectives;

BOOST_AUTO_TEST_SUITE(teams_of_processes)

BOOST_AUTO_TEST_CASE(members_are_dealt_out) {
  const fr::team t = fr::team::world();
  fr::detail::processes* const all = fr::detail::processes::world();
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

// Simulated devices belong to one process each. If there are fewer devices than processes, each process has one.
BOOST_AUTO_TEST_CASE(more_processes_than_devices, *boost::unit_test::precondition(needs_processes{})) {
  const std::size_t processes = fr::detail::processes::world()->size();
  fr::simulation runtime("devices=" + std::to_string(processes > 2 ? processes - 1 : 1));
  const fr::team t = fr::team::world();
  if (fr::detail::processes::world()->local_size() < processes) return;  // several hosts have enough devices
  BOOST_TEST(t.size() == processes);
  BOOST_TEST(t.local_size() == 1u);
  fr::sharded_array<int, 1> a(t, {processes}, {.halo = 1, .periodic = true}, 3);
  fr::exchange_halos(a);
  CHECK_EQUAL(fr::to_vector(a), std::vector<int>(processes, 3));
  auto ones = filled<int>(t, 1, 1);
  fr::all_reduce(t, ones, fr::plus{});
  BOOST_TEST(fr::to_vector(ones.front()).front() == static_cast<int>(processes));
}

// Each host's devices are divided among its own processes: every device belongs to exactly one of them, whatever their
// ranks. FERRY_HOST simulates several hosts.
BOOST_AUTO_TEST_CASE(each_machine_has_its_own_devices, *boost::unit_test::precondition(needs_processes{})) {
  fr::detail::processes& all = *fr::detail::processes::world();
  fr::simulation runtime("devices=6");
  const fr::team t = fr::team::world();
  struct share {
    std::size_t rank, first_neighbour, devices;
  };
  share mine{all.rank(), all.neighbours().front(), 0};
  for (std::size_t i = 0; i < t.local_size(); ++i)
    mine.devices |= std::size_t{1} << t.device(t.first_local() + i).index();
  std::map<std::size_t, std::vector<share>> machines;
  const auto bytes = all.all_gather(std::as_bytes(std::span(&mine, 1)), "a test");
  for (std::size_t p = 0; p < all.size(); ++p) {
    share theirs{};
    std::memcpy(&theirs, bytes.data() + p * sizeof theirs, sizeof theirs);
    BOOST_TEST(theirs.rank == p);
    machines[theirs.first_neighbour].push_back(theirs);
  }
  BOOST_TEST(t.size() == 6 * machines.size());
  for (const auto& [first, shares] : machines) {
    std::size_t dealt = 0;
    for (const share& s : shares) {
      BOOST_TEST((dealt & s.devices) == 0u);
      dealt |= s.devices;
    }
    BOOST_TEST(dealt == 63u);
  }
  BOOST_TEST(machines[all.neighbours().front()].size() == all.local_size());
  BOOST_TEST(all.neighbours()[all.local_rank()] == all.rank());
  const char* expected = std::getenv("FERRY_TEST_MACHINES");
  BOOST_TEST(machines.size() == (expected ? std::strtoul(expected, nullptr, 10) : 1u));
}

BOOST_AUTO_TEST_CASE(in_a_capture, *boost::unit_test::precondition(needs_processes{})) {
  fr::simulation runtime("devices=4");
  const fr::team t = fr::team::world();
  auto a = give<int>(t, 4);
  check_error<fr::not_supported>(
      [&] { (void)fr::capture(t[t.first_local()], [&] { fr::all_reduce(t, a, fr::plus{}); }); },
      {"messages are work of the CPU", "between two graphs", "NCCL"});
  fr::sharded_array<int, 1> field(t, {8}, {.halo = 1}, 1);
  check_error<fr::not_supported>([&] { (void)fr::capture(t[t.first_local()], [&] { fr::exchange_halos(field); }); },
                                 {"between two graphs"});
  check_error<fr::invalid_argument>([&] { (void)fr::capture(t[t.first_local()], [&] { (void)fr::to_vector(field); }); },
                                    {"inside a capture"});
  fr::all_reduce(t, a, fr::plus{});
  fr::exchange_halos(field);
  BOOST_TEST((fr::to_vector(field) == std::vector<int>(8, 1)));
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
  check_type<float>(t, 100'003);  // messages so large that they wait for their receiver
  check_type<int>(t, 0);
  check_moves<std::int16_t>(t, 7);
  check_halves<__half>(t, 100);
  check_halves<__nv_bfloat16>(t, 101);
  check_special_values_of_floats(t);
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

// Each process's devices execute in their own random order.
BOOST_AUTO_TEST_CASE(under_random_schedules) {
  for (int seed = 0; seed < 20; ++seed) {
    fr::detail::processes* const all = fr::detail::processes::world();
    fr::simulation runtime("devices=4;peers=none;schedule=random:" +
                           std::to_string(10 * seed + (all ? static_cast<int>(all->rank()) : 0)));
    const fr::team t = fr::team::world();
    BOOST_TEST_CONTEXT("seed " << seed) {
      check_type<int>(t, 5);
      check_ring(t, 4);
    }
  }
}

// All processes detect differing counts, types and calls before any data is moved, and the team stays usable.
BOOST_AUTO_TEST_CASE(calls_that_differ, *boost::unit_test::precondition(needs_processes{})) {
  fr::detail::processes* const all = fr::detail::processes::world();
  const fr::team t = fr::team::world();
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
