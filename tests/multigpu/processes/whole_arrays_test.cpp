// Whole sharded arrays of teams that span processes: redistributed, gathered to all processes, in files; compared with
// the same array in plain memory.
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include <ferry/eigen.hpp>
#include <ferry/multigpu/sharded_eigen.hpp>
#include <ferry/multigpu/sharded_npy.hpp>

#include "multigpu/named_lines.hpp"
#include "multigpu/shards.hpp"
#include "needs_processes.hpp"
#include "support/file_bytes.hpp"

using namespace shards;

namespace whole_arrays_of_processes {
namespace {

std::size_t own_rank() {
  fr::detail::processes* const all = fr::detail::processes::world();
  return all ? all->rank() : 0;
}

// Each process's devices execute in their own random order; some have no peers.
std::string machine_of(std::size_t seed) {
  std::string s = "devices=4";
  if (seed % 3 == 2) s += ";peers=none";
  if (seed % 4 != 0) s += ";schedule=random:" + std::to_string(13 * seed + own_rank());
  return s;
}

template <std::size_t Rank>
fr::extents<Rank> any_shape(dice& d, const fr::team& t) {
  fr::extents<Rank> e;
  for (std::size_t k = 0; k != Rank; ++k) e[k] = d.between(1, Rank == 3 ? 5 : 9);
  // Often fewer than members, so that some shards are empty.
  if (d.flip()) e[d.below(Rank)] = d.between(1, 3 * t.size());
  return e;
}

// The same folder in all processes: processes of one program have the same parent.
std::string shared_file(const char* name) {
  return (std::filesystem::temp_directory_path() / ("ferry_processes_" + std::to_string(::getppid()) + name)).string();
}

template <std::size_t Rank, fr::memory_kind From, fr::memory_kind To>
void deal_again(dice& d, const fr::team& t, const fr::team& other) {
  const auto e = any_shape<Rank>(d, t);
  fr::sharded_array<short, Rank, From> a(t, e, any_cut(d, Rank, t.size()));
  fr::shard_options o = any_cut(d, Rank, other.size());
  if (can_have_halo(other, e, o) && d.flip()) o.halo = 1;
  o.periodic = d.flip();
  const auto values = random_values<short>(d, e.count());
  fr::copy(std::span<const short>(values), a);
  fr::sharded_array<short, Rank, To> b(other, e, o, -1);
  fr::reshard(a, b);
  fr::fill(a, short{-2});  // must wait until the values were read
  if (b.layout().has_halo()) fr::exchange_halos(b);
  for (std::size_t m = other.first_local(); m < other.first_local() + other.local_size(); ++m) {
    const auto found = fr::to_vector(b.shard_with_halo(m));
    std::size_t i = 0, wrong = 0;
    for_each_index(b.layout().local(m), [&](auto at) {
      const short expected = wrap(b.layout(), at) ? values[offset(e, at)] : short{-1};
      wrong += found[i++] != expected;
    });
    BOOST_TEST(wrong == 0u, wrong << " cells of member " << m << " are wrong: " << b.layout().text());
  }
  BOOST_TEST(fr::to_vector(b) == values, boost::test_tools::per_element());  // in every process
  fr::reshard(b, a);
  const std::size_t root = d.below(t.size());
  BOOST_TEST(fr::gather(a, root) == (t.is_local(root) ? values : std::vector<short>()),
             boost::test_tools::per_element());
}

void deal_all(dice& d, const fr::team& t, const fr::team& other) {
  using enum fr::memory_kind;
  deal_again<1, device, device>(d, t, other);
  deal_again<2, device, device>(d, t, other);
  deal_again<2, unified, device>(d, t, t);
  deal_again<3, device, unified>(d, t, other);
}

// Some devices of each process, different ones in each.
fr::team some_of_this_process(dice& d) {
  const std::size_t most = fr::devices().size(), first = (d.below(most) + own_rank()) % most;
  return fr::team(fr::devices().subspan(first, 1 + (d.below(most) + own_rank()) % (most - first)));
}

// From a per-process array to one of all processes, and back to each.
template <std::size_t Rank, fr::memory_kind Own, fr::memory_kind Common>
void deal_from_and_to_each(dice& d, const fr::team& t) {
  const auto e = any_shape<Rank>(d, t);
  const auto values = random_values<short>(d, e.count());
  fr::sharded_array<short, Rank, Own> a(some_of_this_process(d), e, {d.below(Rank)});
  fr::sharded_array<short, Rank, Common> all(t, e, any_cut(d, Rank, t.size()), -1);
  fr::copy(std::span<const short>(values), a);
  fr::reshard(a, all);
  fr::fill(a, short{-2});  // must wait until the values were read
  BOOST_TEST(fr::to_vector(all) == values, boost::test_tools::per_element());
  fr::sharded_array<short, Rank, Own> b(some_of_this_process(d), e, {d.below(Rank)}, -3);
  fr::reshard(all, b);
  fr::fill(all, short{-4});
  BOOST_TEST(fr::to_vector(b) == values, boost::test_tools::per_element());
}

void deal_all_from_and_to_each(dice& d, const fr::team& t) {
  using enum fr::memory_kind;
  deal_from_and_to_each<1, device, device>(d, t);
  deal_from_and_to_each<2, unified, device>(d, t);
  deal_from_and_to_each<3, device, unified>(d, t);
}

template <std::size_t Rank>
void write_and_read(dice& d, const fr::team& t) {
  const auto e = any_shape<Rank>(d, t);
  const fr::shard_options o = any_cut(d, Rank, t.size());
  const auto values = random_values<float>(d, e.count());
  fr::sharded_array<float, Rank> a(t, e, o);
  fr::copy(std::span<const float>(values), a);
  const std::string file = shared_file("a.npy"), fortran = shared_file("f.npy"), plain = shared_file("p.npy");
  fr::save_npy(file, a);
  if (own_rank() == 0) {
    fr::save_npy(plain, values, e);
    fr::save_npy(fortran, values, e, fr::storage_order::column_major);
    BOOST_TEST(support::bytes_of(file) == support::bytes_of(plain));
  }
  (void)fr::to_vector(a);  // all processes wait until process 0 has written
  for (const std::string& from : {file, fortran}) {
    const auto b = fr::load_npy<float, Rank>(from, t, {d.below(Rank)});
    BOOST_TEST(fr::to_vector(b) == values, boost::test_tools::per_element());
  }
}

}  // namespace
}  // namespace whole_arrays_of_processes

BOOST_AUTO_TEST_SUITE(whole_arrays_of_processes)

BOOST_AUTO_TEST_CASE(dealt_out_again_on_this_machine) {
  const fr::team t = fr::team::world(), other = fr::team::world();
  for (std::size_t seed = 0; seed < 20; ++seed) {
    BOOST_TEST_CONTEXT("seed " << seed) {
      dice d(seed);  // the same in all processes
      deal_all(d, t, d.flip() ? t : other);
    }
  }
}

BOOST_AUTO_TEST_CASE(dealt_out_again_under_random_schedules) {
  for (std::size_t seed = 0; seed < seeds(15); ++seed) {
    fr::simulation runtime(machine_of(seed));
    const fr::team t = fr::team::world(), other = fr::team::world();
    BOOST_TEST_CONTEXT("seed " << seed) {
      dice d(seed);
      deal_all(d, t, d.flip() ? t : other);
    }
  }
}

BOOST_AUTO_TEST_CASE(from_and_to_an_array_of_each_process) {
  {
    const fr::team t = fr::team::world();
    for (std::size_t seed = 0; seed < 5; ++seed) {
      dice d(seed);
      deal_all_from_and_to_each(d, t);
    }
  }
  for (std::size_t seed = 0; seed < seeds(15); ++seed) {
    fr::simulation runtime(machine_of(seed));
    const fr::team t = fr::team::world();
    BOOST_TEST_CONTEXT("seed " << seed) {
      dice d(seed);
      deal_all_from_and_to_each(d, t);
    }
  }
}

#if __has_include(<Eigen/Core>)
BOOST_AUTO_TEST_CASE(matrices_of_eigen) {
  const fr::team t = fr::team::world();
  for (const std::size_t axis : {0u, 1u}) {
    Eigen::MatrixXf m(9, 7);  // column-major
    for (Eigen::Index i = 0; i < 9; ++i)
      for (Eigen::Index j = 0; j < 7; ++j) m(i, j) = static_cast<float>(10 * i + j);
    fr::sharded_array<float, 2> a(t, {9, 7}, {.axis = axis, .halo = 1});
    fr::copy(m, a);
    BOOST_TEST((fr::to_eigen(a) == m));
    Eigen::MatrixXd back(9, 7);
    fr::copy(a, back);
    BOOST_TEST((back == m.cast<double>()));
  }
}
#endif

BOOST_AUTO_TEST_CASE(files_that_all_write_and_read) {
  for (std::size_t seed = 0; seed < 12; ++seed) {
    fr::simulation runtime(machine_of(seed));
    const fr::team t = fr::team::world();
    BOOST_TEST_CONTEXT("seed " << seed) {
      dice d(seed);
      write_and_read<1>(d, t), write_and_read<2>(d, t), write_and_read<3>(d, t);
    }
  }
  if (own_rank() == 0)
    for (const char* name : {"a.npy", "f.npy", "p.npy"}) std::filesystem::remove(shared_file(name));
}

// Files that cannot be written or read are an error in all processes, and the team stays usable.
BOOST_AUTO_TEST_CASE(files_that_cannot_be) {
  const fr::team t = fr::team::world();
  fr::sharded_array<int, 2> a(t, {6, 3}, {}, 5);
  const auto says = [](const char* part) {
    return [part](const fr::error& e) { return std::string(e.what()).find(part) != std::string::npos; };
  };
  BOOST_CHECK_EXCEPTION(fr::save_npy("/proc/none/a.npy", a), fr::error, says("/proc/none/a.npy"));
  BOOST_CHECK_EXCEPTION((fr::load_npy<int, 2>(shared_file("absent.npy"), t, {})), fr::error, says("absent.npy"));
  const std::string file = shared_file("t.npy");
  if (own_rank() == 0) fr::save_npy(file, std::vector<float>(6), fr::extents<2>(2, 3));
  (void)fr::to_vector(a);
  BOOST_CHECK_EXCEPTION((fr::load_npy<int, 2>(file, t, {})), fr::invalid_argument, says("load_npy<float, 2>"));
  BOOST_CHECK_THROW((fr::load_npy<float, 2>(file, t, {.axis = 7})), fr::invalid_argument);
  BOOST_TEST((fr::to_vector(fr::load_npy<float, 2>(file, t, {})) == std::vector<float>(6)));
  if (own_rank() == 0) std::filesystem::remove(file);
}

// Packing and sending the program's arrays is not attributed to lines of ferry's own headers.
BOOST_AUTO_TEST_CASE(moved_in_lines_of_the_program, *boost::unit_test::precondition(needs_processes{})) {
  using enum fr::memory_kind;
  const support::named_lines lines;
  fr::simulation runtime("devices=4");
  const fr::team t = fr::team::world(), other = fr::team::world();
  dice d(1);
  deal_again<2, device, device>(d, t, other);
  deal_again<2, unified, device>(d, t, t);
  for (int i = 0; i < 5; ++i) deal_from_and_to_each<2, unified, unified>(d, t);
  lines.check(20);
}

BOOST_AUTO_TEST_CASE(structs_are_collected_in_each_process) {
  const fr::team t = fr::team::world();
  std::vector<double> x(19);
  std::vector<float> y(12);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = 0.5 * static_cast<double>(i);
  for (std::size_t i = 0; i < y.size(); ++i) y[i] = static_cast<float>(7 * i);
  const auto shards = fr::adapt<fr::sharded_array>(t, {.halo = 1, .periodic = true}, std::tuple(x, std::optional(y)));
  const auto host = fr::adapt<fr::host_array>(shards);
  BOOST_TEST(fr::to_vector(std::get<0>(host)) == x);
  BOOST_TEST(fr::to_vector(*std::get<1>(host)) == y);
  const auto narrow = fr::adapt(t.device(t.first_local()), shards, fr::narrow);
  BOOST_TEST(fr::to_vector(std::get<0>(narrow)) == std::vector<float>(x.begin(), x.end()));
  BOOST_TEST(fr::adapt<fr::cpu_vector>(*std::get<1>(shards)) == y);

  const auto eigen = fr::adapt<fr::eigen_array>(std::get<0>(shards));
  BOOST_TEST(std::equal(x.begin(), x.end(), eigen.begin()));
  const auto back = fr::adapt<fr::sharded_array>(t, {}, eigen);
  BOOST_TEST(fr::to_vector(back) == x);
}

BOOST_AUTO_TEST_CASE(arrays_on_other_teams, *boost::unit_test::precondition(needs_processes{})) {
  const fr::team t = fr::team::world();
  std::vector<fr::device> others;
  for (std::size_t m = t.first_local(); m < t.first_local() + t.local_size(); ++m)
    others.push_back(fr::devices()[(static_cast<std::size_t>(t.device(m).index()) + 1) % fr::devices().size()]);
  BOOST_TEST_REQUIRE((others.front() != t.device(t.first_local())));
  const fr::team elsewhere(others, t.first_local(), t.size(), t.wire());
  fr::sharded_array<int, 1> a(t, {9}, {}, 1), b(elsewhere, {9}, {}, 2), c(t, {8}, {}, 3);
  const auto says = [](const char* part) {
    return [part](const fr::error& e) { return std::string(e.what()).find(part) != std::string::npos; };
  };
  BOOST_CHECK_EXCEPTION(fr::reshard(a, b), fr::invalid_argument, says("a team of each process"));
  BOOST_CHECK_EXCEPTION(fr::reshard(b, a), fr::invalid_argument, says("team::world()"));
  BOOST_CHECK_THROW(fr::reshard(a, c), fr::invalid_argument);
  BOOST_TEST((fr::to_vector(a) == std::vector<int>(9, 1)));
}

// All processes detect differing shapes before any data is moved.
BOOST_AUTO_TEST_CASE(shapes_that_differ_between_processes, *boost::unit_test::precondition(needs_processes{})) {
  const fr::team t = fr::team::world();
  fr::sharded_array<int, 1> a(t, {t.size() * (own_rank() == 1 ? 3 : 2)}, {}, 1);
  BOOST_CHECK_EXCEPTION((void)fr::to_vector(a), fr::invalid_argument, [](const fr::error& e) {
    return std::string(e.what()).find("same array") != std::string::npos;
  });
  const fr::sharded_array<int, 1> b(t, {7}, {}, 4);
  BOOST_TEST((fr::to_vector(b) == std::vector<int>(7, 4)));
}

BOOST_AUTO_TEST_SUITE_END()
