// The program's own memory as unified arrays: refused operations, and the error if no device can use the memory.
#include <string>
#include <thread>
#include <vector>

#include <boost/test/unit_test.hpp>

#include <ferry/core/borrow.hpp>
#include <ferry/unified.hpp>

#include "ferry/core/detail/ordering/timelines.hpp"
#include "support/failures.hpp"

namespace fr = ferry;
using support::failure_of;
using support::has;

namespace adopted_memory {
namespace {

// Device work that writes.
template <class View>
void use(View&& v) {
  fr::submit(
      fr::default_stream(fr::devices()[0]), [](fr::native_stream, int*) {}, fr::inout(v));
}

}  // namespace
}  // namespace adopted_memory

BOOST_AUTO_TEST_SUITE(adopted_memory)

BOOST_AUTO_TEST_CASE(neither_readable_nor_pinnable) {
  fr::simulation sim("devices=1;pageable_access=off;pinning=off");
  std::vector<int> v(1000, 3);
  const std::string text = failure_of<fr::not_supported>([&] { (void)fr::as_unified(v); });
  BOOST_TEST(has(text,
                 "as_unified: no device of this machine reads memory of the CPU as it is, and it cannot be pinned "
                 "either: copy it into a unified array."),
             text);
  BOOST_TEST(has(text, "pins no memory"), text);  // and the reason
  BOOST_CHECK_THROW((void)fr::pin(v), fr::not_supported);
  BOOST_TEST(sim.get().allocations() == 0u);
  fr::unified_array<int> u({v.size()});  // the remedy that the text suggests
  fr::copy(v, u);
  BOOST_TEST(u[999] == 3);
  const fr::simulation readable("devices=1;pageable_access=on;pinning=off");  // then no pinning is needed
  BOOST_TEST(std::as_const(*fr::as_unified(v).begin()) == 3);
}

// Where devices read it in place, it does not move: pages of a std::vector are never migrated.
BOOST_AUTO_TEST_CASE(adopted_memory_stays_where_it_is) {
  fr::simulation sim("devices=1;pageable_access=on");
  std::vector<int> v(1 << 20, 3);
  auto u = fr::as_unified(v, {.stream = {}, .name = "mine"});
  const std::string stays =
      "array 'mine' is memory of the program that was adopted, and stays where it is: copy it to a "
      "ferry::unified_array "
      "to have its pages moved";
  const auto refused = [&](const std::string& verb, auto call) {
    const std::string text = failure_of<fr::invalid_argument>(call);
    BOOST_TEST(text == "ferry: " + verb + ": " + stays);
  };
  refused("prefetch", [&] { fr::prefetch(u, fr::devices()[0]); });
  refused("prefetch", [&] { fr::prefetch(u, fr::host); });
  refused("advise", [&] { fr::advise(u, fr::advice::read_mostly); });
  refused("discard", [&] { fr::discard(u); });
  refused("set_policy", [&] { fr::set_policy(u, fr::array_policy::parse("prefetch")); });
  fr::clear_policy(u);
  BOOST_TEST(u[5] == 3);  // unchanged
}

// A borrow may grow: its whole range is then tracked and migrated.
BOOST_AUTO_TEST_CASE(borrows_that_grow) {
  fr::simulation sim("devices=1;memory=64MiB");
  const std::size_t n = (std::size_t{16} << 20) / sizeof(float);
  auto& driver = fr::runtime::current().backend();
  void* const p = driver.allocate(fr::memory_kind::unified, 0, n * sizeof(float));
  {
    const auto part = [&](std::size_t lo, std::size_t hi) {
      return fr::borrow<fr::memory_kind::unified>(static_cast<float*>(p) + lo, hi - lo);
    };
    const auto whole_is_known = [](auto& a) {
      fr::fill(a, 1.f);
      return fr::residency(a).on(fr::devices()[0]) == a.size_bytes();
    };
    auto middle = part(n / 4, n / 2);
    BOOST_TEST(whole_is_known(middle));
    auto later = part(n / 4, n);
    BOOST_TEST(whole_is_known(later));
    auto all = part(0, n);
    BOOST_TEST(whole_is_known(all));
    const auto r = fr::report_migration();
    std::uint64_t sent = 0;
    for (const fr::migration_entry& e : r.entries) sent += e.to_devices.by_prefetch + e.dropped;
    BOOST_TEST(sent == n * sizeof(float));
  }
  driver.release(fr::memory_kind::unified, 0, p, n * sizeof(float));
}

// An array's policy is passed to the driver for the added range, too.
BOOST_AUTO_TEST_CASE(policies_of_borrows_that_grow) {
  fr::simulation sim("devices=1;memory=64MiB");
  const std::size_t n = (std::size_t{16} << 20) / sizeof(int);
  auto& driver = fr::runtime::current().backend();
  void* const p = driver.allocate(fr::memory_kind::unified, 0, n * sizeof(int));
  {
    auto half = fr::borrow<fr::memory_kind::unified>(static_cast<int*>(p), n / 2);
    fr::set_policy(half, fr::array_policy::parse("explicit preferred=cpu"));
    auto all = fr::borrow<fr::memory_kind::unified>(static_cast<int*>(p), n);
    for (int& x : all) x = 1;
    fr::fill(all, 2);  // remote access: the pages stay at their preferred location
    fr::runtime::current().streams().synchronize();
    BOOST_TEST((driver.prefetched_to(p, n * sizeof(int)) == fr::memory_location{}));
  }
  driver.release(fr::memory_kind::unified, 0, p, n * sizeof(int));
}

// One thread works on a borrow while another thread makes it larger.
BOOST_AUTO_TEST_CASE(borrows_that_grow_meanwhile) {
  fr::simulation sim("devices=1;memory=64MiB");
  constexpr std::size_t piece = 1 << 10, pieces = 64;
  auto& driver = fr::runtime::current().backend();
  auto* const p = static_cast<int*>(driver.allocate(fr::memory_kind::unified, 0, pieces * piece * sizeof(int)));
  {
    auto first = fr::borrow<fr::memory_kind::unified>(p, piece);
    std::thread other([&] {
      for (std::size_t n = 2; n <= pieces; ++n) fr::borrow<fr::memory_kind::unified>(p, n * piece);
    });
    for (int i = 0; i < 200; ++i) {
      fr::fill(first, i);
      BOOST_TEST(first[piece - 1] == i);
    }
    other.join();
    BOOST_TEST(fr::residency(first).unknown == 0U);
  }
  driver.release(fr::memory_kind::unified, 0, p, pieces * piece * sizeof(int));
}

// Pinned memory is on the CPU. Memory read in place is where ferry's page records say. Neither case queries the driver.
BOOST_AUTO_TEST_CASE(residency_of_adopted_memory) {
  for (const bool in_place : {false, true}) {
    fr::simulation sim(std::string("devices=1;pageable_access=") + (in_place ? "on" : "off"));
    std::vector<int> v(1 << 20, 3);
    auto u = fr::as_unified(v);
    BOOST_TEST(fr::residency(u).on_cpu == (in_place ? 0U : u.size_bytes()));
    BOOST_TEST(fr::residency(u).unknown == (in_place ? u.size_bytes() : 0U));
    for (int& x : u) ++x;
    BOOST_TEST(fr::residency(u).on_cpu == u.size_bytes());
    use(u);
    BOOST_TEST(fr::residency(u).on_cpu == (in_place ? 0U : u.size_bytes()));
    BOOST_TEST(fr::residency(u.slice({10, 20})).unknown == 0U);
  }
}

// A report makes no suggestion that would throw.
BOOST_AUTO_TEST_CASE(no_advice_for_adopted_memory) {
  fr::simulation sim("devices=1;pageable_access=on");
  std::vector<int> v(1 << 20, 3);
  auto u = fr::as_unified(v, {.stream = {}, .name = "mine"});
  fr::unified_array<int> own({v.size()}, 3);
  own.name("own");
  const fr::migration_scope by_hand(fr::migration::explicitly);
  const auto suggestion_of = [](const std::string& array) -> std::string {
    for (const fr::migration_entry& e : fr::report_migration().entries)
      if (e.array == array) return e.suggestion;
    return "no entry of " + array;
  };
  for (int round = 0; round < 2; ++round) {
    for (int& x : u) ++x;
    for (int& x : own) ++x;
    use(u), use(own);
    BOOST_TEST(has(suggestion_of("own"), "advise(own"), suggestion_of("own"));
    BOOST_TEST(suggestion_of("mine") == "");
  }
}

// Guards and spans are tracked, however devices access the memory.
BOOST_AUTO_TEST_CASE(guards_and_spans_of_adopted_memory) {
  for (const char* how : {"pageable_access=on", "pageable_access=off"}) {
    fr::simulation sim(std::string("devices=2;") + how);
    std::vector<int> v(1000, 3), w(1000, 4);
    auto u = fr::as_unified(v, {.stream = {}, .name = "mine"});
    fr::device_array<int> d({1000});
    const auto is_refused = [&](auto call) {
      return has(failure_of<fr::invalid_argument>(call), "while the CPU still");
    };
    const auto works = [&] { use(u), fr::copy(d, u); };
    {
      const fr::host_guard g(fr::inout(u));
      BOOST_TEST(is_refused([&] { use(u); }), how);
      BOOST_TEST(is_refused([&] { fr::copy(d, u); }), how);
      BOOST_TEST(is_refused([&] { fr::copy(std::as_const(u), d); }), how);
      use(u.slice({0, 0}));
    }
    works();
    {
      const fr::host_guard g(fr::in(u.slice({0, 10})));
      fr::copy(std::as_const(u), d);
      BOOST_TEST(is_refused([&] { use(u); }), how);
    }
    works();
    fr::check_spans(fr::span_checks::on);
    {
      const auto s = fr::host_span(u);
      BOOST_TEST(is_refused([&] { use(u); }), how);
      auto other = fr::as_unified(w);
      use(other);
    }
    works();
    const auto h = fr::host(std::as_const(u));
    BOOST_TEST(is_refused([&] { use(u); }), how);
    u.give_back();
  }
}

BOOST_AUTO_TEST_SUITE_END()
