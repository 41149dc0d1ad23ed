// Which block of a pool serves a request, and which blocks are released.
#include <boost/test/unit_test.hpp>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <ferry/core.hpp>

#include "ferry/core/detail/accounting/memory_accounting.hpp"
#include "ferry/core/detail/pools/memory_pool.hpp"
#include "support/busy_stream.hpp"

namespace fr = ferry;

namespace pool_blocks {
namespace {

constexpr auto on_device = fr::memory_kind::device;

fr::pool_options small(fr::pool_kind k) {
  return {.granularity = 64, .small_segment = 1024, .large_segment = 4096, .kind = k};
}

// Records the addresses that return to the backend.
struct returns : fr::detail::allocation_observer {
  std::vector<const void*> seen;
  void on_return(fr::memory_kind, int, const void* begin, std::size_t) noexcept override { seen.push_back(begin); }
};

void write(const fr::stream& s, const fr::detail::allocation_ref& r) {
  const fr::detail::kernel_use use{r.get().begin, r.get().bytes, true, true};
  fr::detail::access one{&r.get(), r.get().range(), true};
  fr::detail::access_guard guard(fr::detail::admission::unchecked(s.timeline(), {&one, 1}));
  fr::runtime::current().backend().launch(s.timeline().stream(),
                                          {"write", {&use, 1}, [](const fr::detail::relocation&) {}});
}

}  // namespace
}  // namespace pool_blocks

BOOST_AUTO_TEST_SUITE(pool_blocks)

// Blocks above max_split_size are never split, and serve only requests of similar size.
BOOST_AUTO_TEST_CASE(large_blocks_are_kept_whole) {
  fr::simulation sim("devices=1;memory=1MiB");
  fr::pool p(fr::device(0), {.granularity = 64,
                             .small_segment = 1024,
                             .large_segment = 4096,
                             .kind = fr::pool_kind::split,
                             .max_split_size = 8192});
  const std::byte* large = p.allocate(100000).get().begin;
  const fr::detail::allocation_ref little = p.allocate(1000);
  BOOST_TEST((little.get().begin < large || little.get().begin >= large + 100000));
  const fr::detail::allocation_ref same = p.allocate(99000);
  BOOST_TEST(same.get().begin == large);
  BOOST_TEST(same.get().bytes == 100032u);
}

// Before the pool grows beyond its share of the device, it releases the least recently used blocks.
BOOST_AUTO_TEST_CASE(the_oldest_unused_blocks_go_first) {
  fr::simulation sim("devices=1;memory=100000B");
  fr::pool p(fr::device(0), {.granularity = 64,
                             .small_segment = 1024,
                             .large_segment = 4096,
                             .kind = fr::pool_kind::split,
                             .gc_threshold = 0.5});
  returns gone;
  sim.get().memory().observers().add(gone);
  const void* at[3];
  {
    const fr::detail::allocation_ref a = p.allocate(16000), b = p.allocate(15000), c = p.allocate(14000);
    at[0] = a.get().begin, at[1] = b.get().begin, at[2] = c.get().begin;
  }  // freed in reverse order: c is the oldest
  const fr::detail::allocation_ref d = p.allocate(18000);
  BOOST_REQUIRE(gone.seen.size() == 1u);
  BOOST_TEST(gone.seen[0] == at[2]);
  BOOST_TEST(p.statistics().reserved_bytes <= 50000u);
  sim.get().memory().observers().remove(gone);
}

// Blocks in use by work stay, even beyond the share: waiting while the pool grows would block other threads that need
// to grow it.
BOOST_AUTO_TEST_CASE(collecting_garbage_waits_for_no_stream) {
  for (const auto kind : {fr::pool_kind::split, fr::pool_kind::binned}) BOOST_TEST_CONTEXT(fr::pool_kind_name(kind)) {
      fr::simulation sim("devices=1;memory=2MiB;schedule=random:1");
      fr::pool p(
          fr::device(0),
          {.granularity = 64, .small_segment = 1024, .large_segment = 4096, .kind = kind, .gc_threshold = 0.0625});
      const fr::stream slow;
      support::busy_stream busy(slow);
      write(slow, p.allocate(120000));
      const fr::detail::allocation_ref b = p.allocate(250000);
      BOOST_TEST(busy.is_busy());
      BOOST_TEST(p.statistics().segments == 2u);
      busy.release();
      slow.synchronize();
      const fr::detail::allocation_ref c = p.allocate(500000);
      BOOST_TEST(p.statistics().segments == 2u);  // the first segment was not reused
    }
}

// Of two free blocks, the pool prefers the one that the current stream can use without waiting.
BOOST_AUTO_TEST_CASE(blocks_that_need_no_wait_come_first) {
  for (const auto kind : {fr::pool_kind::split, fr::pool_kind::binned}) {
    fr::simulation sim("devices=1;schedule=random:1", small(kind));
    fr::detail::memory_pool& p = sim.get().pool(on_device, 0);
    const fr::stream s0, s1;
    const std::byte *of0 = nullptr, *of1 = nullptr;
    const fr::detail::allocation_ref other = p.allocate(64);
    {
      const fr::detail::allocation_ref a = p.allocate(2048), b = p.allocate(2048);
      write(s0, a), write(s1, b);
      of0 = a.get().begin, of1 = b.get().begin;
    }
    write(s0, other);
    BOOST_TEST(p.allocate(2048).get().begin == of0);
    write(s1, other);
    BOOST_TEST(p.allocate(2048).get().begin == of1);
  }
}

// A block in use by work is reused before the pool grows: the new user waits on the device.
BOOST_AUTO_TEST_CASE(blocks_in_use_by_work_come_before_growing) {
  for (const auto kind : {fr::pool_kind::split, fr::pool_kind::binned}) {
    fr::simulation sim("devices=1;schedule=random:1", small(kind));
    fr::detail::memory_pool& p = sim.get().pool(on_device, 0);
    const fr::stream s0, s1;
    const fr::detail::allocation_ref other = p.allocate(64);
    const std::byte* used = nullptr;
    {
      const fr::detail::allocation_ref a = p.allocate(100000);
      write(s0, a);
      used = a.get().begin;
    }
    write(s1, other);
    const std::size_t segments = p.statistics().segments;
    BOOST_TEST(p.allocate(100000).get().begin == used);
    BOOST_TEST(p.statistics().segments == segments);
  }
}

// Freed blocks are cached separately at first: they must be joined before the pool grows.
BOOST_AUTO_TEST_CASE(pieces_join_before_the_pool_grows) {
  fr::simulation sim("devices=1;memory=64KiB",
                     {.granularity = 64, .small_segment = 1024, .large_segment = 65536, .kind = fr::pool_kind::split});
  fr::detail::memory_pool& p = sim.get().pool(on_device, 0);
  {
    std::vector<fr::detail::allocation_ref> all;
    for (std::size_t i = 0; i < 15; ++i) all.push_back(p.allocate(4096 + 64 * (i % 3)));
  }
  const fr::detail::allocation_ref whole = p.allocate(60000);
  BOOST_TEST(p.statistics().segments == 1u);
}

// `none` releases blocks without pending uses, and retains blocks in use.
BOOST_AUTO_TEST_CASE(pools_of_kind_none_cache_nothing) {
  fr::simulation sim("devices=1;schedule=random:1", small(fr::pool_kind::none));
  fr::detail::memory_pool& p = sim.get().pool(on_device, 0);
  fr::stream s;
  write(s, p.allocate(1000));
  s.synchronize();
  const fr::detail::allocation_ref b = p.allocate(10);
  BOOST_TEST(p.statistics().reserved_bytes == 10u);
}

// Large blocks in a shard do not displace small ones.
BOOST_AUTO_TEST_CASE(small_blocks_stay_near_beside_large_ones) {
  fr::simulation sim("devices=1", {.kind = fr::pool_kind::split});
  fr::detail::memory_pool& p = sim.get().pool(on_device, 0);
  { const fr::detail::allocation_ref a = p.allocate(std::size_t{100} << 20), b = p.allocate(4096); }
  const std::size_t blocks = p.statistics().blocks;
  for (int i = 0; i < 10; ++i) (void)p.allocate(4096);
  const fr::detail::allocation_ref again = p.allocate(4096);
  BOOST_TEST(p.statistics().blocks == blocks);  // neither split nor joined
  BOOST_TEST(blocks == 3u);
}

// CPU loops traverse arrays of one size side by side: their lowest 20 address bits differ by at least 512.
BOOST_AUTO_TEST_CASE(large_unified_arrays_begin_at_different_places) {
  const auto at = [](const fr::unified_array<char>& a) { return reinterpret_cast<std::uintptr_t>(a.bytes().begin); };
  for (const std::size_t kib : {300, 1024, 2048, 40 * 1024}) {
    fr::simulation sim("devices=1");
    fr::pool p(fr::device(0), {.kind = fr::pool_kind::split});
    const fr::pool_scope scope(p);
    std::vector<fr::unified_array<char>> all;
    for (std::size_t i = 0; i < 8; ++i) {
      const auto& a = all.emplace_back(fr::extents<1>{kib << 10});
      BOOST_TEST(at(a) % 512 == 0U);
      for (std::size_t j = 0; j < i; ++j) {
        const std::size_t apart = (at(a) - at(all[j])) % (1 << 20);
        BOOST_TEST((apart >= 512 && apart <= (1 << 20) - 512), kib << " KiB, " << i << " and " << j << ": " << apart);
      }
    }
  }
}

// The gap of a freed array has room for another array of its size, next to the remaining arrays.
BOOST_AUTO_TEST_CASE(holes_between_unified_arrays_serve_again) {
  const auto page_of = [](const std::byte* p) { return reinterpret_cast<std::uintptr_t>(p) >> 21; };
  const auto array = [](std::size_t kib) { return fr::unified_array<char>({kib << 10}); };
  const fr::pool_options split{.kind = fr::pool_kind::split};
  {  // a large array before a large one
    fr::simulation sim("devices=1", split);
    auto a = array(4096), b = array(4096);
    a.free();
    fr::reclaim();
    const auto c = array(4096);
    BOOST_TEST(c.bytes().begin < b.bytes().begin);
    BOOST_TEST(page_of(c.bytes().end - 1) < page_of(b.bytes().begin));
  }
  {  // a large array before a smaller one
    fr::simulation sim("devices=1", split);
    std::vector<fr::unified_array<char>> few;
    for (int i = 0; i < 5; ++i) few.push_back(array(1024));
    const auto last = std::move(few.back());
    few.clear();
    fr::reclaim();
    const auto c = array(4096);
    BOOST_TEST((page_of(c.bytes().end - 1) < page_of(last.bytes().begin) ||
                page_of(c.bytes().begin) > page_of(last.bytes().end - 1)));
  }
  {  // sizes near max_split_size, repeatedly
    fr::simulation sim("devices=1");
    fr::pool p(fr::device(0), {.kind = fr::pool_kind::split, .max_split_size = std::size_t{8} << 20});
    const fr::pool_scope scope(p);
    for (const std::size_t kib : {4095, 4096, 8000, 8192, 8193})
      for (int i = 0; i < 40; ++i) (void)array(kib);
    BOOST_TEST(p.statistics().reserved_bytes <= std::size_t{5 * 9} << 20);
  }
  {  // little memory: arrays share pages
    fr::simulation sim("devices=1", split);
    fr::set_memory_limit({.on = fr::device(0), .kind = fr::memory_kind::unified}, {.hard = "32MiB"});
    auto large = array(3 * 1024), other = array(13 * 1024);
    BOOST_CHECK_NO_THROW((void)array(15300));
  }
}

// Pages of 2 MiB move as a whole: a large array shares none of its pages, as long as there is room.
BOOST_AUTO_TEST_CASE(large_unified_arrays_have_pages_of_their_own) {
  const auto pages = [](const fr::unified_array<char>& a) {
    const auto page_of = [](const std::byte* p) { return reinterpret_cast<std::uintptr_t>(p) >> 21; };
    return std::pair(page_of(a.bytes().begin), page_of(a.bytes().end - 1));
  };
  fr::simulation sim("devices=1");
  fr::pool p(fr::device(0), {.kind = fr::pool_kind::split});
  std::vector<fr::unified_array<char>> all;
  {
    const fr::pool_scope scope(p);
    std::minstd_rand dice(7);
    constexpr std::size_t sizes[] = {512, 70000, 300 << 10, 1 << 20, 2 << 20, (3 << 20) + 100, 8 << 20, 20 << 20};
    for (int i = 0; i < 400; ++i) {
      if (all.size() < 30 || dice() % 2) all.emplace_back(fr::extents<1>{sizes[dice() % std::size(sizes)]});
      if (dice() % 2) std::swap(all[dice() % all.size()], all.back()), all.pop_back();
    }
  }
  std::size_t large = 0, bytes = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    bytes += all[i].size_bytes();
    if (all[i].size() < 2 << 20) continue;
    ++large;
    for (std::size_t j = 0; j < all.size(); ++j)
      if (i != j)
        BOOST_TEST((pages(all[i]).second < pages(all[j]).first || pages(all[j]).second < pages(all[i]).first),
                   all[i].size() << " and " << all[j].size() << " bytes share a page");
  }
  BOOST_TEST(large > 5U);
  BOOST_TEST(p.statistics().allocated_bytes < bytes + 512 * all.size());  // skipped bytes are attributed to no array
  all.clear();
  p.trim();
  BOOST_TEST(p.statistics().reserved_bytes == 0U);
}

BOOST_AUTO_TEST_SUITE_END()
