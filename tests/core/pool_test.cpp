// Kinds of pools: what they hand out, keep and give back; scopes; options that make no sense.
#include <malloc.h>
#include <sys/wait.h>
#include <unistd.h>

#include <boost/test/unit_test.hpp>
#include <cstdlib>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <ferry/core.hpp>

#include "machine_registry.hpp"
#include "support/busy_stream.hpp"
#include "support/quiet_stderr.hpp"

namespace fr = ferry;

namespace {

constexpr auto on_device = fr::memory_kind::device;

fr::pool_options small(fr::pool_kind k) {
  return {.granularity = 64, .small_segment = 1024, .large_segment = 4096, .kind = k};
}

// Notes the addresses that go back to the backend.
struct returns : fr::allocation_observer {
  std::vector<const void*> seen;
  void on_return(fr::memory_kind, int, const void* begin, std::size_t) noexcept override { seen.push_back(begin); }
};

class variable {
 public:
  variable(const char* name, const char* value) : name_(name) {
    if (const char* now = std::getenv(name)) before_ = now;
    setenv(name, value, 1);
  }
  ~variable() { before_ ? setenv(name_, before_->c_str(), 1) : unsetenv(name_); }

 private:
  const char* name_;
  std::optional<std::string> before_;
};

std::size_t bytes_of_malloc() { return mallinfo2().uordblks; }
boost::test_tools::assertion_result malloc_counts(boost::unit_test::test_unit_id) {
  const std::size_t before = bytes_of_malloc();
  void* volatile some = std::malloc(10000);
  boost::test_tools::assertion_result ok(bytes_of_malloc() >= before + 10000);
  std::free(some);
  ok.message() << "needs a malloc that counts what it gives: that of sanitizers does not";
  return ok;
}

template <class Error, class F>
std::string text_of(F f) {
  try {
    f();
  } catch (const Error& e) {
    return e.what();
  }
  return "nothing was thrown";
}
bool says(const std::string& text, std::string_view part) { return text.find(part) != text.npos; }

// Ends the process with another code than it was going to.
struct nothing_returns : fr::allocation_observer {
  void on_return(fr::memory_kind, int, const void*, std::size_t) noexcept override { ::_exit(9); }
};

struct some_arrays {
  fr::device_array<int> a, b;
  fr::unified_array<int> c;
  void make() {
    a = fr::device_array<int>({1000}, 1);
    b = fr::device_array<int>({1000}, 2, fr::device(1));
    c = fr::unified_array<int>({1000}, 3);
    fr::copy(a, b);
  }
};

// Programs that end with arrays in static variables.
[[noreturn]] void machine_dies_last(fr::pool_kind kind) {
  static fr::simulation sim("devices=2;schedule=random:1", small(kind));
  static fr::pool own(fr::device(0), small(kind));
  const fr::pool_scope use(own);
  static some_arrays arrays;
  arrays.make();
  std::exit(7);
}
[[noreturn]] void machine_dies_first(fr::pool_kind kind) {
  static nothing_returns watch;
  static some_arrays arrays;
  static support::quiet_stderr quiet;  // the machine says that arrays outlive it
  static fr::simulation sim("devices=2;schedule=random:1", small(kind));
  arrays.make();
  sim.get().memory().observe(watch);
  std::exit(7);
}
[[noreturn]] void machine_of_the_process(fr::pool_kind kind) {
  static nothing_returns watch;
  static const auto* const kept = new std::shared_ptr<fr::machine>(fr::machine_registry::exchange(nullptr));
  (void)kept;  // the machine of the tests, which is as immortal
  setenv("FERRY_BACKEND", "sim", 1);
  setenv("FERRY_SIM", "devices=2;schedule=random:1", 1);
  setenv("FERRY_POOL", fr::pool_kind_name(kind), 1);
  fr::machine::current().memory().observe(watch);
  static some_arrays arrays;  // dies before whatever the machine left for exit() to call
  arrays.make();
  std::exit(7);
}
constexpr struct {
  void (*program)(fr::pool_kind);
  const char* name;
} endings[] = {{machine_dies_last, "the machine dies last"},
               {machine_dies_first, "the machine dies first"},
               {machine_of_the_process, "the machine of the process"}};

void write(const fr::stream& s, const fr::allocation_ref& r) {
  const fr::kernel_use use{r.get().begin, r.get().bytes, true, true};
  fr::access one{&r.get(), r.get().range(), true};
  fr::access_guard guard(s.line(), {&one, 1});
  fr::machine::current().verbs().launch(s.line().stream(), {"write", {&use, 1}, [](const fr::relocation&) {}});
}

}  // namespace

BOOST_AUTO_TEST_SUITE(pool)

BOOST_AUTO_TEST_CASE(options_that_make_no_sense) {
  fr::simulation sim("devices=1");
  const auto text = [](const fr::pool_options& o) {
    return text_of<fr::invalid_argument>([&] { fr::pool p(fr::device(0), o); });
  };
  for (const double share : {0.0, 1.0, -0.5, 80.0}) BOOST_TEST(says(text({.gc_threshold = share}), "gc_threshold"));
  BOOST_TEST(says(text({.granularity = 100}), "100"));
  BOOST_TEST(says(text({.small_segment = 100}), "segments"));
  BOOST_TEST(says(text({.max_split_size = 1}), "max_split_size"));
  BOOST_TEST(says(text_of<fr::invalid_argument>([] { fr::pool p(fr::device(3)); }), "no device 3"));
}

// What a kind of pool would not heed is refused, by a text that says whose option it is.
BOOST_AUTO_TEST_CASE(options_of_other_kinds) {
  using enum fr::pool_kind;
  fr::simulation sim("devices=1");
  const auto refused = [](fr::pool_kind k, fr::pool_options o, std::string_view name, std::string_view who) {
    o.kind = k;
    const std::string expected = std::string(name) + ": " + fr::pool_kind_name(k) + " pools do not have it, ";
    for (const std::string& text :
         {text_of<fr::invalid_argument>([&] { fr::pool p(fr::device(0), o); }),
          text_of<fr::invalid_argument>([&] { fr::simulation other("devices=1", o); }),
          text_of<fr::invalid_argument>([&] { (void)fr::machine::current().take_pool(on_device, 0, o); })})
      BOOST_TEST((says(text, expected) && says(text, std::string(who) + " pools do;")), text);
  };
  for (const fr::pool_kind k : {split, binned, simple, none}) {
    refused(k, {.max_bytes = 1 << 20}, "max_bytes", "driver");
    refused(k, {.release_threshold = 0}, "release_threshold", "driver");
    refused(k, {.reuse = fr::reuse_policy::deterministic()}, "reuse", "driver");
    refused(k, {.shareable = true}, "shareable", "driver");
    refused(k, {.shared = true}, "shared", "driver");
  }
  for (const fr::pool_kind k : {driver, none})
    refused(k, {.gc_threshold = 0.5}, "gc_threshold", "split, binned, simple");
  for (const fr::pool_kind k : {driver, none, simple})
    refused(k, {.max_split_size = 1 << 20}, "max_split_size", "split, binned");
  for (const fr::pool_kind k : {split, binned, simple}) (void)fr::pool(fr::device(0), {.kind = k, .gc_threshold = 0.5});
  // Of a driver pool, what holds its unified memory has no such bounds.
  fr::pool p(fr::device(0), {.kind = driver, .release_threshold = 0, .max_bytes = 1 << 20});
  (void)p.allocate(100, fr::memory_kind::unified);
}

// Programs that leave the kind to FERRY_POOL run with each; what they ask of pools as they are by themselves may not apply.
BOOST_AUTO_TEST_CASE(options_where_the_environment_chooses) {
  const auto text = [](const char* kind, const fr::pool_options& o) {
    const variable v("FERRY_POOL", kind);
    return text_of<fr::invalid_argument>([&] {
      fr::simulation sim("devices=1", o);
      fr::pool p(fr::device(0), o);
      (void)p.allocate(100);
    });
  };
  for (const char* kind : {"", "driver", "split", "binned", "simple", "none"}) {
    BOOST_TEST(text(kind, {.max_split_size = 1 << 20, .gc_threshold = 0.5}) == "nothing was thrown");
    const bool driver = kind == std::string("driver");
    BOOST_TEST(says(text(kind, {.max_bytes = 1 << 20}), driver ? "nothing was thrown" : "max_bytes"), kind);
    BOOST_TEST(says(text(kind, {.gc_threshold = 80}), "above 0 and below 1"), kind);
  }
}

BOOST_AUTO_TEST_CASE(names_of_kinds) {
  using enum fr::pool_kind;
  for (const fr::pool_kind k : {driver, split, binned, simple, none})
    BOOST_TEST((fr::parse_pool_kind(fr::pool_kind_name(k)) == k));
  const variable v("FERRY_POOL", "splt");
  const std::string text = text_of<fr::parse_error>([] { fr::simulation sim("devices=1"); });
  for (const char* part : {"'splt'", "FERRY_POOL", "driver", "split", "binned", "simple", "none"})
    BOOST_TEST(says(text, part), text);
}

BOOST_AUTO_TEST_CASE(the_environment_chooses_the_kind) {
  const variable v("FERRY_POOL", "binned");
  fr::simulation sim("devices=1");
  BOOST_TEST((fr::pool(fr::device(0)).kind() == fr::pool_kind::binned));
  const fr::device_array<char> a({5000});
  BOOST_TEST(sim.get().pool(on_device, 0).statistics().allocated_bytes == 8192u);
  fr::simulation other("devices=1", small(fr::pool_kind::split));  // code is stronger
  const fr::device_array<char> b({5000});
  BOOST_TEST(other.get().pool(on_device, 0).statistics().allocated_bytes == 5056u);
}

BOOST_AUTO_TEST_CASE(sizes_of_each_kind) {
  for (const auto& [kind, bytes] : {std::pair(fr::pool_kind::split, 704u), std::pair(fr::pool_kind::binned, 1024u),
                                    std::pair(fr::pool_kind::simple, 704u), std::pair(fr::pool_kind::none, 700u)}) {
    fr::simulation sim("devices=1", small(kind));
    fr::memory_pool& p = sim.get().pool(on_device, 0);
    const fr::allocation_ref a = p.allocate(700), nothing = p.allocate(0);
    BOOST_TEST(a.get().bytes == bytes);
    BOOST_TEST(nothing.get().bytes >= 1u);
    BOOST_TEST(p.statistics().allocations == 2u);
    BOOST_CHECK_THROW((void)p.allocate(std::size_t(-5)), fr::out_of_memory);
    BOOST_TEST(p.statistics().allocations == 2u);
  }
}

BOOST_AUTO_TEST_CASE(scopes_choose_the_pool) {
  fr::simulation sim("devices=2");
  fr::pool a(fr::device(0), small(fr::pool_kind::split)), b(fr::device(0), small(fr::pool_kind::binned)),
      other(fr::device(1), small(fr::pool_kind::simple));
  const auto count = [](fr::pool& p) { return p.statistics().allocations; };
  std::optional<fr::device_array<int>> outlives;
  {
    const fr::pool_scope use_a(a), use_other(other);
    outlives.emplace(fr::extents<1>{10});
    const fr::unified_array<int> u({10});
    const fr::device_array<int> there({10}, fr::device(1));
    BOOST_TEST(count(a) == 2u);
    BOOST_TEST(count(other) == 1u);
    {
      const fr::pool_scope use_b(b);
      const fr::device_array<int> d({10});
      BOOST_TEST((count(b) == 1u && count(a) == 2u));
      std::thread([&] {  // another thread's arrays are its own business
        const fr::device_array<int> e({10});
        BOOST_TEST((count(b) == 1u && count(a) == 2u));
      })
          .join();
    }
    const fr::device_array<int> c({10});
    BOOST_TEST(count(a) == 3u);
  }
  const fr::device_array<int> after({10});
  BOOST_TEST(count(a) == 1u);
}

// Arrays may outlive their pool; the next pool of the same options gets what was kept.
BOOST_AUTO_TEST_CASE(pools_come_back) {
  fr::simulation sim("devices=1");
  fr::device_array<int> a;
  const fr::memory_pool* first = nullptr;
  {
    fr::pool p(fr::device(0), small(fr::pool_kind::split));
    const fr::pool_scope use(p);
    a = fr::device_array<int>({10}, 3);
    first = &p.of(on_device);
  }
  BOOST_TEST(fr::to_vector(a)[9] == 3);
  fr::pool q(fr::device(0), small(fr::pool_kind::split)), r(fr::device(0), small(fr::pool_kind::split));
  BOOST_TEST(&q.of(on_device) == first);
  BOOST_TEST(&r.of(on_device) != first);
  a = {};
  BOOST_TEST(q.statistics().allocations == 0u);
}

BOOST_AUTO_TEST_CASE(a_pool_of_another_machine) {
  fr::simulation outer("devices=1");
  fr::pool p(fr::device(0), small(fr::pool_kind::split));
  fr::simulation inner("devices=1");
  const std::string text = text_of<fr::invalid_argument>([&] { (void)p.allocate(10); });
  BOOST_TEST(says(text, "another machine"), text);
}

// Blocks above the size are never cut, and serve only requests of about their size.
BOOST_AUTO_TEST_CASE(large_blocks_are_kept_whole) {
  fr::simulation sim("devices=1;memory=1MiB");
  fr::pool p(fr::device(0), {.granularity = 64,
                             .small_segment = 1024,
                             .large_segment = 4096,
                             .kind = fr::pool_kind::split,
                             .max_split_size = 8192});
  const std::byte* large = p.allocate(100000).get().begin;
  const fr::allocation_ref little = p.allocate(1000);
  BOOST_TEST((little.get().begin < large || little.get().begin >= large + 100000));
  const fr::allocation_ref same = p.allocate(99000);
  BOOST_TEST(same.get().begin == large);
  BOOST_TEST(same.get().bytes == 100032u);
}

// Before the pool grows beyond its share of the device, what was unused longest goes.
BOOST_AUTO_TEST_CASE(the_oldest_unused_blocks_go_first) {
  fr::simulation sim("devices=1;memory=100000B");
  fr::pool p(fr::device(0), {.granularity = 64,
                             .small_segment = 1024,
                             .large_segment = 4096,
                             .kind = fr::pool_kind::split,
                             .gc_threshold = 0.5});
  returns gone;
  sim.get().memory().observe(gone);
  const void* at[3];
  {
    const fr::allocation_ref a = p.allocate(16000), b = p.allocate(15000), c = p.allocate(14000);
    at[0] = a.get().begin, at[1] = b.get().begin, at[2] = c.get().begin;
  }  // freed last to first: c is the oldest
  const fr::allocation_ref d = p.allocate(18000);
  BOOST_REQUIRE(gone.seen.size() == 1u);
  BOOST_TEST(gone.seen[0] == at[2]);
  BOOST_TEST(p.statistics().reserved_bytes <= 50000u);
  sim.get().memory().stop_observing(gone);
}

// What work still uses stays, beyond the share: whoever grows a pool keeps others that must grow it waiting, too.
BOOST_AUTO_TEST_CASE(collecting_garbage_waits_for_no_stream) {
  for (const auto kind : {fr::pool_kind::split, fr::pool_kind::binned, fr::pool_kind::simple})
    BOOST_TEST_CONTEXT(fr::pool_kind_name(kind)) {
      fr::simulation sim("devices=1;memory=2MiB;schedule=random:1");
      fr::pool p(
          fr::device(0),
          {.granularity = 64, .small_segment = 1024, .large_segment = 4096, .kind = kind, .gc_threshold = 0.0625});
      const fr::stream slow;
      support::busy_stream busy(slow);
      write(slow, p.allocate(120000));
      const fr::allocation_ref b = p.allocate(250000);
      BOOST_TEST(busy.is_busy());
      BOOST_TEST(p.statistics().segments == 2u);
      busy.release();
      slow.synchronize();
      const fr::allocation_ref c = p.allocate(500000);
      BOOST_TEST(p.statistics().segments == 2u);  // the first one went
    }
}

// Of two free blocks the one is taken for which the stream that is in use need not wait.
BOOST_AUTO_TEST_CASE(blocks_that_need_no_wait_come_first) {
  for (const auto kind : {fr::pool_kind::split, fr::pool_kind::binned, fr::pool_kind::simple}) {
    fr::simulation sim("devices=1;schedule=random:1", small(kind));
    fr::memory_pool& p = sim.get().pool(on_device, 0);
    const fr::stream s0, s1;
    const std::byte *of0 = nullptr, *of1 = nullptr;
    const fr::allocation_ref other = p.allocate(64);
    {
      const fr::allocation_ref a = p.allocate(2048), b = p.allocate(2048);
      write(s0, a), write(s1, b);
      of0 = a.get().begin, of1 = b.get().begin;
    }
    write(s0, other);
    BOOST_TEST(p.allocate(2048).get().begin == of0);
    write(s1, other);
    BOOST_TEST(p.allocate(2048).get().begin == of1);
  }
}

// Who gets a block that work still uses waits on the device, and the pool stays as small as it is.
BOOST_AUTO_TEST_CASE(blocks_in_use_by_work_come_before_growing) {
  for (const auto kind : {fr::pool_kind::split, fr::pool_kind::binned, fr::pool_kind::simple}) {
    fr::simulation sim("devices=1;schedule=random:1", small(kind));
    fr::memory_pool& p = sim.get().pool(on_device, 0);
    const fr::stream s0, s1;
    const fr::allocation_ref other = p.allocate(64);
    const std::byte* used = nullptr;
    {
      const fr::allocation_ref a = p.allocate(100000);
      write(s0, a);
      used = a.get().begin;
    }
    write(s1, other);
    const std::size_t segments = p.statistics().segments;
    BOOST_TEST(p.allocate(100000).get().begin == used);
    BOOST_TEST(p.statistics().segments == segments);
  }
}

// Freed blocks wait apart for a while: they must join again before the pool asks for more.
BOOST_AUTO_TEST_CASE(pieces_join_before_the_pool_grows) {
  fr::simulation sim("devices=1;memory=64KiB",
                     {.granularity = 64, .small_segment = 1024, .large_segment = 65536, .kind = fr::pool_kind::split});
  fr::memory_pool& p = sim.get().pool(on_device, 0);
  {
    std::vector<fr::allocation_ref> all;
    for (std::size_t i = 0; i < 15; ++i) all.push_back(p.allocate(4096 + 64 * (i % 3)));
  }
  const fr::allocation_ref whole = p.allocate(60000);
  BOOST_TEST(p.statistics().segments == 1u);
}

// `none` gives back what nobody uses any more, and keeps what somebody does.
BOOST_AUTO_TEST_CASE(no_pool_keeps_nothing) {
  fr::simulation sim("devices=1;schedule=random:1", small(fr::pool_kind::none));
  fr::memory_pool& p = sim.get().pool(on_device, 0);
  fr::stream s;
  write(s, p.allocate(1000));
  s.synchronize();
  const fr::allocation_ref b = p.allocate(10);
  BOOST_TEST(p.statistics().reserved_bytes == 10u);
}

// Large blocks that a shard holds take no room from small ones.
BOOST_AUTO_TEST_CASE(small_blocks_stay_near_beside_large_ones) {
  fr::simulation sim("devices=1", {.kind = fr::pool_kind::split});
  fr::memory_pool& p = sim.get().pool(on_device, 0);
  { const fr::allocation_ref a = p.allocate(std::size_t{100} << 20), b = p.allocate(4096); }
  const std::size_t blocks = p.statistics().blocks;
  for (int i = 0; i < 10; ++i) (void)p.allocate(4096);
  const fr::allocation_ref again = p.allocate(4096);
  BOOST_TEST(p.statistics().blocks == blocks);  // neither cut nor joined
  BOOST_TEST(blocks == 3u);
}

// Arrays of one size, which loops of the CPU go through side by side: their lowest 20 bits differ by 512 or more.
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

// What a freed array leaves behind has room for another one of its size, beside what is still there.
BOOST_AUTO_TEST_CASE(holes_between_unified_arrays_serve_again) {
  const auto page_of = [](const std::byte* p) { return reinterpret_cast<std::uintptr_t>(p) >> 21; };
  const auto array = [](std::size_t kib) { return fr::unified_array<char>({kib << 10}); };
  const fr::pool_options split{.kind = fr::pool_kind::split};
  {  // a large one before a large one
    fr::simulation sim("devices=1", split);
    auto a = array(4096), b = array(4096);
    a.free();
    fr::reclaim();
    const auto c = array(4096);
    BOOST_TEST(c.bytes().begin < b.bytes().begin);
    BOOST_TEST(page_of(c.bytes().end - 1) < page_of(b.bytes().begin));
  }
  {  // before a smaller one
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
  {  // sizes near max_split_size, again and again
    fr::simulation sim("devices=1");
    fr::pool p(fr::device(0), {.kind = fr::pool_kind::split, .max_split_size = std::size_t{8} << 20});
    const fr::pool_scope scope(p);
    for (const std::size_t kib : {4095, 4096, 8000, 8192, 8193})
      for (int i = 0; i < 40; ++i) (void)array(kib);
    BOOST_TEST(p.statistics().reserved_bytes <= std::size_t{5 * 9} << 20);
  }
  {  // memory is short: pages are shared
    fr::simulation sim("devices=1", split);
    fr::set_memory_limit({.on = fr::device(0), .kind = fr::memory_kind::unified}, {.hard = "32MiB"});
    auto large = array(3 * 1024), other = array(13 * 1024);
    BOOST_CHECK_NO_THROW((void)array(15300));
  }
}

// Pages of 2 MiB move as a whole: nothing else is in those of a large array, as long as there is room.
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
  BOOST_TEST(p.statistics().allocated_bytes < bytes + 512 * all.size());  // what is left out belongs to nobody
  all.clear();
  p.trim();
  BOOST_TEST(p.statistics().reserved_bytes == 0U);
}

// Arrays in static variables die after main, with work of theirs unfinished; the exit code is the program's. Where the machine
// lives on, nothing goes back to the backend, which may be gone by then.
BOOST_AUTO_TEST_CASE(exit_codes_with_live_static_arrays) {
  for (const auto kind :
       {fr::pool_kind::driver, fr::pool_kind::split, fr::pool_kind::binned, fr::pool_kind::simple, fr::pool_kind::none})
    for (const auto& [program, name] : endings) {
      const pid_t child = fork();
      if (child == 0) try {
          program(kind);  // does not return
        } catch (...) {
          ::_exit(8);
        }
      int status = 0;
      BOOST_REQUIRE(waitpid(child, &status, 0) == child);
      BOOST_TEST(WIFEXITED(status), fr::pool_kind_name(kind) << ", " << name);
      BOOST_TEST(WEXITSTATUS(status) == 7, fr::pool_kind_name(kind) << ", " << name);
    }
}

BOOST_AUTO_TEST_CASE(freed_by_other_threads) {
  for (const auto kind : {fr::pool_kind::split, fr::pool_kind::binned, fr::pool_kind::simple, fr::pool_kind::none}) {
    fr::simulation sim("devices=1", small(kind));
    fr::memory_pool& p = sim.get().pool(on_device, 0);
    std::vector<fr::allocation_ref> made(400);
    for (int round = 0; round < 5; ++round) {
      std::vector<std::jthread> threads;
      for (std::size_t t = 0; t < 4; ++t)
        threads.emplace_back([&, t] {
          for (std::size_t i = t; i < made.size(); i += 4) made[i] = p.allocate(1 + 37 * i);
        });
      threads.clear();
      BOOST_TEST(p.statistics().allocations == made.size());
      for (std::size_t t = 0; t < 4; ++t)
        threads.emplace_back([&, t] {
          for (std::size_t i = (t + 1) % 4; i < made.size(); i += 4) made[i] = {};
        });
    }
    const fr::pool_statistics s = p.statistics();
    BOOST_TEST((s.allocations == 0u && s.allocated_bytes == 0u && s.made == 2000u));
  }
}

// CPU memory of an allocation that a stream has used: the node and its log.
BOOST_AUTO_TEST_CASE(allocations_cost_little_memory, *boost::unit_test::precondition(malloc_counts)) {
  fr::simulation sim("devices=1;memory=1GiB", {.kind = fr::pool_kind::split});
  fr::memory_pool& p = sim.get().pool(on_device, 0);
  constexpr std::size_t count = 20000;
  fr::stream s;
  std::vector<fr::allocation_ref> all;
  all.reserve(count);
  (void)p.allocate(512 * count);  // the segment, which the simulator takes from the same heap
  const std::size_t before = bytes_of_malloc();
  for (std::size_t i = 0; i < count; ++i) all.push_back(p.allocate(512));
  for (const fr::allocation_ref& r : all) {
    fr::access one{&r.get(), r.get().range(), true};
    fr::access_guard guard(s.line(), {&one, 1});
  }
  const std::size_t each = (bytes_of_malloc() - before) / count;
  BOOST_TEST(each >= sizeof(fr::allocation));
  BOOST_TEST(each <= 256u);
  BOOST_TEST_MESSAGE("an allocation costs " << each << " bytes");
}

BOOST_AUTO_TEST_SUITE_END()
