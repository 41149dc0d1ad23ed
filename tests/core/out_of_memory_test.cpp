// The out-of-memory error, which lists the users of memory, and the handlers that run before it.
#include <boost/test/unit_test.hpp>
#include <cstdlib>
#include <ferry/core.hpp>
#include <memory>
#include <string>
#include <vector>

#include "ferry/core/detail/accounting/memory_accounting.hpp"
#include "ferry/core/detail/pools/runtime_pools.hpp"
#include "memory/memory_environment.hpp"
#include "support/busy_stream.hpp"
#include "support/device_bytes.hpp"

namespace fr = ferry;
using support::device_bytes;
using support::text_of_failure;

namespace out_of_memory {
namespace {

constexpr std::size_t MiB = std::size_t{1} << 20;

}  // namespace
}  // namespace out_of_memory

BOOST_AUTO_TEST_SUITE(out_of_memory)

BOOST_AUTO_TEST_CASE(the_text) {
  // Segments of 2 MiB; arrays above 1 MiB have their own segment. Other pool kinds round differently.
  fr::simulation sim("devices=2;memory=64MiB", {512, 2 * MiB, 2 * MiB, fr::pool_kind::split});
  fr::set_memory_limit(fr::device(0), {.soft = "90%", .hard = "100%"});
  auto u = device_bytes(16 * MiB);
  u.name("u");
  const fr::memory_tag_scope solver{"solver"};
  const auto a = device_bytes(20 * MiB), b = device_bytes(4 * MiB), half = device_bytes(MiB);
  { const fr::device_array<char> c({2 * MiB}); }
  const std::string text = text_of_failure(40 * MiB);
  const std::vector<std::string> lines = {
      "out of memory: cannot allocate 40.000 MiB of device memory on device 0.",
      "  why: ",
      "  device 0: 22.000 MiB free of 64.000 MiB; this process holds 42.000 MiB through ferry\n",
      "  device memory there: 41.000 MiB allocated by arrays, 42.000 MiB reserved by pools, largest free block 1.000 "
      "MiB\n",
      "  limits: device and unified memory of device 0: soft 90% (57.600 MiB), hard 100% (64.000 MiB)",
      "  largest holders: tag 'solver' 25.000 MiB in 3 arrays, 'u' 16.000 MiB in 1 array",
      "  tried: ",
      "the pool's own cache (",
      "trim of every pool on the device (",
      "  what to try: ",
      "device 1 has 64.000 MiB free: place the array there, or let ferry do it (FERRY_OOM=spill)",
      "a unified array may be larger",
  };
  std::size_t at = 0;
  for (const std::string& l : lines) {
    const std::size_t found = text.find(l, at);
    BOOST_TEST(found != text.npos, "'" << l << "' is missing, or out of place, in\n" << text);
    if (found != text.npos) at = found;
  }
}

// The text includes the names of checked arrays and of arrays in workspaces, and lists retained bytes separately.
BOOST_AUTO_TEST_CASE(the_text_includes_checked_arrays_and_workspaces) {
  fr::simulation sim("devices=1;memory=64MiB", {.kind = fr::pool_kind::split});
  fr::workspace w;
  {
    const fr::workspace_scope iteration(w);
    const auto gone = device_bytes(8 * MiB);
  }
  const fr::memory_checks_scope on;
  auto u = device_bytes(16 * MiB);
  u.name("u");
  const std::string text = text_of_failure(60 * MiB);
  for (const char* part : {"8.000 MiB kept by workspaces, ", "largest holders: 'u' 16.",
                           "release the blocks that workspaces retain (workspace::clear)"})
    BOOST_TEST(text.find(part) != text.npos, "'" << part << "' is missing in\n" << text);
}

BOOST_AUTO_TEST_CASE(the_error_holds_what_it_says) {
  fr::simulation sim("devices=1;memory=64MiB");
  const auto a = device_bytes(32 * MiB);
  try {
    device_bytes(64 * MiB);
    BOOST_ERROR("there was room");
  } catch (const fr::out_of_memory& e) {
    BOOST_TEST(e.requested() == 64 * MiB);
    BOOST_REQUIRE(e.shortage() != nullptr);
    const fr::memory_shortage& s = *e.shortage();
    BOOST_TEST(s.allocated == 32 * MiB);
    BOOST_TEST(s.reserved == 32 * MiB);
    BOOST_TEST(s.this_process == 32 * MiB);
    BOOST_TEST(s.free_bytes == 32 * MiB);
    BOOST_TEST(s.total_bytes == 64 * MiB);
    BOOST_TEST(s.requested == 64 * MiB);
    BOOST_REQUIRE(s.holders.size() == 1u);
    BOOST_TEST((s.holders[0].label.empty() && s.holders[0].bytes == 32 * MiB && s.holders[0].arrays == 1));
    BOOST_TEST(s.tried.size() >= 4u);
    BOOST_TEST(s.text() == e.text());
  }
}

// Bytes cached by other pools of the device are released before the error, without a manual call.
BOOST_AUTO_TEST_CASE(other_pools_of_the_device_make_room) {
  fr::simulation sim("devices=2;memory=64MiB");
  fr::pool other(fr::device(0), {.kind = fr::pool_kind::split});
  { const fr::detail::allocation_ref cached = other.allocate(48 * MiB); }
  BOOST_TEST(other.statistics().reserved_bytes == 48 * MiB);
  const auto a = device_bytes(40 * MiB);
  BOOST_TEST(other.statistics().reserved_bytes == 0u);
}

BOOST_AUTO_TEST_CASE(callbacks_of_the_program) {
  fr::simulation sim("devices=1;memory=64MiB");
  auto cache = device_bytes(48 * MiB);
  int called = 0;
  const auto free_cache = [&](const fr::memory_demand& d) {
    ++called;
    BOOST_TEST(d.bytes == 32 * MiB);
    const std::size_t had = cache.size();
    cache.free();
    return had;
  };
  {
    const auto callback = fr::on_out_of_memory(free_cache);
    const auto a = device_bytes(32 * MiB);
    BOOST_TEST(called == 1);
  }
  fr::reclaim();
  cache = device_bytes(48 * MiB);
  BOOST_CHECK_THROW(device_bytes(32 * MiB), fr::out_of_memory);  // the callback is unregistered
  BOOST_TEST(called == 1);
  const auto callback = fr::on_out_of_memory(free_cache);
  fr::set_memory_limit(fr::device(0), {.hard = "64MiB"});  // the limit refuses first; the callback frees enough
  const auto a = device_bytes(32 * MiB);
  BOOST_TEST(called == 2);
}

// With this policy, the program waits for all work instead of failing.
BOOST_AUTO_TEST_CASE(synchronisation_is_a_choice) {
  BOOST_TEST(!fr::parse_out_of_memory_policy("none").synchronize);
  const fr::out_of_memory_policy both = fr::parse_out_of_memory_policy("spill,synchronize");
  BOOST_TEST((both.synchronize && both.spill_to_peers));
  for (const char* text : {"", "sync", "spill,", "spill;synchronize"})
    BOOST_CHECK_EXCEPTION(fr::parse_out_of_memory_policy(text), fr::parse_error, [&](const fr::parse_error& e) {
      return std::string(e.what()).find("'" + std::string(text) + "'") != std::string::npos;
    });
  fr::simulation sim("devices=1;memory=64MiB");
  const auto a = device_bytes(60 * MiB);
  BOOST_TEST(text_of_failure(8 * MiB).find("waiting for all work") == std::string::npos);
  fr::set_out_of_memory_policy({.synchronize = true});
  BOOST_TEST(text_of_failure(8 * MiB).find("waiting for all work") != std::string::npos);
}

// Work on a stream holds an array until it has run: only waiting for that work frees the array.
BOOST_AUTO_TEST_CASE(synchronisation_helps) {
  for (const char* chosen : {"nowhere", "in code", "in the environment"}) BOOST_TEST_CONTEXT(chosen) {
      fr::simulation sim("devices=1;memory=64MiB;schedule=random:1", {.kind = fr::pool_kind::split});
      const fr::stream s;
      support::busy_stream busy(s);
      sim.get().backend().run_on_host(
          s.timeline().stream(),
          [held = std::make_shared<fr::device_array<char>>(device_bytes(48 * MiB))] { held->free(); });
      int asked = 0;
      const auto callback = fr::on_out_of_memory([&](const fr::memory_demand&) {
        if (++asked == 2) busy.release();  // the work ends during the wait for it
        return std::size_t{0};
      });
      BOOST_CHECK_THROW(device_bytes(32 * MiB), fr::out_of_memory);
      BOOST_TEST(busy.is_busy());
      if (chosen == std::string("nowhere")) continue;
      if (chosen == std::string("in code")) {
        fr::set_out_of_memory_policy({.synchronize = true});
      } else {
        setenv("FERRY_OOM", "synchronize", 1);
        fr::detail::configure_memory(sim.get());
        unsetenv("FERRY_OOM");
      }
      BOOST_CHECK_NO_THROW(device_bytes(32 * MiB));
      BOOST_TEST(asked == 2);
    }
}

// The new array is placed on the peer with the most free memory, and kernels of its device access it there.
BOOST_AUTO_TEST_CASE(spilling_to_a_peer_is_a_choice) {
  fr::simulation sim("devices=3;memory=64MiB;peers=0-2,0-1");
  const auto a = device_bytes(60 * MiB);
  const auto half = device_bytes(40 * MiB, 1);
  BOOST_TEST(text_of_failure(20 * MiB).find("peer, of which") == std::string::npos);
  fr::set_out_of_memory_policy({.spill_to_peers = true});
  fr::device_array<char> b({20 * MiB}, 'x', fr::device(0));
  BOOST_TEST(b.device().index() == 2);
  BOOST_TEST(b.owner().get().device == 2);
  BOOST_TEST(fr::to_vector(b)[20 * MiB - 1] == 'x');
  try {
    device_bytes(64 * MiB);
    BOOST_ERROR("there was room");
  } catch (const fr::out_of_memory& e) {
    BOOST_REQUIRE(e.shortage() != nullptr);
    BOOST_TEST(e.shortage()->device == 0);
    BOOST_TEST(e.shortage()->tried.back().handler == "placing the array on a peer, of which none has room");
    BOOST_TEST(e.requested() == 64 * MiB);
    BOOST_TEST(std::string(e.what()).find(", placing the array on a peer, of which none has room (0 bytes)\n") !=
               std::string::npos);
  }
}

BOOST_AUTO_TEST_CASE(reclaim_by_hand) {
  fr::simulation sim("devices=2;memory=128MiB");
  for (const int d : {0, 1}) {
    const auto a = device_bytes(32 * MiB, d);
  }
  const auto held = device_bytes(64 * MiB);
  const bool keeps = sim.get().pools().default_kind() != fr::pool_kind::none;  // `none` releases before it allocates
  BOOST_TEST(fr::reclaim(fr::device(1)) == 32 * MiB);
  BOOST_TEST(fr::reclaim() == (keeps ? 32 * MiB : 0));
  BOOST_TEST(sim.get().memory().pools().reserved_bytes(fr::memory_kind::device, 0) == 64 * MiB);
  BOOST_CHECK_THROW(fr::reclaim(fr::device(5)), fr::invalid_argument);
}

BOOST_AUTO_TEST_SUITE_END()
