// Blocks of a driver's pool on simulated devices live once at a time, whatever threads do.
#include <atomic>
#include <chrono>
#include <thread>

#include "ferry/core/pool_backend.hpp"
#include "ferry/core/pool_options.hpp"
#include "sim_fixture.hpp"

using namespace sim_test;

BOOST_AUTO_TEST_SUITE(sim_pool_lives)

// On the eager schedule a free waits for another thread's operation on its stream: the block is in use until then.
BOOST_AUTO_TEST_CASE(a_block_is_not_handed_out_before_its_free_ran) {
  sim_machine m("schedule=eager");
  fr::pool_backend& pools = *m.b.pools();
  const fr::native_pool pool = pools.create_pool(memory_kind::device, 0, {.kind = fr::pool_kind::driver});
  const auto s = m.stream(), t = m.stream();
  void* const p = pools.allocate(pool, 4096, s);
  std::atomic<bool> begun{false}, go{false};
  std::jthread working([&] {
    m.b.run_on_host(s, [&] {
      begun = true;
      while (!go) std::this_thread::yield();
    });
  });
  while (!begun) std::this_thread::yield();
  std::jthread freeing([&] { pools.free(p, s); });
  std::this_thread::sleep_for(std::chrono::milliseconds(100));  // it waits behind the task now
  void* const q = pools.allocate(pool, 4096, t);
  BOOST_TEST((p != q));
  go = true;
  working.join(), freeing.join();
  BOOST_TEST((m.look.at(q).state == fr::sim::address_state::live));
  BOOST_TEST(pools.usage(pool).used_bytes == 4096u);
  pools.free(q, t);
  BOOST_TEST((pools.allocate(pool, 4096, s) == p));  // which is free by now
  m.b.synchronize(s), m.b.synchronize(t);
}

BOOST_AUTO_TEST_SUITE_END()
