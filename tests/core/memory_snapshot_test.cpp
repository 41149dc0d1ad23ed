// Snapshots of memory: blocks, history, and their JSON. tests/tools tests the page that draws them.
#include <unistd.h>

#include <boost/test/unit_test.hpp>
#include <cstdio>
#include <ferry/core.hpp>
#include <ferry/core/memory_snapshot.hpp>
#include <string>
#include <vector>

#include "ferry/core/detail/accounting/memory_accounting.hpp"
#include "ferry/core/detail/pools/memory_pool.hpp"
#include "ferry/core/detail/pools/runtime_pools.hpp"
#include "support/file_bytes.hpp"
#include "support/json_fault.hpp"

namespace fr = ferry;

namespace {
constexpr std::size_t KiB = 1024;
}

BOOST_AUTO_TEST_SUITE(memory_snapshot)

BOOST_AUTO_TEST_CASE(blocks_tile_their_segments) {
  for (const auto kind : {fr::pool_kind::split, fr::pool_kind::binned, fr::pool_kind::none}) {
    fr::simulation sim("devices=1", {.kind = kind});
    std::vector<fr::device_array<char>> arrays;
    for (std::size_t i = 1; i <= 40; ++i) arrays.emplace_back(fr::extents<1>(i * 5 * KiB));
    arrays[7].name("seven");
    for (std::size_t i = 0; i < arrays.size(); i += 3) arrays[i].free();
    const fr::memory_snapshot s = fr::take_memory_snapshot();
    BOOST_REQUIRE(s.pools.size() == 1u);
    std::size_t in_use = 0, bytes = 0, named = 0;
    const fr::detail::block_info* before = nullptr;
    for (const fr::detail::block_info& b : s.pools[0].blocks) {
      BOOST_TEST((before || b.starts_segment));
      if (!b.starts_segment) BOOST_TEST((before->begin + before->bytes == b.begin));
      before = &b;
      bytes += b.bytes;
      if (!b.is_free) in_use += b.bytes;
      if (b.name == fr::detail::intern_name("seven")) named += b.bytes;
    }
    const fr::pool_statistics now = sim.get().pool(fr::memory_kind::device, 0).statistics();
    BOOST_TEST(in_use == now.allocated_bytes);
    BOOST_TEST(bytes == now.reserved_bytes);
    BOOST_TEST(named == arrays[7].owner().get().bytes);
  }
}

BOOST_AUTO_TEST_CASE(the_history_adds_up) {
  fr::simulation sim("devices=2");
  const fr::device_array<char> before({4 * KiB});
  const fr::memory_recording recording(50);
  for (int i = 0; i < 100; ++i) {
    fr::device_array<char> a({1 * KiB}), b({2 * KiB}, fr::device(1));
    a.name("a");
  }
  const fr::device_array<char> after({8 * KiB});
  const fr::memory_snapshot s = recording.snapshot();
  BOOST_REQUIRE(s.history.size() == 50u);
  BOOST_TEST(s.forgotten_events >= 351u);
  std::vector<std::size_t> used = s.allocated_before, held = s.reserved_before;
  double last = 0;
  bool named = false;
  for (const fr::memory_event& e : s.history) {
    BOOST_TEST(e.seconds >= last);
    last = e.seconds;
    std::size_t& u = used[static_cast<std::size_t>(e.device)];
    if (e.what == fr::memory_event::action::allocate) u += e.bytes;
    if (e.what == fr::memory_event::action::free) u -= e.bytes;
    std::size_t& h = held[static_cast<std::size_t>(e.device)];
    if (e.what == fr::memory_event::action::reserve) h += e.bytes;
    if (e.what == fr::memory_event::action::give_back) h -= e.bytes;
    named = named || (e.what == fr::memory_event::action::free &&
                      fr::detail::label_text(fr::detail::label_kind::name, e.name) == "a");
  }
  BOOST_TEST((used[0] == 12 * KiB && used[1] == 0u));
  BOOST_TEST(held[0] == sim.get().memory().pools().reserved_bytes(fr::memory_kind::device, 0));
  BOOST_TEST(named);
}

BOOST_AUTO_TEST_CASE(snapshots_are_saved_as_json) {
  fr::simulation sim("devices=1");
  const fr::memory_recording recording;
  fr::device_array<char> a({4 * KiB});
  a.name("</script><b>");
  const fr::memory_snapshot s = recording.snapshot();
  const std::string json = s.json();
  BOOST_TEST(support::json_reader::fault(json) == "");
  BOOST_TEST(json.find("\"history\":[[0.") != json.npos, json);
  BOOST_TEST(json.find("\"allocate\",\"device\",0,") != json.npos, json);
  BOOST_TEST(json.find('<') == json.npos, json);                               // a page may embed it in a script
  const std::string file = "snapshot" + std::to_string(::getpid()) + ".json";  // unique per process
  fr::save_memory_snapshot(s, file);
  BOOST_TEST(support::bytes_of(file) == json);
  std::remove(file.c_str());
  BOOST_CHECK_THROW(fr::save_memory_snapshot(s, "/no/such/folder/s.json"), fr::error);
}

BOOST_AUTO_TEST_SUITE_END()
