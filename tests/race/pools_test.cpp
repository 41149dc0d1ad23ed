// Pools of every kind reuse bytes of pending work. One suite writes data and reads it back from each pool. It must fail
// for a pool that drops the access history.
#include <atomic>
#include <boost/test/unit_test.hpp>
#include <chrono>
#include <latch>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "race/pool_churn.hpp"
#include "support/seeds.hpp"

BOOST_AUTO_TEST_SUITE(pools)

// 1.2e5 operations.
BOOST_AUTO_TEST_CASE(data_survive_in_every_pool) {
  const bool simulated = fr::runtime::current().is_simulated();
  each_pool([&](fr::pool_kind k, fr::memory_kind m) {
    if (!simulated) {
      const bool asks_driver = k == fr::pool_kind::driver && m != fr::memory_kind::unified;
      if (asks_driver && !fr::runtime::current().backend().pools()->has_pools(m, 0)) {
        BOOST_TEST_MESSAGE("skipped: this driver has no such pools");
        return;
      }
      fr::pool p(fr::device(0), small(k));
      BOOST_TEST(churn(p.of(m), 1, 3000).run() == 0u);
      BOOST_TEST(left_in(p.of(m)) == "");
      return;
    }
    for (u32 seed = 0; seed < support::seeds(28); ++seed) {
      fr::simulation sim(random_devices(seed), small(k));
      fr::detail::memory_pool& pool = sim.get().pool(m, 0);
      BOOST_TEST(churn(pool, seed, 300).run() == 0u, "seed " << seed);
      BOOST_TEST(left_in(pool) == "", "seed " << seed);
    }
  });
}

BOOST_AUTO_TEST_CASE(a_pool_without_stream_order_is_caught) {
  std::size_t seen = 0;
  for (u32 seed = 0; seed < 20; ++seed) {
    fr::simulation sim(random_devices(seed), small(fr::pool_kind::split));
    blind_pool blind(sim.get().pool(fr::memory_kind::device, 0));
    seen += churn(blind, seed, 300).run() != 0;
  }
  BOOST_TEST(seen >= 10u);
}

// Threads with their own streams and data share only a pool.
BOOST_AUTO_TEST_CASE(data_survive_with_threads) {
  each_pool([](fr::pool_kind k, fr::memory_kind m) {
    for (u32 seed = 0; seed < support::seeds(4); ++seed) {
      fr::simulation sim(random_devices(seed), small(k));
      fr::detail::memory_pool& pool = sim.get().pool(m, 0);
      std::vector<std::size_t> bad(4);
      std::vector<std::jthread> threads;
      for (u32 t = 0; t < 4; ++t) threads.emplace_back([&, t] { bad[t] = churn(pool, 100 * seed + t, 120).run(); });
      threads.clear();
      BOOST_TEST((bad == std::vector<std::size_t>(4)), "seed " << seed);
      BOOST_TEST(left_in(pool) == "", "seed " << seed);
    }
  });
}

// On the eager schedule a free waits for another thread's operation on its stream: the block stays in use until then.
BOOST_AUTO_TEST_CASE(a_block_is_not_handed_out_before_its_free_ran) {
  fr::simulation sim("devices=1");
  fr::detail::backend& backend = sim.get().backend();
  fr::detail::pool_backend& pools = *backend.pools();
  const fr::detail::native_pool pool = pools.create_pool(fr::memory_kind::device, 0, small(fr::pool_kind::driver));
  const fr::native_stream s = backend.create_stream(0, 0), t = backend.create_stream(0, 0);
  void* const p = pools.allocate(pool, 4096, s);
  std::atomic<bool> begun{false}, go{false};
  std::jthread working([&] {
    backend.run_on_host(s, [&] {
      begun = true;
      while (!go) std::this_thread::yield();
    });
  });
  while (!begun) std::this_thread::yield();
  std::jthread freeing([&] { pools.free(p, s); });
  std::this_thread::sleep_for(std::chrono::milliseconds(100));  // by now the free waits for the task
  void* const q = pools.allocate(pool, 4096, t);
  BOOST_TEST((p != q));
  go = true;
  working.join(), freeing.join();
  BOOST_TEST(pools.usage(pool).used_bytes == 4096u);
  BOOST_CHECK_NO_THROW(pools.free(q, t));
  void* const again = pools.allocate(pool, 4096, s);
  BOOST_TEST((again == p));  // the block is free by now
  pools.free(again, s);
  for (const fr::native_stream one : {s, t}) backend.destroy_stream(one);
}

// On the eager schedule a call releases the scheduler lock while its operation runs: a block must not be reused before
// its free has ended. Many threads that only allocate and free sometimes reach that window.
BOOST_AUTO_TEST_CASE(threads_share_the_blocks_of_a_pool_on_the_eager_schedule) {
  for (const fr::pool_kind k : kinds) BOOST_TEST_CONTEXT(fr::pool_kind_name(k)) {
      fr::simulation sim("devices=1;memory=64MiB", small(k));
      fr::detail::memory_pool& pool = sim.get().pool(fr::memory_kind::device, 0);
      const std::size_t rounds = k == fr::pool_kind::driver ? 10000 : 1000;
      std::vector<std::string> failures(8);
      std::latch start(8);
      std::vector<std::jthread> threads;
      for (std::size_t t = 0; t < failures.size(); ++t)
        threads.emplace_back([&, t] {
          try {
            const fr::stream s;
            start.arrive_and_wait();
            for (std::size_t i = 0; i < rounds; ++i) {
              fr::detail::allocation_ref bytes = pool.allocate(64 * sizeof(u32));
              if (i % 8 != 0) continue;
              auto* const data = reinterpret_cast<u32*>(bytes.get().begin);
              view v(std::move(bytes), data, fr::extents<1>{64}, {1});
              fr::parallel_for(s, 64, count_from{1}, fr::out(v));
            }
          } catch (const fr::error& e) {
            failures[t] = e.what();
          }
        });
      threads.clear();
      for (const std::string& f : failures) BOOST_TEST_REQUIRE(f == "");
      BOOST_TEST(left_in(pool) == "");
    }
}

// 1e5 operations, on arrays of all devices at once.
BOOST_AUTO_TEST_CASE(data_survive_on_all_devices) {
  for (const fr::pool_kind k : {fr::pool_kind::split, fr::pool_kind::driver})
    BOOST_TEST_CONTEXT(fr::pool_kind_name(k)) {
      const std::size_t each = 1000 * support::seeds(k == fr::pool_kind::split ? 25 : 5);
      fr::simulation sim(random_devices(11), small(k));
      std::vector<fr::detail::memory_pool*> pools;
      for (int d = 0; d < 3; ++d) pools.push_back(&sim.get().pool(fr::memory_kind::device, d));
      std::vector<std::size_t> bad(4);
      std::vector<std::string> failures(4);
      std::vector<std::jthread> threads;
      for (u32 t = 0; t < 4; ++t)
        threads.emplace_back([&, t] {
          try {
            bad[t] = churn(pools, t, each).run();
          } catch (const fr::error& e) {
            failures[t] = e.what();
          }
        });
      threads.clear();
      for (const std::string& f : failures) BOOST_TEST_REQUIRE(f == "");
      BOOST_TEST((bad == std::vector<std::size_t>(4)));
      for (fr::detail::memory_pool* p : pools) {
        BOOST_TEST(p->statistics().made > each / 3);
        BOOST_TEST(left_in(*p) == "");
      }
    }
}

// The backend refuses one allocation, at any position: the pool retries after releasing cached memory, and its
// accounting stays right.
BOOST_AUTO_TEST_CASE(any_allocation_may_fail) {
  each_pool([](fr::pool_kind k, fr::memory_kind m) {
    const auto run = [&](u32 seed, std::size_t nth) {  // nth 0: no refusal
      fr::simulation below(random_devices(seed) + (nth ? ";fail=alloc@" + std::to_string(nth) : ""));
      asked_backend::counts asked;
      fr::runtime_scope scope(std::make_unique<asked_backend>(below.get().backend(), asked), small(k));
      fr::detail::memory_pool& pool = scope.get().pool(m, 0);
      std::size_t bad = 0;
      try {
        bad = churn(pool, seed, 60).run();
      } catch (const fr::out_of_memory&) {
      }
      BOOST_TEST(bad == 0u, "seed " << seed << ", allocation " << nth);
      BOOST_TEST(left_in(pool) == "", "seed " << seed << ", allocation " << nth);
      return asked;
    };
    const auto rounds = static_cast<u32>(support::seeds(40));
    std::size_t refused = 0;
    for (u32 seed = 1; seed <= rounds; ++seed) {
      const std::size_t all = run(seed, 0).all;
      BOOST_TEST_REQUIRE(all > 0u);
      refused += run(seed, 1 + (seed - 1) % all).refused;
    }
    BOOST_TEST(refused == rounds);
  });
}

// Memory runs out, and the program continues with smaller arrays.
BOOST_AUTO_TEST_CASE(exhaustion) {
  for (const fr::pool_kind k : kinds) BOOST_TEST_CONTEXT(fr::pool_kind_name(k)) {
      fr::simulation sim("devices=1;memory=256KiB;schedule=random:3", small(k));
      std::vector<fr::device_array<u32>> held;
      const auto fill_up = [&] {
        for (u32 i = 0;; ++i) {
          try {
            held.emplace_back(fr::extents<1>{1000 + 100 * (i % 7)}, i);
          } catch (const fr::out_of_memory& e) {
            BOOST_TEST(e.requested() > 0u);
            return i;
          }
        }
      };
      const u32 most = fill_up();
      BOOST_TEST(most > 20u);
      for (u32 i = 0; i < most; ++i) BOOST_TEST(fr::to_vector(held[i])[999] == i);
      held.clear();
      BOOST_TEST(fill_up() == most);
      held.clear();
      fr::device_array<u32> large({50000}, 7u);  // needs all the pieces joined
      BOOST_TEST(fr::to_vector(large)[49999] == 7u);
    }
}

// The driver refuses copies of a pool's memory on streams of devices without access to the pool.
BOOST_AUTO_TEST_CASE(copies_on_streams_of_other_devices) {
  for (const char* peers : {"", ";peers=none"})
    for (u32 seed = 0; seed < support::seeds(10); ++seed) {
      fr::simulation sim(random_devices(seed) + peers, small(fr::pool_kind::driver));
      const fr::stream s(fr::devices()[1]);
      fr::device_array<u32> a({100}, seed, fr::devices()[0]), b({100}, 0u, fr::devices()[0]);
      fr::copy(s, a, b);
      BOOST_TEST(fr::to_vector(b)[99] == seed);
    }
}

// Completed blocks are released without a CPU wait for the stream.
BOOST_AUTO_TEST_CASE(what_is_over_goes_back) {
  fr::simulation sim("devices=1", small(fr::pool_kind::driver));  // eager: all enqueued work is complete
  { fr::device_array<u32> a({1000}, 3u); }
  fr::detail::memory_pool& pool = sim.get().pool(fr::memory_kind::device, 0);
  BOOST_TEST(pool.statistics().reserved_bytes > 0u);
  BOOST_TEST(pool.release_cached(fr::detail::release_depth::finished) > 0u);
  BOOST_TEST(pool.statistics().reserved_bytes == 0u);
}

// A query shows ferry that a free is complete, but is no synchronization for the driver: a trim still synchronizes the
// stream.
BOOST_AUTO_TEST_CASE(trim_synchronizes_what_a_query_found_complete) {
  for (const fr::memory_kind m : {fr::memory_kind::device, fr::memory_kind::host}) {
    fr::simulation sim("devices=1", small(fr::pool_kind::driver));  // eager: all enqueued work is complete
    fr::detail::memory_pool& pool = sim.get().pool(m, 0);
    const fr::stream s;
    {
      fr::detail::allocation_ref bytes = pool.allocate(4000);
      auto* const data = reinterpret_cast<u32*>(bytes.get().begin);
      view v(std::move(bytes), data, fr::extents<1>{1000}, {1});
      fr::parallel_for(s, 1000, count_from{3}, fr::out(v));
    }
    BOOST_TEST(s.is_done());
    BOOST_TEST(pool.release_cached(fr::detail::release_depth::finished) == 0u);  // release_cached never waits
    BOOST_TEST(pool.statistics().reserved_bytes > 0u);
    BOOST_TEST(left_in(pool) == "");
  }
}

// Memory that returns to the system must not be in use: the simulator detects late accesses.
BOOST_AUTO_TEST_CASE(trim_while_a_peer_still_writes) {
  each_pool([](fr::pool_kind k, fr::memory_kind m) {
    for (u32 seed = 0; seed < support::seeds(20); ++seed) {
      fr::simulation sim(random_devices(seed), small(k));
      fr::detail::memory_pool& pool = sim.get().pool(m, 0);
      fr::stream peer(fr::devices()[1]);
      {
        fr::detail::allocation_ref bytes = pool.allocate(8192);
        auto* const data = reinterpret_cast<u32*>(bytes.get().begin);
        view v(std::move(bytes), data, fr::extents<1>{2048}, {1});
        for (u32 i = 0; i < 5; ++i) fr::parallel_for(peer, 2048, count_from{i}, fr::out(v));
      }
      BOOST_TEST(left_in(pool) == "");
      peer.synchronize();  // throws if the kernels accessed released memory
    }
  });
}

BOOST_AUTO_TEST_SUITE_END()
