// Workspaces: each iteration reuses the previous one's blocks, ordered by their access histories, without calls to the
// pools.
#include <atomic>
#include <optional>
#include <thread>

#include "contract/fixture.hpp"
#include "ferry/core/detail/pools/runtime_pools.hpp"

using namespace contract;

namespace contract_of_workspaces {
namespace {

struct fill_with {
  int value;
  FERRY_HOST_DEVICE void operator()(std::size_t i, int* p) const { p[i] = value + static_cast<int>(i % 7); }
};
struct add_to {
  FERRY_HOST_DEVICE void operator()(std::size_t i, const int* x, int* y) const { y[i] += x[i]; }
};

// Numbers of blocks that the pools handed out and got back. Without allocations, a decrease of live blocks means frees.
struct pool_traffic {
  std::uint64_t made = fr::runtime::current().pools().statistics().made;
  std::size_t out = fr::runtime::current().allocations();
  bool operator==(const pool_traffic&) const = default;
};

}  // namespace
}  // namespace contract_of_workspaces

BOOST_FIXTURE_TEST_SUITE(contract_of_workspaces, clean)

BOOST_AUTO_TEST_CASE_TEMPLATE(no_pool_traffic_from_the_second_iteration_on, K, kinds) {
  constexpr std::size_t n = 10000;
  fr::workspace w;
  fr::stream a, b;
  fr::basic_array<int, 1, K::value> sum({n}, 0);
  std::optional<pool_traffic> traffic;
  std::vector<const int*> addresses;
  constexpr int iterations = 20;
  for (int step = 0; step < iterations; ++step) {
    if (step == 1) traffic = pool_traffic();
    const fr::workspace_scope use(w);
    fr::basic_array<int, 1, K::value> x({n}), y({n / 3});
    const fr::stream_ref one = step % 2 ? a : b, two = step % 3 ? b : a;
    fr::parallel_for(one, n, fill_with{step}, fr::out(x));
    fr::parallel_for(two, n / 3, fill_with{1}, fr::out(y));
    fr::parallel_for(two, n, add_to{}, fr::in(x), sum);
    fr::parallel_for(one, n / 3, add_to{}, fr::in(y), sum);
    if (step == 0)
      addresses = {x.unsynchronized_data(), y.unsynchronized_data()};
    else
      BOOST_TEST((x.unsynchronized_data() == addresses[0] && y.unsynchronized_data() == addresses[1]));
  }
  BOOST_TEST((*traffic == pool_traffic()));
  const auto seen = fr::to_vector(sum);
  for (std::size_t i = 0; i < n; ++i) {
    const int mine = static_cast<int>(i % 7);
    BOOST_REQUIRE(seen[i] ==
                  iterations * (iterations - 1) / 2 + iterations * mine + (i < n / 3 ? iterations * (1 + mine) : 0));
  }
  const auto s = w.statistics();
  BOOST_TEST((s.blocks == 2u && s.in_use == 0u && s.taken == 2u && s.reused == 2u * (iterations - 1)));
}

BOOST_AUTO_TEST_CASE(blocks_of_other_kinds_devices_and_sizes_are_not_mixed_up) {
  fr::workspace w;
  const fr::device last = fr::devices().back();
  for (int step = 0; step < 3; ++step) {
    const fr::workspace_scope use(w);
    const fr::device_array<int> here({1000}, fr::device(0)), there({1000}, last);
    const fr::unified_array<int> managed({1000}, fr::device(0));
    const fr::host_array<int> pinned({1000}, fr::device(0));
    const fr::device_array<int> huge({std::size_t{1000000} * static_cast<std::size_t>(step % 2 + 1)});
    BOOST_TEST((here.owner().get().kind == memory_kind::device && managed.owner().get().kind == memory_kind::unified &&
                pinned.owner().get().kind == memory_kind::host));
    BOOST_TEST(there.owner().get().device == last.index());
    BOOST_TEST(huge.owner().get().bytes >= huge.size_bytes());
  }
  w.clear();
  BOOST_TEST(w.statistics().blocks == 0u);
  BOOST_TEST(w.statistics().bytes == 0u);
}

// An array that outlives its iteration keeps its block; the next iteration uses another one.
BOOST_AUTO_TEST_CASE(arrays_may_outlive_scope_and_workspace) {
  std::vector<fr::device_array<int>> kept;
  {
    fr::workspace w;
    for (int step = 0; step < 3; ++step) {
      const fr::workspace_scope use(w);
      fr::device_array<int> x({100}, step), y({100}, 10 * step);
      kept.push_back(std::move(x));
    }
    BOOST_TEST(w.statistics().in_use == 3u);
    BOOST_TEST(w.statistics().blocks == 4u);
  }
  for (int step = 0; step < 3; ++step)
    CHECK_EQUAL(fr::to_vector(kept[static_cast<std::size_t>(step)]), std::vector<int>(100, step));
  std::thread([&] { kept.clear(); }).join();  // the fixture checks that no array is left
}

BOOST_AUTO_TEST_CASE(scopes_nest_and_belong_to_their_thread) {
  fr::workspace outer, inner;
  const fr::workspace_scope use(outer);
  { const fr::device_array<int> a({10}); }
  {
    const fr::workspace_scope deeper(inner);
    const fr::device_array<int> b({10});
    BOOST_TEST(inner.statistics().taken == 1u);
    std::thread([] {
      BOOST_TEST((fr::workspace_scope::current() == nullptr));
      const fr::device_array<int> c({10});
    }).join();
  }
  const fr::device_array<int> d({10});
  BOOST_TEST((outer.statistics().taken + outer.statistics().reused == 2u));
  BOOST_TEST(inner.statistics().taken == 1u);
}

BOOST_AUTO_TEST_CASE(stale_views_do_not_see_the_next_owner) {
  fr::workspace w;
  fr::unified_array<int> first;
  const fr::workspace_scope use(w);
  first = fr::unified_array<int>({100}, 1);
  auto view = first.slice({0, 10});
  BOOST_TEST(view[0] == 1);
  const auto* const block = first.owner().unchecked();
  first.free();
  fr::unified_array<int> second({100}, 2);
  BOOST_TEST(second.owner().unchecked() == block);
  check_error<fr::use_after_free>([&] { (void)view[0]; }, {"free()"});
  BOOST_TEST(second[0] == 2);
}

// Threads with their own scopes on one workspace get their own blocks.
BOOST_AUTO_TEST_CASE(several_threads_share_a_workspace) {
  fr::workspace w;
  std::vector<std::thread> threads;
  std::atomic<int> wrong{0};
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&w, &wrong, t] {
      for (int step = 0; step < 30; ++step) {
        const fr::workspace_scope use(w);
        const fr::device_array<int> x({500}, t), y({700}, t + 100);
        wrong += fr::to_vector(x) != std::vector<int>(500, t);
        wrong += fr::to_vector(y) != std::vector<int>(700, t + 100);
      }
    });
  for (std::thread& t : threads) t.join();
  BOOST_TEST(wrong == 0);
  BOOST_TEST(w.statistics().blocks <= 8u);
}

BOOST_AUTO_TEST_CASE(a_workspace_of_another_machine_is_refused) {
  fr::workspace w;
  const fr::simulation other("devices=1");
  const fr::workspace_scope use(w);
  check_error<fr::invalid_argument>([] { fr::device_array<int> a({10}); }, {"workspace", "another runtime"});
}

BOOST_AUTO_TEST_SUITE_END()
