// Pool kinds: what they hand out, cache and release; scopes; invalid options.
#include <malloc.h>

#include <boost/test/unit_test.hpp>
#include <cstdlib>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <ferry/core.hpp>

#include "ferry/core/detail/pools/runtime_pools.hpp"

namespace fr = ferry;

namespace pool {
namespace {

constexpr auto on_device = fr::memory_kind::device;

fr::pool_options small(fr::pool_kind k) {
  return {.granularity = 64, .small_segment = 1024, .large_segment = 4096, .kind = k};
}

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

}  // namespace
}  // namespace pool

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

// An option that a pool kind would ignore is refused, with a text that names the kinds that support it.
BOOST_AUTO_TEST_CASE(options_of_other_kinds) {
  using enum fr::pool_kind;
  fr::simulation sim("devices=1");
  const auto refused = [](fr::pool_kind k, fr::pool_options o, std::string_view name, std::string_view who) {
    o.kind = k;
    const std::string expected = std::string(name) + ": " + fr::pool_kind_name(k) + " pools do not have it, ";
    for (const std::string& text :
         {text_of<fr::invalid_argument>([&] { fr::pool p(fr::device(0), o); }),
          text_of<fr::invalid_argument>([&] { fr::simulation other("devices=1", o); }),
          text_of<fr::invalid_argument>([&] { (void)fr::runtime::current().pools().take(on_device, 0, o); })})
      BOOST_TEST((says(text, expected) && says(text, std::string(who) + " pools do;")), text);
  };
  for (const fr::pool_kind k : {split, binned, none}) {
    refused(k, {.max_bytes = 1 << 20}, "max_bytes", "driver");
    refused(k, {.release_threshold = 0}, "release_threshold", "driver");
    refused(k, {.reuse = fr::reuse_policy::deterministic()}, "reuse", "driver");
    refused(k, {.shareable = true}, "shareable", "driver");
    refused(k, {.shared = true}, "shared", "driver");
  }
  for (const fr::pool_kind k : {driver, none}) {
    refused(k, {.gc_threshold = 0.5}, "gc_threshold", "split, binned");
    refused(k, {.max_split_size = 1 << 20}, "max_split_size", "split, binned");
  }
  for (const fr::pool_kind k : {split, binned}) (void)fr::pool(fr::device(0), {.kind = k, .gc_threshold = 0.5});
  // The pool for a driver pool's unified memory has no such limits.
  fr::pool p(fr::device(0), {.kind = driver, .release_threshold = 0, .max_bytes = 1 << 20});
  (void)p.allocate(100, fr::memory_kind::unified);
}

// Programs that leave the kind to FERRY_POOL run with every kind. Options of a specific kind may not apply.
BOOST_AUTO_TEST_CASE(options_where_the_environment_chooses) {
  const auto text = [](const char* kind, const fr::pool_options& o) {
    const variable v("FERRY_POOL", kind);
    return text_of<fr::invalid_argument>([&] {
      fr::simulation sim("devices=1", o);
      fr::pool p(fr::device(0), o);
      (void)p.allocate(100);
    });
  };
  for (const char* kind : {"", "driver", "split", "binned", "none"}) {
    BOOST_TEST(text(kind, {.max_split_size = 1 << 20, .gc_threshold = 0.5}) == "nothing was thrown");
    const bool driver = kind == std::string("driver");
    BOOST_TEST(says(text(kind, {.max_bytes = 1 << 20}), driver ? "nothing was thrown" : "max_bytes"), kind);
    BOOST_TEST(says(text(kind, {.gc_threshold = 80}), "above 0 and below 1"), kind);
  }
}

BOOST_AUTO_TEST_CASE(names_of_kinds) {
  using enum fr::pool_kind;
  for (const fr::pool_kind k : {driver, split, binned, none})
    BOOST_TEST((fr::parse_pool_kind(fr::pool_kind_name(k)) == k));
  const variable v("FERRY_POOL", "splt");
  const std::string text = text_of<fr::parse_error>([] { fr::simulation sim("devices=1"); });
  for (const char* part : {"'splt'", "FERRY_POOL", "driver", "split", "binned", "none"})
    BOOST_TEST(says(text, part), text);
}

BOOST_AUTO_TEST_CASE(the_environment_chooses_the_kind) {
  const variable v("FERRY_POOL", "binned");
  fr::simulation sim("devices=1");
  BOOST_TEST((fr::pool(fr::device(0)).kind() == fr::pool_kind::binned));
  const fr::device_array<char> a({5000});
  BOOST_TEST(sim.get().pool(on_device, 0).statistics().allocated_bytes == 8192u);
  fr::simulation other("devices=1", small(fr::pool_kind::split));  // code has precedence
  const fr::device_array<char> b({5000});
  BOOST_TEST(other.get().pool(on_device, 0).statistics().allocated_bytes == 5056u);
}

BOOST_AUTO_TEST_CASE(sizes_of_each_kind) {
  for (const auto& [kind, bytes] : {std::pair(fr::pool_kind::split, 704u), std::pair(fr::pool_kind::binned, 1024u),
                                    std::pair(fr::pool_kind::none, 700u)}) {
    fr::simulation sim("devices=1", small(kind));
    fr::detail::memory_pool& p = sim.get().pool(on_device, 0);
    const fr::detail::allocation_ref a = p.allocate(700), nothing = p.allocate(0);
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
      other(fr::device(1), small(fr::pool_kind::binned));
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
      std::thread([&] {  // other threads' arrays are independent of it
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

// Arrays may outlive their pool. The next pool with the same options reuses the cached memory.
BOOST_AUTO_TEST_CASE(pools_come_back) {
  fr::simulation sim("devices=1");
  fr::device_array<int> a;
  const fr::detail::memory_pool* first = nullptr;
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
  BOOST_TEST(says(text, "another runtime"), text);
}

BOOST_AUTO_TEST_CASE(freed_by_other_threads) {
  for (const auto kind : {fr::pool_kind::split, fr::pool_kind::binned, fr::pool_kind::none}) {
    fr::simulation sim("devices=1", small(kind));
    fr::detail::memory_pool& p = sim.get().pool(on_device, 0);
    std::vector<fr::detail::allocation_ref> made(400);
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

// CPU memory of an allocation that a stream has used: the node and its access history.
BOOST_AUTO_TEST_CASE(allocations_cost_little_memory, *boost::unit_test::precondition(malloc_counts)) {
  fr::simulation sim("devices=1;memory=1GiB", {.kind = fr::pool_kind::split});
  fr::detail::memory_pool& p = sim.get().pool(on_device, 0);
  constexpr std::size_t count = 20000;
  fr::stream s;
  std::vector<fr::detail::allocation_ref> all;
  all.reserve(count);
  (void)p.allocate(512 * count);  // the segment, which the simulator allocates from the same heap
  const std::size_t before = bytes_of_malloc();
  for (std::size_t i = 0; i < count; ++i) all.push_back(p.allocate(512));
  for (const fr::detail::allocation_ref& r : all) {
    fr::detail::access one{&r.get(), r.get().range(), true};
    fr::detail::access_guard guard(fr::detail::admission::unchecked(s.timeline(), {&one, 1}));
  }
  const std::size_t each = (bytes_of_malloc() - before) / count;
  BOOST_TEST(each >= sizeof(fr::detail::allocation));
  BOOST_TEST(each <= 256u);
  BOOST_TEST_MESSAGE("an allocation costs " << each << " bytes");
}

BOOST_AUTO_TEST_SUITE_END()
