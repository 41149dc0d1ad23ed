// The race checker on accesses of the CPU, on memory that is released, reused or discarded, and on one planted race of
// each kind.
#include <cstddef>
#include <iterator>
#include <memory>
#include <vector>

#include "ferry/core/detail/backend/pool_backend.hpp"
#include "race_checker_fixture.hpp"

namespace race_checker {
namespace {

void cpu(place& p, int* x, bool writes) { p.m.b.host_access(use(x, n, !writes, writes)); }

}  // namespace
}  // namespace race_checker

BOOST_AUTO_TEST_SUITE(race_checker)

BOOST_AUTO_TEST_CASE(bytes_that_live_again_have_no_past) {
  is_none([](place& p) {
    int* const z = p.m.ints(n, 0, memory_kind::unified);
    p.write(p.a, z);
    p.m.b.synchronize(p.a);
    p.m.b.release(memory_kind::unified, 0, z, n * sizeof(int));
  });
  const auto reused = [](bool freed_behind) {
    return [=](place& p) {
      fr::detail::pool_backend& pools = *p.m.b.pools();
      const fr::detail::native_pool pool = pools.create_pool(memory_kind::host, 0, {});
      int* const z = static_cast<int*>(pools.allocate(pool, n * sizeof(int), p.a));
      p.order(p.a, p.of_a, p.b);
      p.write(p.b, z);
      if (freed_behind) p.order(p.b, p.of_b, p.a);
      pools.free(z, p.a);
      p.write(p.b, static_cast<int*>(pools.allocate(pool, n * sizeof(int), p.b)));
    };
  };
  is_none(reused(true));
  is_a_race(reused(false));
}

BOOST_AUTO_TEST_CASE(discarding_is_writing) {
  is_a_race([](place& p) { p.write(p.a, p.x), p.m.b.discard(p.b, p.x, n * sizeof(int)); }, "discard");
  is_none([](place& p) { p.write(p.a, p.x), p.m.b.prefetch(p.b, p.x, n * sizeof(int), {1}); });
}

// A release counts as a CPU access: the CPU must have observed that all uses are complete.
BOOST_AUTO_TEST_CASE(release_while_in_use) {
  const auto release = [](place& p, int* x) { p.m.b.release(memory_kind::unified, 0, x, 2 * n * sizeof(int)); };
  is_a_race([&](place& p) { p.write(p.a, p.x), release(p, p.x); }, "the CPU");
  is_a_race([&](place& p) { p.read(p.b, p.x, p.y), release(p, p.x); }, "kernel 'read' on stream ");
  is_a_race([&](place& p) { p.write(p.a, p.x), p.m.b.synchronize(p.b), release(p, p.x); });
  is_a_race(
      [&](place& p) { p.m.b.record(p.of_a, p.a), p.write(p.a, p.x), p.m.b.synchronize(p.of_a), release(p, p.x); });
  is_none([&](place& p) { p.write(p.a, p.x), p.m.b.synchronize(p.a), release(p, p.x); });
  is_none([&](place& p) { p.write(p.a, p.x), p.order(p.a, p.of_a, p.b), p.m.b.synchronize(p.b), release(p, p.x); });
  is_none([&](place& p) { p.write(p.a, p.x), release(p, p.y); });
  is_a_race([](place& p) {
    std::vector<int> pageable(2 * n);
    p.m.b.pin(pageable.data(), pageable.size() * sizeof(int));
    p.write(p.a, pageable.data());
    p.m.b.unpin(pageable.data(), pageable.size() * sizeof(int));
  });
}

// host_access() gives the backend the time at which the CPU was granted an access.
BOOST_AUTO_TEST_CASE(accesses_of_the_cpu) {
  is_a_race([](place& p) { p.write(p.a, p.x), cpu(p, p.x, false); }, "the CPU's access reads");
  is_a_race([](place& p) { p.read(p.a, p.x, p.y), cpu(p, p.x, true); }, "the CPU's access writes");
  is_a_race([](place& p) { p.write(p.a, p.x), p.m.b.synchronize(p.b), cpu(p, p.x, true); });
  is_none([](place& p) { p.write(p.a, p.x), p.m.b.synchronize(p.a), cpu(p, p.x, true), p.write(p.b, p.x); });
  is_none([](place& p) { p.read(p.a, p.x, p.y), cpu(p, p.x, false), p.read(p.b, p.x, p.x + n); });
  is_none([](place& p) { p.write(p.a, p.x), cpu(p, p.y, true), p.m.b.synchronize(p.a), cpu(p, p.x, false); });
}

BOOST_AUTO_TEST_CASE(tasks_of_the_cpu) {
  const auto task = [](place& p, fr::native_stream s, int* x, bool writes) {
    const auto touched = use(x, n, !writes, writes);
    p.m.b.run_on_host_using(s, [] {}, {&touched, 1});
  };
  is_a_race([&](place& p) { p.write(p.a, p.x), task(p, p.b, p.x, false); }, "host task on stream ");
  is_a_race([&](place& p) { task(p, p.b, p.x, true), cpu(p, p.x, false); });
  is_none([&](place& p) { p.write(p.a, p.x), task(p, p.a, p.x, true), p.read(p.a, p.x, p.y); });
}

// Each kind of unordered access, once.
BOOST_AUTO_TEST_CASE(planted_races) {
  const struct {
    const char* name;
    program plant;
  } all[] = {
      {"two kernels write", [](place& p) { p.write(p.a, p.x), p.write(p.b, p.x); }},
      {"a kernel reads what another writes", [](place& p) { p.write(p.a, p.x), p.read(p.b, p.x, p.y); }},
      {"a kernel writes what another reads", [](place& p) { p.read(p.a, p.x, p.y), p.write(p.b, p.x); }},
      {"a copy reads", [](place& p) { p.write(p.a, p.x), p.m.b.copy(p.b, p.y, p.x, n * sizeof(int)); }},
      {"a batch of copies writes",
       [](place& p) {
         const fr::detail::copy_part part{p.x, p.y, n * sizeof(int)};
         p.write(p.a, p.x), p.m.b.copy_batch(p.b, {&part, 1});
       }},
      {"a fill writes",
       [](place& p) {
         const int zero = 0;
         fr::detail::strided_bytes to{reinterpret_cast<std::byte*>(p.x), {sizeof(int)}};
         p.write(p.a, p.x), p.m.b.fill_strided(p.b, to, {sizeof(int), 1, {n}}, &zero);
       }},
      {"an event was recorded too early",
       [](place& p) { p.order(p.a, p.of_a, p.b), p.write(p.a, p.x), p.read(p.b, p.x, p.y); }},
      {"a graph writes",
       [](place& p) {
         p.m.b.begin_capture(p.a), p.write(p.a, p.x);
         const fr::native_graph g = p.m.b.end_capture(p.a);
         p.m.b.launch_graph(g, p.a), p.write(p.b, p.x);
       }},
      {"a joint operation writes",
       [](place& p) {
         auto m = std::make_shared<fr::detail::rendezvous>(fr::detail::rendezvous{"sum", 1, [] {}});
         const auto touched = use(p.x, n, true, true);
         p.write(p.a, p.x), p.m.b.join_rendezvous(p.b, m, {&touched, 1});
       }},
      {"pages lose their contents", [](place& p) { p.write(p.a, p.x), p.m.b.discard(p.b, p.x, n * sizeof(int)); }},
      {"the CPU releases",
       [](place& p) { p.write(p.a, p.x), p.m.b.release(memory_kind::unified, 0, p.x, 2 * n * sizeof(int)); }},
      {"a pool's memory is freed on another stream",
       [](place& p) {
         const auto pool = p.m.b.pools()->create_pool(memory_kind::device, 0, {});
         auto* const q = static_cast<int*>(p.m.b.pools()->allocate(pool, n * sizeof(int), p.a));
         const auto c = p.m.stream(0);
         p.m.b.synchronize(p.a), p.write(p.a, q), p.m.b.pools()->free(q, c), p.m.b.synchronize(c);
       }},
      {"the CPU reads what a kernel writes", [](place& p) { p.write(p.a, p.x), cpu(p, p.x, false); }},
      {"the CPU writes what a kernel reads", [](place& p) { p.read(p.a, p.x, p.y), cpu(p, p.x, true); }},
      {"a task of the CPU reads",
       [](place& p) {
         const auto touched = use(p.x, n, true, false);
         p.write(p.a, p.x), p.m.b.run_on_host_using(p.b, [] {}, {&touched, 1});
       }},
  };
  BOOST_TEST(std::size(all) == 15u);
  for (const auto& one : all) BOOST_TEST_CONTEXT(one.name) is_a_race(one.plant);
}

BOOST_AUTO_TEST_SUITE_END()
