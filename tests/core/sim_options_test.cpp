// The text of FERRY_SIM.
#include <algorithm>
#include <stdexcept>
#include <string>
#include <vector>

#include "ferry/core/detail/support/thread_affinity.hpp"
#include "sim_fixture.hpp"

using namespace sim_test;

BOOST_AUTO_TEST_SUITE(sim_options)

BOOST_AUTO_TEST_CASE(options_are_read) {
  const auto o = fr::detail::sim::parse_options(
      " devices=3; memory=2MiB "
      ";peers=0-1,1-2;broken=2-1;schedule=random:42;fail=alloc@17,peer@2;concurrent_managed=off;pageable_access=on");
  BOOST_TEST(o.devices == 3);
  for (const int d : {0, 2}) BOOST_TEST(o.memory_of(d) == 2u << 20);
  BOOST_TEST((o.are_peers(1, 0) && o.are_peers(1, 2) && !o.are_peers(0, 2) && !o.are_peers(1, 1)));
  using fr::detail::peer_memory;
  BOOST_TEST((o.is_broken(1, 2, peer_memory::plain) && o.is_broken(2, 1, peer_memory::unified) &&
              !o.is_broken(0, 1, peer_memory::plain)));
  const auto by_sort = fr::detail::sim::parse_options("broken=0-1:pools, 1-2:unified,2-3 : plain");
  BOOST_TEST((by_sort.is_broken(1, 0, peer_memory::pooled) && !by_sort.is_broken(0, 1, peer_memory::plain) &&
              !by_sort.is_broken(0, 1, peer_memory::unified)));
  BOOST_TEST((by_sort.is_broken(1, 2, peer_memory::unified) && !by_sort.is_broken(1, 2, peer_memory::pooled)));
  BOOST_TEST((by_sort.is_broken(2, 3, peer_memory::plain) && !by_sort.is_broken(2, 3, peer_memory::unified)));
  BOOST_TEST((o.schedule == fr::detail::sim::schedule_kind::random && o.seed == 42 && !o.concurrent_managed &&
              o.pageable_access));
  BOOST_TEST((o.failures == std::vector<fr::detail::sim::failure>{{fr::detail::sim::failing_verb::alloc, 17},
                                                                  {fr::detail::sim::failing_verb::peer, 2}}));
  const auto d = fr::detail::sim::parse_options("");
  BOOST_TEST((d.devices == 4 && d.memory_of(3) == 1u << 30 && d.are_peers(0, 3) &&
              d.schedule == fr::detail::sim::schedule_kind::eager));
  BOOST_TEST(fr::detail::sim::parse_options("memory=100").memory_of(0) == 100u);
  using fr::check_level;
  for (const auto& [text, races, level] : {std::tuple{"", false, check_level::usual},
                                           {"check=off", false, check_level::none},
                                           {"check=races", true, check_level::usual},
                                           {"check=on", true, check_level::all}}) {
    const auto c = fr::detail::sim::parse_options(text);
    BOOST_TEST((c.check_races == races && c.check == level), text);
  }
}

BOOST_AUTO_TEST_CASE(nvrtc_needs_a_compiler) {
  BOOST_TEST(!fr::detail::sim::parse_options("").nvrtc);
  const auto o = fr::detail::sim::parse_options("nvrtc=on");
  BOOST_TEST(o.nvrtc);
  check_throws<fr::not_supported>([&] { (void)fr::detail::sim::make_backend(o); }, "built without CUDA");
  const auto checked = fr::detail::sim::make_backend(o, [](const fr::detail::kernel_text&) {});
  BOOST_TEST(checked->compiles_functors());
  BOOST_TEST(!fr::detail::sim::make_backend({})->compiles_functors());
}

BOOST_AUTO_TEST_CASE(devices_have_sizes_of_their_own) {
  for (const std::string text : {"devices=4;memory=4KiB, 2KiB ,512B", "memory=4KiB,2KiB,512;devices=4"}) {
    const sim_machine m(text);
    for (const auto& [device, bytes] : {std::pair{0, 4096}, {1, 2048}, {2, 512}, {3, 512}}) {
      const auto all = static_cast<std::size_t>(bytes);
      BOOST_TEST(m.b.properties(device).memory_bytes == all);
      void* const p = m.b.allocate(memory_kind::device, device, all);
      BOOST_TEST((m.b.memory(device).free_bytes == 0u && m.b.memory(device).total_bytes == all));
      check_throws<fr::out_of_memory>([&, d = device] { m.b.allocate(memory_kind::device, d, 1); }, "memory=");
      m.b.release(memory_kind::device, device, p, all);
      BOOST_TEST(m.b.memory(device).free_bytes == all);
    }
  }
}

BOOST_AUTO_TEST_CASE(options_that_do_not_parse_are_quoted) {
  for (const std::string bad : {"devices=0",
                                "devices=65",
                                "devices=4x",
                                "device=4",
                                "memory=",
                                "memory=1TB",
                                "memory=99999999999GiB",
                                "memory=-1",
                                "memory=1MiB,",
                                "memory=,1MiB",
                                "memory=1MiB,0",
                                "memory=1MiB;memory=2MiB",
                                "memory=1,2,3,4,5",
                                "memory=1MiB,2MiB;devices=1",
                                "peers=0",
                                "peers=0-0",
                                "peers=0-9",
                                "broken=0",
                                "broken=1-1",
                                "broken=0-9",
                                "broken=0-1:pinned",
                                "broken=0-1:",
                                "schedule=fast",
                                "schedule=random:",
                                "schedule=random:x",
                                "fail=free@1",
                                "fail=alloc",
                                "fail=alloc@0",
                                "concurrent_managed=yes",
                                "check=yes",
                                "pinning=races",
                                "nvrtc=",
                                "devices",
                                "devices=2;devices=3"}) {
    check_throws<fr::parse_error>([&] { fr::detail::sim::parse_options(bad); }, bad);
    check_throws<fr::parse_error>([&] { fr::detail::sim::parse_options(bad); }, "allowed, separated by ';'");
  }
}

BOOST_AUTO_TEST_CASE(threads_are_for_the_eager_schedule) {
  BOOST_TEST(fr::detail::sim::parse_options("").threads == 1u);
  BOOST_TEST(fr::detail::sim::parse_options("threads=3").threads == 3u);
  BOOST_TEST(fr::detail::sim::parse_options("threads=all").threads == fr::detail::process_cores().size());
  for (const char* wrong : {"threads=0", "threads=1025", "threads=many", "threads=2;schedule=random:1"})
    BOOST_CHECK_THROW(fr::detail::sim::parse_options(wrong), fr::parse_error);
  BOOST_TEST(fr::detail::sim::parse_options("threads=1;schedule=random:1").threads == 1u);
}

BOOST_AUTO_TEST_CASE(the_cpu_has_its_cores_and_its_memory) {
  const std::size_t memory = std::size_t{3} << 30;
  constexpr unsigned cores = 6;
  const auto no_nodes = []() -> std::vector<fr::detail::numa_node> { throw std::logic_error("not asked for"); };
  const auto parse = [&](const std::string& text) {
    return fr::detail::sim::parse_cpu_options(text, memory, cores, no_nodes);
  };
  BOOST_TEST(fr::detail::sim::parse_cpu_options("", memory).threads == fr::detail::process_cores().size());
  const auto one = parse("");
  BOOST_TEST((one.are_cpus && one.devices == 1 && one.threads == cores && one.memory_of(0) == memory));
  const auto two = parse("devices=2");
  BOOST_TEST((two.devices == 2 && two.threads == cores && two.memory_of(1) == memory / 2));
  const auto all = parse("threads=6;devices=3;memory=1MiB,2MiB");
  BOOST_TEST((all.devices == 3 && all.threads == 6u && all.memory_of(0) == 1u << 20 && all.memory_of(2) == 2u << 20));
  for (const char* wrong :
       {"peers=all", "schedule=eager", "devices=0", "devices=65", "threads=0", "threads=1025", "threads=-1",
        "threads=2;threads=3", "node=7", "check=races", "check=maybe", "memory=1MiB,2MiB", "streams=", "streams=on",
        "streams=eager", "oversubscribe=yes", "threads=7", "threads=7;oversubscribe=off"})
    BOOST_CHECK_EXCEPTION(parse(wrong), fr::parse_error, [&](const fr::parse_error& e) {
      const std::string text = e.what();
      return text.find(std::string("options of the CPU \"") + wrong) != text.npos &&
             text.find("devices=1..64|numa|numa:NODE,NODE,...; threads=1..1024|all;") != text.npos &&
             text.find("check=on|off") != text.npos;
    });
  BOOST_TEST(parse("threads=9;oversubscribe=on").threads == 9u);
  check_throws<fr::parse_error>(
      [&] { parse("threads=9"); },
      "\"threads=9\" is more than the number of cores that this process may use, 6: use threads=all, or "
      "oversubscribe=on for threads that share cores");
}

BOOST_AUTO_TEST_CASE(streams_of_the_cpu_overlap_if_asked) {
  using fr::detail::sim::schedule_kind;
  const auto schedule = [](const char* text) { return fr::detail::sim::parse_cpu_options(text, 1 << 20).schedule; };
  BOOST_TEST((schedule("") == schedule_kind::eager && schedule("streams=direct") == schedule_kind::eager));
  BOOST_TEST((schedule("streams=overlap;devices=3") == schedule_kind::overlap));
  BOOST_TEST((fr::detail::sim::parse_options("schedule=overlap;threads=3").schedule == schedule_kind::overlap));
  BOOST_CHECK_THROW(fr::detail::sim::parse_options("streams=overlap"), fr::parse_error);
}

// The machine has nodes 0, 2 and 5, with 4, 2 and 1 cores.
BOOST_AUTO_TEST_CASE(the_cpu_has_a_device_for_each_numa_node) {
  using fr::detail::numa_node;
  using fr::detail::sim::schedule_kind;
  const std::vector<numa_node> nodes{{0, {0, 1, 2, 3}, true}, {2, {4, 6}, true}, {5, {9}, false}};
  const auto parse = [&](const std::string& text) {
    return fr::detail::sim::parse_cpu_options(text, 600, 7, [&] { return nodes; });
  };
  const auto threads = [](const fr::detail::sim::options& o) {
    std::vector<unsigned> of;
    for (std::size_t d = 0; d != o.nodes.size(); ++d) of.push_back(o.threads_of(d));
    return of;
  };
  const auto all = parse("devices=numa");
  BOOST_TEST((all.devices == 3 && all.nodes == nodes && all.threads == 7u && all.memory_of(1) == 200u));
  BOOST_TEST((threads(all) == std::vector<unsigned>{4, 2, 1}));
  BOOST_TEST((all.schedule == schedule_kind::overlap));
  BOOST_TEST((parse("streams=direct;devices=numa").schedule == schedule_kind::eager));
  const auto two = parse("threads=5;devices=numa:2,0");
  BOOST_TEST((two.devices == 2 && two.nodes[0] == nodes[1] && two.nodes[1] == nodes[0]));
  BOOST_TEST((threads(two) == std::vector<unsigned>{3, 2}));
  BOOST_TEST((threads(parse("devices=numa:5;threads=all")) == std::vector<unsigned>{1}));
  BOOST_TEST((threads(parse("devices=numa:5;threads=4;oversubscribe=on")) == std::vector<unsigned>{4}));
  BOOST_TEST((parse("devices=3").nodes.empty() && parse("devices=3").threads_of(2) == 7));
  const auto refused = [&](const std::string& text, const std::string& why) {
    check_throws<fr::parse_error>([&] { parse(text); }, "options of the CPU \"" + text + "\"");
    check_throws<fr::parse_error>([&] { parse(text); }, why);
  };
  refused("devices=numa:1",
          "names NUMA node 1, which does not exist or has no core that this process may use; there "
          "are nodes 0, 2, 5");
  refused("devices=numa:0,7", "names NUMA node 7");
  refused("devices=numa:0,0", "names a NUMA node twice");
  refused("devices=numa:", "has no number in range");
  refused("devices=numa:-1", "has no number in range");
  refused("devices=numa2", "has no number in range");
  refused("devices=numa:5;threads=2",
          "is more than the number of cores that these NUMA nodes have for this process, 1");
  refused("threads=2;devices=numa", "is less than the number of NUMA nodes, 3");
  BOOST_CHECK_THROW(fr::detail::sim::parse_options("devices=numa"), fr::parse_error);
}

BOOST_AUTO_TEST_CASE(the_cpu_checks_indices_as_asked) {
  using fr::detail::index_checks;
  const auto parse = [](const char* text) { return fr::detail::sim::parse_cpu_options(text, 1 << 20); };
  BOOST_TEST((parse("").indices == index_checks::by_source && parse("").check == fr::check_level::usual));
  const auto on = parse("check=on"), off = parse("check=off");
  BOOST_TEST((on.indices == index_checks::always && on.check == fr::check_level::all && on.check_races));
  BOOST_TEST((off.indices == index_checks::never && off.check == fr::check_level::none && !off.check_races));
  for (const char* text : {"", "check=on", "check=off"})
    BOOST_TEST((fr::detail::sim::parse_options(text).indices == index_checks::simulated));
}

BOOST_AUTO_TEST_SUITE_END()
