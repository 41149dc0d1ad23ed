// as: host
// Random programs give the same bytes as a sequential oracle, under every schedule, with one and two CPU threads.
// FERRY_TEST_SEEDS: the number of seeds per case (default below). FERRY_TEST_FIRST_SEED: the first seed.
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <optional>
#include <string>
#include <thread>

#include <boost/test/unit_test.hpp>

#include <ferry/unified.hpp>

#include "checking/memory_checker.hpp"
#include "ferry/core/detail/pools/memory_pool.hpp"
#include "ferry/core/detail/runtime/peer.hpp"
#include "race/executor.hpp"
#include "support/quiet_stderr.hpp"
#include "support/seeds.hpp"

namespace random_programs {
namespace {

using namespace race;

// How pages of unified arrays move during the program.
// - forced: by automatic migration, with pages so small that every array has several.
// - short_of_memory: as forced, and devices run out of memory at times.
// - large: automatic migration of arrays of several driver pages; large_by_hints: the same by hints alone. In both,
//   contents are also discarded before they are overwritten.
// - kept: a link loses pages, so they are pinned to the CPU.
enum class moving { as_usual, staged, forced, by_hints, short_of_memory, large, large_by_hints, kept };

bool is_large(moving how) { return how == moving::large || how == moving::large_by_hints; }

void prepare(moving how) {
  if (how == moving::forced || how == moving::short_of_memory) {
    ferry::migration_options tiny;
    tiny.page = 64;
    tiny.smallest_to_device = tiny.smallest_to_cpu = 4;
    ferry::set_migration(tiny);
  }
  if (how == moving::by_hints || how == moving::large_by_hints) ferry::set_migration(ferry::migration::explicitly);
}

// The number of the hint before a step. Programs of tiny arrays have many steps per phase, and repeat the hints in each
// phase.
u32 hint_number(u32 seed, std::size_t phase, std::size_t i, moving how) {
  if (!is_large(how)) return (seed * 31 + static_cast<u32>(i)) * 2654435761u;
  u32 h =
      (seed * 31 + static_cast<u32>(phase)) * 1009 + static_cast<u32>(i);  // MurmurHash3 finalizer, by Austin Appleby
  h = (h ^ h >> 16) * 0x85ebca6b;
  h = (h ^ h >> 13) * 0xc2b2ae35;
  return h ^ h >> 16;
}

// Describes the first mismatch; empty if there is none.
std::string run_program(u32 seed, int threads, int operations, moving how) {
  generator g(seed, threads, 3, is_large(how) ? sizes::pages : sizes::tiny);
  const std::vector<phase> program = g.make(operations);
  executor runtime;
  std::string wrong;
  std::atomic<bool> failed{false};
  std::size_t at = 0;  // the phase
  const auto run = [&](const std::vector<step>& steps, const char* who) {
    for (std::size_t i = 0; i < steps.size() && !failed; ++i) {
      try {
        const u32 number = hint_number(seed, at, i, how);
        const bool hints = how == moving::forced || how == moving::by_hints || how == moving::kept || is_large(how);
        if (hints && threads == 1 && (i >= slots || (is_large(how) && at > 0))) runtime.hint(number);
        if (is_large(how)) runtime.discard_before(steps[i], number);
        if (how == moving::short_of_memory && i >= slots && i % 4 == 0)
          runtime.run_out_of_memory((seed * 37 + static_cast<u32>(i)) * 2654435761u, threads == 1);
        if (runtime.run(steps[i])) continue;
        if (!failed.exchange(true))
          wrong = std::string(who) + ", step " + std::to_string(i) + ", operation " +
                  std::to_string(static_cast<int>(steps[i].what)) + ": other bytes than expected" +
                  runtime.explain(steps[i]);
      } catch (const std::exception& e) {
        if (!failed.exchange(true)) wrong = std::string(who) + ", step " + std::to_string(i) + ": " + e.what();
      }
    }
  };
  for (const phase& p : program) {
    if (threads == 1) {
      run(p.of_thread[0], "thread 0");
    } else {
      std::thread other([&] { run(p.of_thread[1], "thread 1"); });
      run(p.of_thread[0], "thread 0");
      other.join();
    }
    run(p.check, "check");
    if (failed) break;
    ++at;
  }
  return wrong;
}

// Simulated: each seed in its own runtime, whose pools are small so that blocks split and join all the time.
// - staged: few devices or none are peers, and copies go through the CPU in several chunks each.
// - checked: with red zones, poison and quarantine.
std::string run_seed(u32 seed, int threads, const std::string& schedule, moving how,
                     ferry::pool_kind of_pool = ferry::pool_kind::automatic, bool checked = false) {
  const int operations = is_large(how) ? 120 : 300;
  if (!ferry::runtime::current().is_simulated()) {
    if (!is_large(how)) return run_program(seed, threads, operations, how);
    prepare(how);
    const std::string wrong = run_program(seed, threads, operations, how);
    ferry::set_migration(ferry::migration::automatic);
    ferry::set_migration(ferry::migration_options{});
    return wrong;
  }
  ferry::pool_options small = is_large(how) ? ferry::pool_options{} : ferry::pool_options{64, 1024, 4096};
  small.kind = of_pool;
  const bool staged = how == moving::staged;
  const std::string peers = !staged ? "" : seed % 3 == 0 ? "peers=0-1;" : "peers=none;";
  // The race checker finds wrong order even if the bytes are right. Memory checks write on devices whose links lose
  // pages, and request access to the driver's pools for all devices.
  const char* const pools = std::getenv("FERRY_POOL");
  const bool asks_peers = staged && pools && std::string(pools) == "driver";
  const bool all_checks = seed % 4 == 3 && how != moving::kept && !asks_peers;
  const std::string check = all_checks ? "check=on;" : seed % 2 ? "check=races;" : "";
  const std::string memory = is_large(how) ? "memory=512MiB;" : "memory=64MiB;";
  std::optional<support::quiet_stderr> said;
  if (how == moving::kept) said.emplace();
  const std::string link = how == moving::kept ? "broken=0-1:unified;" : "";
  ferry::simulation sim("devices=3;" + memory + check + peers + link + "schedule=" + schedule, small);
  if (staged) {
    sim.get().peers().kernels(ferry::detail::peer_kernels::stage);
    ferry::copy_options o;
    o.chunk_bytes = o.small_chunk_bytes = 40;
    o.chunks = 2 + seed % 3;
    o.scratch_bytes = 100;
    o.parallel_from_bytes = o.multipath_from_bytes = 48;
    o.parallel_chunk_bytes = 28, o.parallel_chunks = 3, o.threads = 2;
    o.multipath = ferry::multipath_use::always;
    o.multipath_chunk_bytes = 36;
    ferry::set_copy_options(o);
  }
  prepare(how);
  if (checked) ferry::set_memory_checks(ferry::memory_checks{.quarantine_blocks = seed % 2 ? 1024u : 8u});
  std::string wrong = run_program(seed, threads, operations, how);
  if (checked) {
    for (const ferry::memory_fault& f : ferry::check_memory())
      if (wrong.empty()) wrong = f.text();
    ferry::set_memory_checks(ferry::memory_checks{.quarantine_bytes = 0, .quarantine_blocks = 0});
    { const ferry::device_array<u32> last({1}); }  // empties the quarantine
    ferry::default_stream(ferry::default_device()).synchronize();
    ferry::set_memory_checks(std::nullopt);
  }
  if (wrong.empty() && sim.get().allocations() != 0) wrong = "arrays are left";
  sim.get().checker().release();  // blocks in quarantine, of all checks
  for (const ferry::device d : ferry::devices())
    for (const auto kind : {ferry::memory_kind::device, ferry::memory_kind::unified, ferry::memory_kind::host}) {
      ferry::detail::memory_pool& pool = sim.get().pool(kind, d.index());
      if (wrong.empty()) pool.trim();
      const ferry::pool_statistics left = pool.statistics();
      if (wrong.empty() && (left.allocated_bytes || left.reserved_bytes || left.blocks)) wrong = "pool blocks are left";
    }
  return wrong;
}

void run_seeds(u32 count, int threads, bool random, moving how = moving::as_usual) {
  const auto first = static_cast<u32>(support::number("FERRY_TEST_FIRST_SEED", 0));
  count = static_cast<u32>(support::asked_seeds(count));
  if (!ferry::runtime::current().is_simulated() && count > 100) count = 100;
  const auto begin = std::chrono::steady_clock::now();
  for (u32 seed = first; seed < first + count; ++seed) {
    // Page faults are slow, by an amount that depends on the system.
    if (is_large(how) && seed > first && std::chrono::steady_clock::now() - begin > std::chrono::seconds(10)) {
      BOOST_TEST_MESSAGE("large arrays: " << seed - first << " seeds in 10 seconds");
      return;
    }
    const std::string wrong = run_seed(seed, threads, random ? "random:" + std::to_string(seed) : "eager", how);
    BOOST_TEST(wrong.empty(), "seed " << seed << ": " << wrong);
    if (!wrong.empty()) return;  // one failure is enough; FERRY_TEST_FIRST_SEED repeats it
  }
}

// On CUDA devices, as many as the time allows.
u32 large_seeds() { return ferry::runtime::current().is_simulated() ? 3 : 100; }

// The arrays are too small for pages of a GPU.
boost::test_tools::assertion_result devices_are_simulated(boost::unit_test::test_unit_id) {
  return ferry::runtime::current().is_simulated();
}

}  // namespace
}  // namespace random_programs

BOOST_AUTO_TEST_SUITE(random_programs)

BOOST_AUTO_TEST_CASE(eager) { run_seeds(50, 1, false); }
BOOST_AUTO_TEST_CASE(one_thread) { run_seeds(1000, 1, true); }
BOOST_AUTO_TEST_CASE(two_threads) { run_seeds(300, 2, true); }

BOOST_AUTO_TEST_CASE(staged_one_thread) { run_seeds(400, 1, true, moving::staged); }
BOOST_AUTO_TEST_CASE(staged_two_threads) { run_seeds(100, 2, true, moving::staged); }
BOOST_AUTO_TEST_CASE(migrating_eager) { run_seeds(50, 1, false, moving::forced); }
BOOST_AUTO_TEST_CASE(migrating) { run_seeds(500, 1, true, moving::forced); }
BOOST_AUTO_TEST_CASE(migrating_two_threads) { run_seeds(150, 2, true, moving::forced); }
BOOST_AUTO_TEST_CASE(short_of_memory, *boost::unit_test::precondition(devices_are_simulated)) {
  run_seeds(150, 1, true, moving::short_of_memory);
}
BOOST_AUTO_TEST_CASE(short_of_memory_two_threads, *boost::unit_test::precondition(devices_are_simulated)) {
  run_seeds(50, 2, true, moving::short_of_memory);
}
BOOST_AUTO_TEST_CASE(kept_with_the_cpu, *boost::unit_test::precondition(devices_are_simulated)) {
  run_seeds(250, 1, true, moving::kept);
}
BOOST_AUTO_TEST_CASE(kept_with_the_cpu_two_threads, *boost::unit_test::precondition(devices_are_simulated)) {
  run_seeds(100, 2, true, moving::kept);
}
BOOST_AUTO_TEST_CASE(hints) { run_seeds(250, 1, true, moving::by_hints); }

// Every pool, where few devices or none are peers, with and without memory checks, on eager and random schedules.
BOOST_AUTO_TEST_CASE(every_pool, *boost::unit_test::precondition(devices_are_simulated)) {
  for (const ferry::pool_kind kind :
       {ferry::pool_kind::driver, ferry::pool_kind::split, ferry::pool_kind::binned, ferry::pool_kind::none})
    for (const bool checked : {false, true})
      for (const moving how : {moving::as_usual, moving::staged})
        for (u32 seed = 0; seed < support::seeds(4); ++seed)
          for (const std::string& schedule : {std::string("eager"), "random:" + std::to_string(seed)}) {
            const int threads = 1 + static_cast<int>(seed % 2);
            const std::string wrong = run_seed(seed, threads, schedule, how, kind, checked);
            BOOST_TEST(wrong.empty(), ferry::pool_kind_name(kind)
                                          << (checked ? ", checked" : "") << (how == moving::staged ? ", no peers" : "")
                                          << ", seed " << seed << ", " << schedule << ": " << wrong);
            if (!wrong.empty()) return;
          }
}

// Arrays that cross 2 MiB boundaries, for GPUs: there smaller arrays share a page.
BOOST_AUTO_TEST_CASE(large) { run_seeds(large_seeds(), 1, true, moving::large); }
BOOST_AUTO_TEST_CASE(large_by_hints) { run_seeds(large_seeds(), 1, true, moving::large_by_hints); }
BOOST_AUTO_TEST_CASE(large_two_threads) { run_seeds(large_seeds(), 2, true, moving::large); }

BOOST_AUTO_TEST_SUITE_END()
