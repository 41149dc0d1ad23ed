// Allocation logs, and the replay of such logs on pools (tools/replay).
#include <unistd.h>

#include <boost/test/unit_test.hpp>
#include <cstdio>
#include <ferry/core.hpp>
#include <ferry/core/allocation_log.hpp>
#include <random>
#include <string>
#include <vector>

#include "../../tools/replay/replay.hpp"
#include "ferry/core/detail/accounting/memory_accounting.hpp"
#include "ferry/core/detail/pools/runtime_pools.hpp"
#include "support/file_bytes.hpp"
#include "support/quiet_stderr.hpp"

namespace fr = ferry;

namespace allocation_log {
namespace {

constexpr const char* header = "Thread,Time,Action,Pointer,Size,Stream\n";

// Runs a program of random allocations; returns the peak number of bytes in its arrays.
void allocate_and_free(unsigned seed, int operations) {
  std::mt19937 random(seed);
  std::vector<fr::device_array<char>> arrays;
  for (int i = 0; i < operations; ++i)
    if (arrays.empty() || random() % 100 < 60)
      arrays.emplace_back(fr::extents<1>(random() % 100000 + 1), fr::device(0));
    else
      arrays.erase(arrays.begin() + static_cast<std::ptrdiff_t>(random() % arrays.size()));
}

}  // namespace
}  // namespace allocation_log

BOOST_AUTO_TEST_SUITE(allocation_log)

BOOST_AUTO_TEST_CASE(rows_have_the_form_that_rmm_writes) {
  const std::string file = "allocations.csv";
  std::size_t bytes = 0;  // rounded as by the pool
  {
    fr::simulation sim("devices=1");
    const fr::allocation_log log(file);
    const fr::device_array<char> a({1000}, 'x');
    bytes = a.owner().get().bytes;
  }
  const std::string text = support::bytes_of(file);
  BOOST_TEST(text.starts_with(header), text);
  const std::vector<tools::logged_allocation> rows = tools::parse_allocation_log(text);
  BOOST_REQUIRE(rows.size() == 2u);
  BOOST_TEST((!rows[0].is_free && rows[0].bytes == bytes && rows[0].pointer != 0));
  BOOST_TEST((rows[1].is_free && rows[1].bytes == bytes && rows[1].pointer == rows[0].pointer && rows[1].stream != 0));
  BOOST_TEST(rows[0].thread == rows[1].thread);
  const std::string time = text.substr(text.find(',', std::string(header).size()) + 1, 15);
  BOOST_TEST((time[2] == ':' && time[5] == ':' && time[8] == '.'), time);
  std::remove(file.c_str());
  fr::simulation sim("devices=1");
  BOOST_CHECK_EXCEPTION(fr::allocation_log("/no/such/folder/log.csv"), fr::error, [](const fr::error& e) {
    return std::string(e.what()).find("/no/such/folder/log.csv") != std::string::npos;
  });
}

BOOST_AUTO_TEST_CASE(a_full_disk_is_told_once) {
  const support::quiet_stderr said;
  {
    fr::simulation sim("devices=1");
    const fr::allocation_log log("/dev/full");
    allocate_and_free(1, 1000);
  }
  const std::string text = said.text(), expected = "ferry: the log of allocations '/dev/full' is incomplete: ";
  const std::size_t at = text.find(expected);
  BOOST_TEST((at != text.npos && text.find(expected, at + 1) == text.npos), "said: '" << text << "'");
}

BOOST_AUTO_TEST_CASE(a_full_disk_is_told_at_the_end) {  // until then a few rows are buffered
  const support::quiet_stderr said;
  {
    fr::simulation sim("devices=1");
    const fr::allocation_log log("/dev/full");
    allocate_and_free(1, 2);
  }
  BOOST_TEST(said.text().find("'/dev/full' is incomplete: ") != std::string::npos, "said: '" << said.text() << "'");
}

// Replaying on any pool gives the same numbers of allocations and frees, and on the same kind the same peak bytes.
BOOST_AUTO_TEST_CASE(a_log_replayed_gives_the_same_counters) {
  for (unsigned seed = 0; seed < 5; ++seed) {
    const std::string file = "replayed" + std::to_string(::getpid()) + ".csv";  // unique per process
    fr::detail::memory_counts original;
    std::size_t peak = 0, reserved = 0;
    {
      fr::simulation sim("devices=1", {.kind = fr::pool_kind::split});
      {
        const fr::allocation_log log(file);
        allocate_and_free(seed, 2000);
      }
      const fr::detail::memory_accounting& accounting = sim.get().memory();
      original = accounting.arrays().counts(fr::memory_kind::device, 0);
      peak = accounting.arrays().peak_bytes(fr::memory_kind::device, 0);
      reserved = accounting.pools().reserved_bytes(fr::memory_kind::device, 0);
    }
    const std::vector<tools::logged_allocation> log = tools::load_allocation_log(file);
    for (const auto kind : {fr::pool_kind::split, fr::pool_kind::binned, fr::pool_kind::none}) {
      fr::simulation sim("devices=1", {.kind = kind});
      fr::pool pool(fr::device(0), {.kind = kind});
      const tools::replay_result r = tools::replay(log, pool, fr::memory_kind::device);
      const fr::detail::memory_counts again = sim.get().memory().arrays().counts(fr::memory_kind::device, 0);
      BOOST_TEST(r.allocations == original.allocations);
      BOOST_TEST(r.frees == original.frees);
      BOOST_TEST((r.failures == 0u && r.unmatched == 0u && r.left == 0u));
      BOOST_TEST((again.allocations == original.allocations && again.current_bytes() == 0));
      BOOST_TEST((r.seconds > 0 && r.peak_reserved_bytes >= r.peak_bytes));
      BOOST_TEST((r.fragmentation() >= 0 && r.fragmentation() < 1));
      if (kind == fr::pool_kind::split || kind == fr::pool_kind::none) {  // the other kinds round to larger blocks
        BOOST_TEST(r.peak_bytes == peak);
        BOOST_TEST(again.allocated_bytes == original.allocated_bytes);
      }
      if (kind == fr::pool_kind::split) BOOST_TEST(r.peak_reserved_bytes == reserved);
    }
    std::remove(file.c_str());
  }
}

BOOST_AUTO_TEST_CASE(logs_of_others) {
  const std::string text = std::string(header) +
                           "1607,11:44:48.123456,allocate,0x7f5a00000000,1024,0x0\r\n"
                           "1607,11:44:48.123999,allocate failure,(nil),99999,0x0\n"
                           "1608,11:44:49:000001,allocate,7f5a00000400,512,0x1\n"
                           "\n"
                           "1608,11:44:50.000000,free,0x7f5a00000000,1024,0x0\n"
                           "1608,11:44:50.000000,free,0x7f5affffffff,1024,0x0";
  const auto rows = tools::parse_allocation_log(text);
  BOOST_REQUIRE(rows.size() == 4u);
  BOOST_TEST((rows[1].thread == 1608u && rows[1].pointer == 0x7f5a00000400u && rows[1].stream == 1u));
  fr::simulation sim("devices=1");
  fr::pool pool(fr::device(0));
  const tools::replay_result r = tools::replay(rows, pool, fr::memory_kind::device);
  BOOST_TEST((r.allocations == 2u && r.frees == 1u && r.unmatched == 1u && r.left == 1u && r.left_bytes == 512u));
}

BOOST_AUTO_TEST_CASE(what_does_not_fit_is_counted) {
  fr::simulation sim("devices=1;memory=1MiB");
  const auto rows =
      tools::parse_allocation_log(std::string(header) + "1,t,allocate,0x1,9000000,0x0\n1,t,free,0x1,9000000,0x0\n");
  fr::pool pool(fr::device(0));
  const tools::replay_result r = tools::replay(rows, pool, fr::memory_kind::device);
  BOOST_TEST((r.failures == 1u && r.allocations == 0u && r.frees == 0u && r.unmatched == 0u));
}

BOOST_AUTO_TEST_CASE(malformed_logs_are_refused_by_line_and_column) {
  const auto refused = [](const std::string& text, std::initializer_list<const char*> parts) {
    try {
      tools::parse_allocation_log(text);
      BOOST_ERROR("accepted: " << text);
    } catch (const fr::parse_error& e) {
      for (const char* p : parts)
        BOOST_TEST(std::string(e.what()).find(p) != std::string::npos, "'" << p << "' in " << e.what());
    }
  };
  const std::string h = header, good = "1,t,allocate,0x1,10,0x0\n";
  refused("", {"line 1", "empty"});
  refused("Thread,Time,Action,Pointer,Size\n", {"line 1", "'Thread,Time,Action,Pointer,Size'", "header"});
  refused(h + "x,t,allocate,0x1,10,0x0\n", {"line 2, column 1 (Thread)", "'x'"});
  refused(h + good + "1,,allocate,0x1,10,0x0\n", {"line 3, column 2 (Time)"});
  refused(h + good + "1,t,malloc,0x1,10,0x0\n", {"line 3, column 3 (Action)", "'malloc'"});
  refused(h + good + "1,t,free,0xg,10,0x0\n", {"line 3, column 4 (Pointer)", "'0xg'"});
  refused(h + good + "1,t,allocate,0x1,12x,0x0\n", {"line 3, column 5 (Size)", "'12x'"});
  refused(h + good + "1,t,allocate,0x1,-5,0x0\n", {"line 3, column 5 (Size)", "'-5'"});
  refused(h + "1,t,allocate,0x1,99999999999999999999999,0x0\n", {"line 2, column 5 (Size)"});
  refused(h + "1,t,allocate,0x1,10,\n", {"line 2, column 6 (Stream)"});
  refused(h + "1,t,allocate,0x1\n", {"line 2, column 5 (Size)", "lacks"});
  refused(h + "1,t,allocate,0x1,10,0x0,9\n", {"line 2", "more than six"});
  BOOST_CHECK_THROW(tools::load_allocation_log("/no/such/log.csv"), fr::error);
}

BOOST_AUTO_TEST_SUITE_END()
