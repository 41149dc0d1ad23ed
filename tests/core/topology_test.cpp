// Topology: detected, measured, and refused from files.
#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

#include <unistd.h>

#include <ferry/core/error.hpp>
#include <ferry/core/runtime.hpp>
#include <ferry/core/topology.hpp>

#include "contract/small_chunks.hpp"
#include "copies/copy_engine.hpp"
#include "copies/copy_workers.hpp"
#include "ferry/core/detail/runtime/peer.hpp"
#include "ferry/core/detail/support/thread_affinity.hpp"
#include "platform/host_topology.hpp"
#include "platform/nvlink_neighbours.hpp"
#include "support/file_bytes.hpp"
#include "support/quiet_stderr.hpp"

namespace topologies {
namespace {

namespace fr = ferry;

std::string temporary_file() {
  return (std::filesystem::temp_directory_path() / ("ferry_topology_" + std::to_string(getpid()) + "/file")).string();
}

struct no_files {
  ~no_files() { std::filesystem::remove_all(std::filesystem::path(temporary_file()).parent_path()); }
};

bool contains(const std::string& text, const std::string& part) { return text.find(part) != text.npos; }

}  // namespace
}  // namespace topologies

BOOST_AUTO_TEST_SUITE(topologies)

BOOST_AUTO_TEST_CASE(links_are_lent_by_neighbours_over_nvlink) {
  const std::vector<int> links{18, 0, -1, 6};  // from devices 0 to 3 to another device
  const auto of = [&](int d) { return links.at(static_cast<std::size_t>(d)); };
  BOOST_TEST((fr::detail::nvlink_neighbours({0, 1, 3}, of) == std::vector<int>{0, 3}));
  BOOST_TEST((fr::detail::nvlink_neighbours({1, 2}, of) == std::vector<int>{2}));
  BOOST_TEST(fr::detail::nvlink_neighbours({1}, of).empty());
}

BOOST_AUTO_TEST_CASE(a_look_measures_nothing) {
  const fr::simulation sim("devices=3;peers=0-1");
  const fr::topology t = fr::topology::look();
  BOOST_TEST(t.devices() == 3u);
  BOOST_TEST(!t.is_measured());
  const bool peers = fr::runtime::current().peers().policy().use;
  BOOST_TEST(t.link(fr::device(0), fr::device(1)).peers == peers);
  BOOST_TEST(!t.link(fr::device(0), fr::device(2)).peers);
  BOOST_TEST(t.link(fr::device(2), fr::device(2)).peers);
  BOOST_TEST(t.place(fr::device(1)).name == "simulated device 1");
  BOOST_TEST(!t.place(fr::device(1)).cores.empty());
  std::ostringstream out;
  out << t;
  for (const char* part : {"device   0", "device 2", "self", "no peers", peers ? " peers a r0" : "no peers",
                           "atomics reach", "cores near"})
    BOOST_TEST(contains(out.str(), part), out.str());
  BOOST_CHECK_THROW((void)t.place(fr::device(3)), std::out_of_range);
}

BOOST_AUTO_TEST_CASE(bandwidths_are_measured_once_and_kept) {
  const no_files after;
  const fr::simulation sim("devices=2");
  const std::string file = temporary_file();
  const fr::topology first = fr::topology::measured(file);
  BOOST_TEST(first.is_measured());
  BOOST_TEST(first.upload(fr::device(1)) > 0);
  BOOST_TEST(first.link(fr::device(0), fr::device(1)).gb_per_second > 0);
  BOOST_TEST(support::bytes_of(file) == first.text());
  const support::quiet_stderr said;
  const fr::topology again = fr::topology::measured(file);
  BOOST_TEST(again.text() == first.text());  // equal only if it was not measured again
  BOOST_TEST(said.text() == "");
  std::ostringstream out;
  out << again;
  BOOST_TEST(contains(out.str(), "GB/s"));
}

// Entries of other systems in the file are preserved.
BOOST_AUTO_TEST_CASE(files_of_other_machines_stay_as_they_are) {
  const no_files after;
  const std::string file = temporary_file();
  {
    const fr::simulation other("devices=3");
    (void)fr::topology::measured(file);
  }
  const std::string before = support::bytes_of(file);
  const fr::simulation sim("devices=2");
  for (int i = 0; i < 2; ++i) {
    const support::quiet_stderr said;
    const fr::topology t = fr::topology::measured(file);
    BOOST_TEST((t.is_measured() && t.devices() == 2u));
    for (const char* part : {"are not used", "another machine", "stays as it is", "FERRY_TOPOLOGY"})
      BOOST_TEST(contains(said.text(), part), said.text());
    BOOST_TEST(support::bytes_of(file) == before);
  }
}

BOOST_AUTO_TEST_CASE(damaged_files_are_refused_and_written_again) {
  const no_files after;
  const std::string file = temporary_file();
  const fr::simulation sim("devices=2");
  (void)fr::topology::measured(file);
  const auto refused = [&](const std::string& why) {
    const support::quiet_stderr said;
    const fr::topology t = fr::topology::measured(file);
    BOOST_TEST(t.is_measured());
    BOOST_TEST(contains(said.text(), "ferry: the bandwidths in " + file + " are not used"), said.text());
    BOOST_TEST(contains(said.text(), why), said.text());
    BOOST_TEST(support::bytes_of(file) == t.text());
  };
  const std::string good = support::bytes_of(file);
  const auto damage = [&](const std::string& text, const std::string& why) {
    std::ofstream(file) << text;
    refused(why);
  };
  damage("", "does not begin with");
  damage("something else\n", "does not begin with");
  damage(good.substr(0, good.rfind("pair")), "ends too early");
  damage(good + "pair 0 2 5\n", "'pair 0 2 5' does not parse");
  damage(good + "pair 0 1 -5\n", "does not parse");
  damage(good + "host 0 1 2 3\n", "does not parse");
}

// Several systems share a home directory: each has its own file, and a copied file is refused.
BOOST_AUTO_TEST_CASE(machines_that_share_a_home) {
  const no_files after;
  const auto folder = std::filesystem::path(temporary_file()).parent_path();
  const contract::variable no_file("FERRY_TOPOLOGY", ""), cache("XDG_CACHE_HOME", folder.c_str());
  const fr::simulation sim("devices=1");
  std::string first;
  {
    const contract::variable host("FERRY_HOST", "north/1");
    first = fr::topology::default_file();
    BOOST_TEST(first.starts_with((folder / "ferry/topology-north_1-").string()), first);
    (void)fr::topology::measured();
  }
  const contract::variable host("FERRY_HOST", "south");
  BOOST_TEST(fr::topology::default_file() != first);
  const support::quiet_stderr said;
  (void)fr::topology::measured();
  BOOST_TEST(said.text() == "");
  (void)fr::topology::measured(first);
  BOOST_TEST(contains(said.text(), "it says 'machine north/1;"), said.text());
  BOOST_TEST(contains(said.text(), "this is 'south;"), said.text());
}

// Ranks on one system that each see different devices: no process overwrites another's file.
BOOST_AUTO_TEST_CASE(processes_that_see_other_devices) {
  const no_files after;
  const auto folder = std::filesystem::path(temporary_file()).parent_path();
  const contract::variable no_file("FERRY_TOPOLOGY", ""), cache("XDG_CACHE_HOME", folder.c_str());
  const auto measured = [](const char* devices, const char* peers) {
    const contract::variable policy("FERRY_PEER", peers);
    const fr::simulation sim(devices);
    return fr::topology::measured().text();
  };
  const support::quiet_stderr said;
  const std::string two = measured("devices=2", "on"), one = measured("devices=1", "on"),
                    apart = measured("devices=2", "off");
  BOOST_TEST(measured("devices=2", "on") == two);
  BOOST_TEST(measured("devices=1", "on") == one);
  BOOST_TEST(measured("devices=2", "off") == apart);
  BOOST_TEST(said.text() == "");
}

BOOST_AUTO_TEST_CASE(bandwidths_to_the_cpu_are_those_of_one_link) {
  const fr::simulation sim("devices=2");
  fr::copy_options o = fr::current_copy_options();
  o.multipath_from_bytes = 1;
  o.multipath_chunk_bytes = 4096;
  fr::set_copy_options(o);
  const fr::shared_links team(fr::devices());
  fr::topology t = fr::topology::look();
  t.measure();
  BOOST_TEST(t.upload(fr::device(0)) > 0);
  for (const int d : {0, 1})  // no staging buffers of helpers were needed
    BOOST_TEST(fr::runtime::current().copies().lanes().trim(fr::memory_kind::device, d) == 0u);
}

BOOST_AUTO_TEST_CASE(a_file_that_cannot_be_written_is_said) {
  const fr::simulation sim("devices=1");
  const support::quiet_stderr said;
  const fr::topology t = fr::topology::measured("/proc/ferry/none");
  BOOST_TEST(t.is_measured());
  BOOST_TEST(contains(said.text(), "cannot be written to /proc/ferry/none"), said.text());
}

BOOST_AUTO_TEST_CASE(lists_of_cores) {
  using list = std::vector<int>;
  const auto check = [](const char* text, const list& expected) {
    BOOST_TEST(fr::detail::parse_core_list(text) == expected, boost::test_tools::per_element());
  };
  check("0-3,8,10-11", {0, 1, 2, 3, 8, 10, 11});
  check("7", {7});
  for (const char* bad : {"", "a", "1-", "3-1", "1;2", "1-2-3", "-1-x", "0-99999999"}) check(bad, {});
  BOOST_TEST(!fr::detail::cores_near("ffff:ff:1f.7").empty());  // no such device: returns all usable cores
}

BOOST_AUTO_TEST_CASE(threads_stay_near_and_copy) {
  const std::vector<int> all = fr::detail::usable_cores();
  fr::detail::copy_workers workers(3, {all.front()}, 300);
  std::vector<std::vector<char>> from(20, std::vector<char>(1000)), to = from;
  std::vector<fr::detail::copy_workers::job> jobs(20);
  for (std::size_t i = 0; i < 20; ++i) {
    std::fill(from[i].begin(), from[i].end(), static_cast<char>(i + 1));
    jobs[i].to = to[i].data(), jobs[i].from = from[i].data(), jobs[i].bytes = 1000;
    workers.start(jobs[i]);
  }
  for (auto& j : jobs) workers.wait(j);
  BOOST_TEST((to == from));
  std::vector<int> cores;
  std::thread([&] {
    fr::detail::run_this_thread_on({all.back()});
    cores = fr::detail::usable_cores();
  }).join();
  BOOST_TEST(cores == std::vector<int>{all.back()}, boost::test_tools::per_element());
  {
    const fr::detail::cores_scope one({all.front()});
    BOOST_TEST(fr::detail::usable_cores() == std::vector<int>{all.front()}, boost::test_tools::per_element());
    const fr::detail::cores_scope none({});
  }
  BOOST_TEST(fr::detail::usable_cores() == all, boost::test_tools::per_element());
}

// Like OpenMP threads: the first query comes from a bound thread, and must not determine the result for all threads.
BOOST_AUTO_TEST_CASE(bound_threads_query_the_process) {
  const std::vector<int> all = fr::detail::usable_cores();
  std::vector<int> near, within, after;
  std::thread([&] {
    const fr::detail::cores_scope bound({all.back()});
    near = fr::detail::cores_near("ffff:ff:1e.6");  // not queried before
    {
      const fr::detail::cores_scope elsewhere({all.front()});
      within = fr::detail::usable_cores();
    }
    after = fr::detail::usable_cores();
  }).join();
  BOOST_TEST(near == all, boost::test_tools::per_element());
  BOOST_TEST(within == std::vector<int>{all.front()}, boost::test_tools::per_element());
  BOOST_TEST(after == std::vector<int>{all.back()}, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(threads_are_counted_by_the_device_they_copy_for) {
  const fr::simulation sim("devices=3");
  fr::copy_options o = fr::current_copy_options();
  o.threads = 2;
  fr::set_copy_options(o);
  fr::detail::copy_engine& engine = fr::runtime::current().copies();
  const std::size_t bytes = std::size_t{1} << 30;
  BOOST_TEST(engine.choose(fr::pageable_memory, fr::device(2), bytes).from == 2);
  BOOST_TEST(engine.choose(fr::device(1), fr::pageable_memory, bytes).from == 1);
}

BOOST_AUTO_TEST_SUITE_END()
