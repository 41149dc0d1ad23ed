// Reports of memory use: as text, as a struct, as JSON, and peaks.
#define BOOST_BIND_GLOBAL_PLACEHOLDERS  // which Boost 1.74's own headers use, and warn of
#include <boost/property_tree/json_parser.hpp>
#include <boost/test/unit_test.hpp>
#include <ferry/core.hpp>
#include <iterator>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

namespace fr = ferry;

namespace {
constexpr std::size_t MiB = std::size_t{1} << 20;
}

BOOST_AUTO_TEST_SUITE(memory_status)

BOOST_AUTO_TEST_CASE(as_text) {
  fr::simulation sim("devices=1;memory=64MiB", {.kind = fr::pool_kind::split});  // other kinds reserve other amounts
  fr::set_memory_limit(fr::device(0), {.hard = "100%"});
  const fr::memory_tag_scope scope{"solver"};
  const fr::device_array<char> a({4 * MiB});
  { const fr::device_array<char> b({4 * MiB}); }
  fr::unified_array<char> u({2 * MiB});
  u.name("field");
  std::ostringstream out;
  fr::memory_status(out);
  const std::string text = out.str();
  for (const char* part :
       {"Device 0 (", "Effective memory use: 50.00 % (32.000 MiB of 64.000 MiB)\n",
        "Pool use, device memory: 4.000 MiB in 1 array (32.000 MiB reserved), at most 8.000 MiB\n",
        "Pool use, unified memory: 2.000 MiB in 1 array (",
        "Limits: device and unified memory of device 0: hard 100% (64.000 MiB)\n",
        "Tag 'solver': 6.000 MiB in 2 arrays, at most 8.000 MiB, ever 10.000 MiB\n"
        "  Device 0, device memory: 4.000 MiB in 1 array\n  Device 0, unified memory: 2.000 MiB in 1 array\n",
        "Name 'field': 2.000 MiB in 1 array, at most 2.000 MiB, ever 2.000 MiB\n"})
    BOOST_TEST(text.find(part) != text.npos, "'" << part << "' is missing in\n" << text);
  BOOST_TEST(text.find("pinned") == text.npos, text);  // unused kinds are omitted
}

// Read by a parser, not compared as text.
BOOST_AUTO_TEST_CASE(json_that_a_parser_reads) {
  fr::simulation sim("devices=2;memory=64MiB", {.kind = fr::pool_kind::split});
  fr::set_memory_limit(fr::device(1), {.soft = "50%", .hard = "100%"});
  fr::set_memory_limit({.tag = "solver"}, {.hard = "32MiB"});
  const fr::memory_tag_scope scope{"solver"};
  fr::device_array<char> a({1 * MiB}, fr::device(1));
  { const fr::device_array<char> gone({2 * MiB}); }
  const fr::unified_array<char> u({4 * MiB}), v({4 * MiB});
  a.name("\"\\\n</script>\x01");
  boost::property_tree::ptree read;
  std::istringstream in(fr::memory_use().json());
  boost::property_tree::read_json(in, read);
  const auto number = [](const auto& tree, const char* key) { return tree.template get<std::size_t>(key); };
  const auto at = [](const auto& tree, std::size_t i) { return std::next(tree.begin(), static_cast<long>(i))->second; };
  const auto devices = read.get_child("devices");
  BOOST_REQUIRE(devices.size() == 2u);
  for (std::size_t d = 0; d < 2; ++d) {
    const auto device = at(devices, d);
    BOOST_TEST((number(device, "device") == d && number(device, "total_bytes") == 64 * MiB));
    BOOST_REQUIRE(device.get_child("kinds").size() == 3u);
    for (const auto& [none, kind] : device.get_child("kinds"))
      BOOST_TEST(number(kind, "reserved_bytes") >= number(kind, "current_bytes"));
  }
  BOOST_TEST(at(devices, 1).get_child("limits").size() == 2u);
  BOOST_TEST(number(at(at(devices, 1).get_child("kinds"), 0), "current_bytes") == 1 * MiB);
  const auto labels = read.get_child("labels");
  BOOST_REQUIRE(labels.size() == 2u);
  const auto tag = at(labels, 0), name = at(labels, 1);
  BOOST_TEST((tag.get<std::string>("label") == "solver" && tag.get<bool>("is_tag") && !name.get<bool>("is_tag")));
  BOOST_TEST(name.get<std::string>("label") == a.name());
  BOOST_TEST((number(tag, "current_bytes") == 9 * MiB && number(tag, "total_bytes") == 11 * MiB));
  BOOST_TEST((number(name, "total_bytes") == 1 * MiB && number(name, "arrays") == 1u));
  const auto places = tag.get_child("places");
  BOOST_REQUIRE(places.size() == 2u);
  const auto first = at(places, 0), second = at(places, 1);
  BOOST_TEST((first.get<std::string>("kind") == "unified" && number(first, "device") == 0u));
  BOOST_TEST((number(first, "current_bytes") == 8 * MiB && number(first, "arrays") == 2u));
  BOOST_TEST((second.get<std::string>("kind") == "device" && number(second, "device") == 1u));
  BOOST_TEST((number(second, "current_bytes") == 1 * MiB && number(second, "arrays") == 1u));
}

BOOST_AUTO_TEST_CASE(as_json) {
  fr::simulation sim("devices=2;memory=64MiB");
  fr::device_array<char> a({1 * MiB});
  a.name("a \"quoted\" </script> name");
  const std::string json = fr::memory_use().json();
  for (const char* part : {"{\"devices\":[{\"device\":0,",
                           "\"kinds\":[{\"kind\":\"device\",\"current_bytes\":1048576,\"peak_bytes\":1048576,",
                           "\"label\":\"a \\\"quoted\\\" \\u003c/script> name\"", "\"limits\":[]", "{\"device\":1,"})
    BOOST_TEST(json.find(part) != json.npos, "'" << part << "' is missing in\n" << json);
}

// A workspace hands the same block to several arrays in turn, each with its own name and tag.
BOOST_AUTO_TEST_CASE(arrays_of_workspaces_and_checked_ones_are_told_apart) {
  for (const bool checked : {false, true}) {
    fr::simulation sim("devices=1;memory=64MiB", {.kind = fr::pool_kind::split});
    if (checked) fr::set_memory_checks(fr::memory_checks());
    const auto of_kind = [] { return fr::memory_use().devices[0].kinds[0]; };
    const auto held_by = [](const std::string& label, bool is_tag) {
      std::size_t bytes = 0;
      for (const auto& l : fr::memory_use().labels)
        if (l.label == label && l.is_tag == is_tag) bytes += l.current_bytes;
      return bytes;
    };
    fr::workspace w;
    for (const char* const who : {"first", "second"}) {
      const fr::workspace_scope iteration(w);
      const fr::memory_tag_scope tag{who};
      fr::device_array<char> a({MiB});
      a.name(std::string("of the ") + who);
      BOOST_TEST(a.name() == std::string("of the ") + who);
      const std::size_t bytes = of_kind().current_bytes;
      BOOST_TEST(bytes >= MiB);
      BOOST_TEST(held_by(who, true) == bytes);
      BOOST_TEST(held_by(std::string("of the ") + who, false) == bytes);
      if (*who == 's') {
        BOOST_TEST(held_by("first", true) == 0u);
        BOOST_TEST(held_by("of the first", false) == 0u);
      }
    }
    BOOST_TEST(w.statistics().reused == 1u);
    const auto after = of_kind();
    BOOST_TEST((after.current_bytes == 0u && after.arrays == 0u && after.total_arrays == 2u));
    BOOST_TEST(after.retained_bytes >= MiB);
    BOOST_TEST((held_by("second", true) == 0u && held_by("of the second", false) == 0u));
    const std::string text = fr::memory_use().text(), json = fr::memory_use().json();
    BOOST_TEST(text.find(" kept by workspaces\n") != text.npos, text);
    BOOST_TEST(json.find("\"retained_bytes\":" + std::to_string(after.retained_bytes)) != json.npos, json);
    w.clear();
    if (checked) fr::set_memory_checks(fr::memory_checks{.quarantine_bytes = 0, .quarantine_blocks = 0});
    { const fr::device_array<char> last({100}); }  // empties the quarantine
    fr::set_memory_checks(std::nullopt);
    BOOST_TEST((of_kind().retained_bytes == 0u && of_kind().current_bytes == 0u));
  }
}

// Freed blocks that are held back from reuse belong to no array.
BOOST_AUTO_TEST_CASE(blocks_in_quarantine_belong_to_no_array) {
  fr::simulation sim("devices=1;memory=64MiB", {.kind = fr::pool_kind::split});
  const fr::memory_checks_scope on;
  {
    const fr::memory_tag_scope tag{"solver"};
    fr::device_array<char> a({MiB});
    a.name("u");
  }
  const fr::memory_usage use = fr::memory_use();
  BOOST_TEST((use.devices[0].kinds[0].current_bytes == 0u && use.devices[0].kinds[0].retained_bytes >= MiB));
  BOOST_REQUIRE(use.labels.size() == 2u);
  for (const auto& l : use.labels) BOOST_TEST((l.current_bytes == 0u && l.peak_bytes >= MiB));
}

BOOST_AUTO_TEST_CASE(everything_comes_back_to_zero) {
  fr::simulation sim("devices=2");
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 4; ++t)
      threads.emplace_back([t] {
        const fr::memory_tag_scope tag{t % 2 ? "odd" : "even"};
        std::vector<fr::device_array<char>> arrays;
        for (std::size_t i = 0; i < 200; ++i) {
          arrays.emplace_back(fr::extents<1>(1000 * i), fr::device(t % 2));
          if (i % 3 == 0) arrays.erase(arrays.begin());
          if (i % 5 == 0 && !arrays.empty() && !arrays.back().empty()) arrays.back().name("n" + std::to_string(i % 2));
        }
      });
  }
  const fr::memory_usage use = fr::memory_use();
  for (const auto& d : use.devices)
    for (const auto& k : d.kinds) {
      BOOST_TEST((k.current_bytes == 0u && k.arrays == 0u));
      if (k.kind == fr::memory_kind::device) {
        BOOST_TEST(k.total_arrays == 398u);  // two arrays are empty
        BOOST_TEST(k.peak_bytes > 0u);
      }
    }
  BOOST_TEST(use.labels.size() == 4u);
  for (const auto& l : use.labels) BOOST_TEST((l.current_bytes == 0u && l.arrays == 0u && l.peak_bytes > 0u));
}

BOOST_AUTO_TEST_CASE(peak_meters_are_exact_and_scoped) {
  fr::simulation sim("devices=2");
  const fr::device_array<char> before({1 * MiB});
  fr::memory_peak_meter all(fr::device(0));
  {
    const fr::device_array<char> a({2 * MiB});
    { const fr::unified_array<char> b({4 * MiB}); }
    const fr::device_array<char> elsewhere({8 * MiB}, fr::device(1));
    const fr::memory_peak_meter late({.on = fr::device(0), .kind = fr::memory_kind::device});
    BOOST_TEST(late.growth_bytes() == 0u);
    BOOST_TEST(late.peak_bytes() == 3 * MiB);
  }
  BOOST_TEST(all.peak_bytes() == 7 * MiB);
  BOOST_TEST(all.growth_bytes() == 6 * MiB);
  BOOST_TEST(all.current_bytes() == 1 * MiB);
  all.reset();
  std::vector<std::jthread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([] {
      for (int i = 0; i < 100; ++i) const fr::device_array<char> a({1024});
    });
  threads.clear();
  BOOST_TEST(all.peak_bytes() >= 1 * MiB + 1024);
  BOOST_TEST(all.peak_bytes() <= 1 * MiB + 4 * 1024);
  BOOST_TEST(all.current_bytes() == 1 * MiB);
}

BOOST_AUTO_TEST_CASE(threads_count_for_themselves) {
  fr::simulation sim("devices=1");
  const fr::device_array<char> mine({1024});
  std::jthread([] {
    const fr::device_array<char> other({2048});
    const fr::detail::memory_counts c = fr::memory_counts_of_this_thread(fr::memory_kind::device, fr::device(0));
    BOOST_TEST((c.allocations == 1u && c.allocated_bytes == 2048u));
  }).join();
  BOOST_TEST(fr::memory_counts_of_this_thread(fr::memory_kind::device, fr::device(0)).current_bytes() == 1024);
}

BOOST_AUTO_TEST_SUITE_END()
