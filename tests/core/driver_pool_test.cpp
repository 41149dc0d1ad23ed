// The driver's pools: CUDA's rules as the simulator implements them, and ferry's use of them.
#include <boost/test/unit_test.hpp>
#include <map>
#include <string>
#include <vector>

#include <ferry/core.hpp>
#include <ferry/core/detail/backend/pool_backend.hpp>

#include "ferry/core/detail/pools/memory_pool.hpp"
#include "ferry/core/detail/runtime/peer.hpp"
#include "support/counting_backend.hpp"

namespace fr = ferry;

namespace driver_pool {
namespace {

constexpr auto on_device = fr::memory_kind::device;
constexpr std::size_t KiB = 1024;
const fr::pool_options driver{.kind = fr::pool_kind::driver};

std::string random_devices(int seed, int devices = 2) {
  return "devices=" + std::to_string(devices) + ";memory=1MiB;schedule=random:" + std::to_string(seed);
}
bool says(const std::string& text, std::string_view part) { return text.find(part) != text.npos; }

// Launches a kernel that ferry does not track.
void touch(fr::native_stream s, const void* p, std::size_t bytes) {
  const fr::detail::kernel_use use{static_cast<const std::byte*>(p), bytes, true, true};
  fr::runtime::current().backend().launch(s, {"touch", {&use, 1}, [](const fr::detail::relocation&) {}});
}
// The same through an access guard.
void write(const fr::stream& s, const fr::detail::allocation_ref& r) {
  fr::detail::access one{&r.get(), r.get().range(), true};
  fr::detail::access_guard guard(fr::detail::admission::unchecked(s.timeline(), {&one, 1}));
  touch(s.timeline().stream(), r.get().begin, r.get().bytes);
}
// The error of the stream's device; empty if there is none.
std::string fate_of(fr::native_stream s) {
  try {
    fr::runtime::current().backend().synchronize(s);
  } catch (const fr::device_error& e) {
    return e.what();
  }
  return "";
}

}  // namespace
}  // namespace driver_pool

BOOST_AUTO_TEST_SUITE(driver_pool)

// Peer access between devices does not cover pools. Access granted to a pool covers all of it.
BOOST_AUTO_TEST_CASE(each_pool_needs_a_grant) {
  for (const bool granted : {false, true}) {
    fr::simulation sim("devices=2");
    fr::detail::backend& backend = sim.get().backend();
    const fr::detail::native_pool p = backend.pools()->create_pool(on_device, 0, driver);
    const fr::native_stream s0 = backend.create_stream(0, 0), s1 = backend.create_stream(1, 0);
    void* const before = backend.pools()->allocate(p, KiB, s0);
    backend.enable_peer_access(1, 0);
    if (granted) backend.pools()->grant(p, 1);
    void* const after = backend.pools()->allocate(p, KiB, s0);
    std::string fate;
    try {
      touch(s1, before, KiB), touch(s1, after, KiB);
    } catch (const fr::device_error& e) {
      fate = e.what();
    }
    BOOST_TEST(fate.empty() == granted, fate);
    BOOST_TEST((granted || says(fate, "no access to that pool")), fate);
  }
  fr::simulation apart("devices=2;peers=none");
  fr::detail::pool_backend& pools = *apart.get().backend().pools();
  BOOST_CHECK_THROW(pools.grant(pools.create_pool(on_device, 0, driver), 1), fr::peer_access_error);
}

// The simulator reports accesses before the allocation and after the free.
BOOST_AUTO_TEST_CASE(memory_lives_from_its_allocation_to_its_free) {
  std::size_t early = 0, late = 0;
  for (int seed = 0; seed < 30; ++seed) {
    fr::simulation sim(random_devices(seed));
    fr::detail::backend& backend = sim.get().backend();
    const fr::detail::native_pool p = backend.pools()->create_pool(on_device, 0, driver);
    const fr::native_stream a = backend.create_stream(0, 0), b = backend.create_stream(0, 0);
    try {
      void* const bytes = backend.pools()->allocate(p, KiB, a);
      touch(seed % 2 ? a : b, bytes, KiB);
      backend.pools()->free(bytes, seed % 2 ? b : a);
      touch(seed % 2 ? a : b, bytes, KiB);
    } catch (const fr::device_error&) {
    }
    const std::string fate = fate_of(a) + fate_of(b);
    early += says(fate, "not allocated yet"), late += says(fate, "were released");
  }
  BOOST_TEST(early > 0u);
  BOOST_TEST(late > 0u);
}

BOOST_AUTO_TEST_CASE(other_devices_are_granted_when_they_need_it) {
  for (int seed = 0; seed < 10; ++seed) {
    fr::simulation sim(random_devices(seed, 3), driver);
    const fr::device_array<int> a({1000}, 4);
    const fr::stream s1(fr::device(1)), s2(fr::device(2));
    fr::device_array<int> b({1000}, fr::device(1));
    fr::copy(s2, a.slice({0, 1000, 2}), b.slice({0, 500}));  // a kernel on a third device
    BOOST_TEST(fr::to_vector(b.slice({0, 500}))[499] == 4);
  }
  fr::simulation apart("devices=2;peers=none", driver);
  fr::device_array<int> a({10}, 1);
  const fr::stream s1(fr::device(1));
  apart.get().peers().kernels(fr::detail::peer_kernels::error);
  BOOST_CHECK_THROW(fr::fill(s1, a, 3), fr::peer_access_error);
  apart.get().peers().kernels(fr::detail::peer_kernels::stage);
  fr::fill(s1, a, 3);
  BOOST_TEST((fr::to_vector(a) == std::vector<int>(10, 3)));
}

// Memory used by one stream is freed on that stream, without an event wait. With several users, only the pool's own
// stream waits.
BOOST_AUTO_TEST_CASE(no_stream_of_the_program_waits_for_a_free) {
  fr::simulation below(random_devices(1), driver);
  fr::detail::backend& backend = below.get().backend();
  support::call_counts calls;
  fr::runtime_scope scope(std::make_unique<support::counting_backend>(backend, calls),
                          {.kind = fr::pool_kind::driver, .reuse = fr::reuse_policy::deterministic()});
  fr::detail::memory_pool& p = scope.get().pool(on_device, 0);
  const fr::stream busy, slow;
  write(busy, p.allocate(100));  // now the thread's stream for allocations
  const long before = calls.stream_waits;
  for (int i = 0; i < 5; ++i) {
    const fr::detail::allocation_ref a = p.allocate(100);
    write(busy, a);
  }
  BOOST_TEST(calls.stream_waits == before);
  {
    const fr::detail::allocation_ref a = p.allocate(100);
    write(busy, a), write(slow, a);
    BOOST_TEST(calls.stream_waits == before + 1);  // slow waits for busy
  }
  BOOST_TEST(calls.stream_waits <= before + 3);  // the pool's stream waits for both
  const long after = calls.stream_waits;
  write(busy, p.allocate(64));
  write(busy, p.allocate(100));
  BOOST_TEST(calls.cpu_waits == 0);
  BOOST_TEST(calls.stream_waits <= after + 2);  // at most for their own allocations
}

BOOST_AUTO_TEST_CASE(largest_size_and_release_threshold) {
  fr::simulation sim(random_devices(2));
  fr::pool bounded(fr::device(0), {.kind = fr::pool_kind::driver, .max_bytes = 64 * KiB});
  {
    const fr::detail::allocation_ref a = bounded.allocate(40 * KiB);
    try {
      (void)bounded.allocate(40 * KiB);
      BOOST_ERROR("nothing was thrown");
    } catch (const fr::out_of_memory& e) {
      BOOST_TEST(says(e.what(), "64 KiB"), e.what());
    }
  }
  const fr::detail::allocation_ref again = bounded.allocate(60 * KiB);
  fr::pool hasty(fr::device(0), {.kind = fr::pool_kind::driver, .release_threshold = 0});
  fr::pool keeping(fr::device(0), {.kind = fr::pool_kind::driver});
  const fr::stream s;
  write(s, hasty.allocate(1000)), write(s, keeping.allocate(1000));
  s.synchronize();
  BOOST_TEST(hasty.statistics().reserved_bytes == 0u);
  BOOST_TEST(keeping.statistics().reserved_bytes > 0u);
  keeping.trim();
  BOOST_TEST(keeping.statistics().reserved_bytes == 0u);
}

// Unified memory comes from a split pool. Pools with the same options share it.
BOOST_AUTO_TEST_CASE(unified_memory_comes_from_a_split_pool_that_is_used_again) {
  fr::simulation sim(random_devices(1));
  const auto unified_of = [] {
    fr::pool p(fr::device(0), driver);
    const fr::pool_scope scope(p);
    const fr::unified_array<int> u({100}, 1);
    return &p.of(fr::memory_kind::unified);
  };
  const fr::detail::memory_pool* const first = unified_of();
  BOOST_TEST((first->options().kind == fr::pool_kind::split));
  BOOST_TEST(unified_of() == first);
}

BOOST_AUTO_TEST_CASE(the_default_pool_is_shared) {
  fr::simulation sim("devices=2");
  fr::detail::backend& backend = sim.get().backend();
  fr::pool ours = fr::pool::default_of(fr::device(1));
  const fr::detail::native_pool theirs = backend.pools()->default_pool(1, driver);
  const fr::native_stream s = backend.create_stream(1, 0);
  const fr::detail::allocation_ref a = ours.allocate(1000);
  void* const b = backend.pools()->allocate(theirs, 1000, s);
  BOOST_TEST(ours.statistics().reserved_bytes == 2048u);
  backend.pools()->free(b, s);
  backend.destroy_stream(s);
}

// For each allocation: which earlier allocation's bytes it reuses.
std::vector<int> reuse_of(int seed, fr::reuse_policy how) {
  fr::simulation sim(random_devices(seed), {.kind = fr::pool_kind::driver, .reuse = how});
  fr::detail::memory_pool& p = sim.get().pool(on_device, 0);
  const fr::stream s[2];
  const fr::detail::allocation_ref other = p.allocate(3000);
  std::map<const void*, int> first;
  std::vector<int> reused;
  for (int i = 0; i < 60; ++i) {
    write(s[1], other);  // the next allocation runs on this stream
    const fr::detail::allocation_ref a = p.allocate(1000);
    write(s[0], a);  // the free runs on this stream
    reused.push_back(first.emplace(a.get().begin, i).first->second);
  }
  return reused;
}

BOOST_AUTO_TEST_CASE(deterministic_reuse) {
  const std::vector<int> expected = reuse_of(0, fr::reuse_policy::deterministic());
  bool otherwise_differ = false;
  for (int seed = 1; seed < 10; ++seed) {
    BOOST_TEST((reuse_of(seed, fr::reuse_policy::deterministic()) == expected), "seed " << seed);
    otherwise_differ |= reuse_of(seed, {true, true, false}) != expected;
  }
  BOOST_TEST(otherwise_differ);
}

// A free inside a submission is deferred to the pool's next call, because nothing can be enqueued there.
BOOST_AUTO_TEST_CASE(freed_inside_a_submission) {
  fr::simulation sim(random_devices(3), driver);
  fr::detail::memory_pool& p = sim.get().pool(on_device, 0);
  const fr::stream s;
  fr::detail::allocation_ref inner = p.allocate(500);
  fr::device_array<int> a({10}, 0);
  fr::submit(
      s, [&](fr::native_stream, int*) { inner = {}; }, a);
  BOOST_TEST(p.statistics().allocations == 1u);
  a = {};
  p.trim();
  BOOST_TEST(p.statistics().reserved_bytes == 0u);
}

BOOST_AUTO_TEST_SUITE_END()
