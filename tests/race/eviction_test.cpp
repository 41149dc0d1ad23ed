// A device with little free memory: idle unified arrays lose contents marked as discardable, or move to the CPU.
// as: host
#include <atomic>
#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <thread>

#include <boost/test/unit_test.hpp>

#include <ferry/unified.hpp>

#include "sim/sim_backend.hpp"
#include "support/seeds.hpp"

namespace fr = ferry;

namespace make_room {
namespace {

constexpr std::size_t MiB = std::size_t{1} << 20;

// One character stands for many: the time of a simulated kernel grows with the number of elements.
struct cell {
  char value;
  char rest[15];
  cell() = default;
  constexpr cell(char c) : value(c), rest{} {}
  constexpr operator char() const { return value; }
};
using cells = fr::unified_array<cell>;
constexpr std::size_t in_cells(std::size_t bytes) { return bytes / sizeof(cell); }

// Other pool kinds round sizes up, or free on a stream that is blocked. With a finer granularity arrays do not begin at
// page boundaries.
const fr::pool_options exact{.granularity = 4096, .kind = fr::pool_kind::split};

fr::detail::sim::inspector& look() {
  return dynamic_cast<fr::detail::sim::inspector&>(fr::runtime::current().backend());
}
std::size_t on_device_0(const cells& a) {
  auto places = look().residency(a.unsynchronized_data(), a.size_bytes());
  return places[0];
}
// Written by device 0, where its pages are then. The array is idle.
cells filled_there(std::size_t bytes, char value) {
  cells a({in_cells(bytes)});
  fr::fill(fr::default_stream(fr::device(0)), a, cell(value));
  fr::default_stream(fr::device(0)).synchronize();
  BOOST_TEST_REQUIRE(on_device_0(a) == bytes);
  return a;
}
// Reads without recording a use.
char raw(const cells& a, std::size_t i) { return a.unsynchronized_data()[i]; }
bool holds(const cells& a, char value) { return a[0] == value && a[a.size() - 1] == value; }
bool can_have(std::size_t bytes) {
  try {
    const fr::device_array<char> b({bytes}, fr::device(0));
    return true;
  } catch (const fr::out_of_memory&) {
    return false;
  }
}
bool says(const std::string& text, const std::string& part) { return text.find(part) != text.npos; }

}  // namespace
}  // namespace make_room

BOOST_AUTO_TEST_SUITE(make_room)

// As on a GPU, resident pages count against the device's memory. Incoming pages evict the least recently used ones, or
// stay out if all are in use.
BOOST_AUTO_TEST_CASE(pages_take_memory_of_their_device) {
  fr::simulation sim("devices=2;memory=64MiB", exact);
  auto a = filled_there(40 * MiB, 'a');
  BOOST_TEST(sim.get().backend().memory(0).free_bytes == 24 * MiB);
  auto b = filled_there(16 * MiB, 'b'), c = filled_there(24 * MiB, 'c');
  BOOST_TEST((on_device_0(a) == 24 * MiB && on_device_0(b) == 16 * MiB && on_device_0(c) == 24 * MiB));
  BOOST_TEST(look().moved().evicted == 16 * MiB);
  fr::prefetch(a, fr::devices()[1]);
  fr::default_stream(fr::devices()[1]).synchronize();
  BOOST_TEST(sim.get().backend().memory(0).free_bytes == 24 * MiB);
  BOOST_TEST(sim.get().backend().memory(1).free_bytes == 24 * MiB);
  BOOST_TEST((holds(a, 'a') && holds(b, 'b') && holds(c, 'c')));
  b.free(), c.free(), a.free();
  fr::reclaim();
  BOOST_TEST(sim.get().backend().memory(0).free_bytes == 64 * MiB);
  const fr::device_array<char> most({60 * MiB}, fr::device(0));
  cells large({in_cells(20 * MiB)});
  fr::fill(fr::default_stream(fr::device(0)), large, cell('l'));
  BOOST_TEST(on_device_0(large) == 4 * MiB);
  BOOST_TEST(holds(large, 'l'));
}

BOOST_AUTO_TEST_CASE(offered_contents_go_first_and_are_not_copied) {
  fr::simulation sim("devices=1;memory=64MiB", exact);
  auto scratch = filled_there(40 * MiB, 's'), kept = filled_there(16 * MiB, 'k');
  const fr::detail::sim::traffic before = look().moved();
  fr::discard_when_needed(scratch);
  BOOST_TEST(fr::may_be_discarded(scratch));
  BOOST_TEST(raw(scratch, 0) == 's');  // contents stay until memory is short
  BOOST_TEST(can_have(40 * MiB));
  const fr::detail::sim::traffic now = look().moved();
  BOOST_TEST(now.discarded == before.discarded + 32 * MiB);  // only as much as is missing
  BOOST_TEST(now.evicted + now.prefetched + now.faulted == before.evicted + before.prefetched + before.faulted);
  BOOST_TEST(on_device_0(kept) == 16 * MiB);
  BOOST_TEST(raw(scratch, 0) != 's');
  BOOST_TEST(raw(scratch, in_cells(40 * MiB) - 1) == 's');
  BOOST_TEST(fr::may_be_discarded(scratch));  // the rest stays discardable
  fr::fill(fr::default_stream(fr::device(0)), scratch, cell('t'));
  BOOST_TEST((holds(scratch, 't') && holds(kept, 'k')));
}

BOOST_AUTO_TEST_CASE(the_longest_unused_go_to_the_cpu) {
  fr::simulation sim("devices=1;memory=64MiB", exact);
  auto a = filled_there(16 * MiB, 'a'), b = filled_there(16 * MiB, 'b'), c = filled_there(16 * MiB, 'c');
  fr::fill(fr::default_stream(fr::device(0)), a.slice({0, 10}), cell('a'));
  fr::default_stream(fr::device(0)).synchronize();
  BOOST_TEST(can_have(28 * MiB));
  BOOST_TEST((on_device_0(a) == 16 * MiB && on_device_0(b) == 4 * MiB && on_device_0(c) == 16 * MiB));
  BOOST_TEST(fr::residency(b).on_cpu == 12 * MiB);
  BOOST_TEST(can_have(60 * MiB));
  BOOST_TEST((on_device_0(a) == 4 * MiB && on_device_0(b) == 0u && on_device_0(c) == 0u));
  BOOST_TEST((holds(a, 'a') && holds(b, 'b') && holds(c, 'c')));
}

// Any use of the array withdraws the permission to discard.
BOOST_AUTO_TEST_CASE(an_offer_ends_with_the_next_use) {
  const auto use = [](int how, cells& a) {
    const fr::stream s;
    cells b({a.size()});
    switch (how) {
      case 0: a[5] = 'x'; break;
      case 1: (void)std::as_const(a)[5]; break;
      case 2: (void)a.cbegin(); break;
      case 3: (void)fr::host(a); break;
      case 4: fr::fill(s, a.slice({0, 1}), cell('x')); break;
      case 5: fr::copy(s, std::as_const(a), b); break;
      case 6: (void)fr::to_vector(a); break;
      case 7: (void)fr::host_guard(fr::in(a)); break;
      default: return false;
    }
    s.synchronize();
    return true;
  };
  for (int how = 0;; ++how) {
    fr::simulation sim("devices=1;memory=64MiB", exact);
    auto a = filled_there(16 * MiB, 'x');
    (void)std::as_const(a)[5];  // an earlier CPU access
    fr::discard_when_needed(a);
    if (!use(how, a)) break;
    BOOST_TEST(!fr::may_be_discarded(a), "use " << how);
    fr::prefetch(a, fr::device(0));
    fr::default_stream(fr::device(0)).synchronize();
    BOOST_TEST(can_have(60 * MiB), "use " << how);
    BOOST_TEST(holds(a, 'x'), "use " << how);
    fr::discard_when_needed(a);
    BOOST_TEST(fr::may_be_discarded(a));
  }
}

// Finished work counts as complete, even if no thread has waited for it.
BOOST_AUTO_TEST_CASE(completion_without_a_query) {
  fr::simulation sim("devices=1;memory=64MiB", exact);
  cells a({in_cells(32 * MiB)}), b({in_cells(32 * MiB)});
  fr::stream s;
  fr::fill(s, a, cell('a')), fr::fill(s, b, cell('b'));
  BOOST_TEST(can_have(60 * MiB));
  BOOST_TEST((holds(a, 'a') && holds(b, 'b')));
}

// Half of a collective never ends while the other half is missing: waiting for it would deadlock.
BOOST_AUTO_TEST_CASE(what_is_in_use_stays) {
  for (std::size_t seed = 0; seed < support::seeds(5); ++seed) {
    fr::simulation sim("devices=1;memory=64MiB;schedule=random:" + std::to_string(seed), exact);
    auto used = filled_there(30 * MiB, 'u'), idle = filled_there(20 * MiB, 'i');
    fr::stream s, other;
    const auto both = std::make_shared<fr::detail::rendezvous>(fr::detail::rendezvous{"both", 2, [] {}});
    sim.get().backend().join_rendezvous(s.timeline().stream(), both, {});
    fr::fill(s, used, cell('v'));
    fr::discard_when_needed(used);  // by all the work that was enqueued
    BOOST_TEST(can_have(30 * MiB), "seed " << seed);
    BOOST_TEST((on_device_0(used) == 30 * MiB && raw(used, 0) == 'u'), "seed " << seed);
    BOOST_TEST(holds(idle, 'i'));
    BOOST_TEST(!can_have(40 * MiB), "seed " << seed);
    BOOST_TEST(fr::may_be_discarded(used));
    sim.get().backend().join_rendezvous(other.timeline().stream(), both, {});
    s.synchronize();
    BOOST_TEST(raw(used, 0) == 'v');
    BOOST_TEST(can_have(64 * MiB), "seed " << seed);
    BOOST_TEST(raw(used, 0) != 'v');
  }
}

BOOST_AUTO_TEST_CASE(pages_under_a_host_guard_stay) {
  fr::simulation sim("devices=1;memory=64MiB", exact);
  auto a = filled_there(60 * MiB, 'a');
  const fr::host_guard h(fr::in(a.slice({0, 1})));  // pins a single page: all others are on the device
  BOOST_TEST(!can_have(30 * MiB));
  BOOST_TEST(on_device_0(a) == 60 * MiB);
}

// Arrays that begin and end within pages, as in a shared pool.
BOOST_AUTO_TEST_CASE(pages_at_both_ends_go_too) {
  fr::simulation sim("devices=1;memory=64MiB", {.kind = fr::pool_kind::split});
  auto a = filled_there(13 * MiB, 'a'), b = filled_there(13 * MiB, 'b');
  BOOST_TEST(reinterpret_cast<std::uintptr_t>(b.unsynchronized_data()) % (2 * MiB) != 0U);
  BOOST_TEST(can_have(64 * MiB));
  BOOST_TEST((on_device_0(a) == 0U && on_device_0(b) == 0U));
  BOOST_TEST((holds(a, 'a') && holds(b, 'b')));
}

// Only pages that lie wholly inside the array: pages shared with other arrays stay.
BOOST_AUTO_TEST_CASE(neighbours_in_a_page_are_unchanged) {
  fr::simulation sim("devices=1;memory=64MiB", exact);
  cells a({in_cells(41 * MiB)});
  fr::fill(fr::default_stream(fr::device(0)), a, cell('a'));
  auto middle = a.slice({in_cells(MiB), in_cells(40 * MiB)});
  fr::discard_when_needed(middle);
  BOOST_TEST(can_have(58 * MiB));
  BOOST_TEST((raw(a, 0) == 'a' && raw(a, in_cells(2 * MiB) - 1) == 'a' && raw(a, in_cells(2 * MiB)) != 'a'));
  BOOST_TEST((raw(a, in_cells(40 * MiB)) == 'a' && raw(a, in_cells(41 * MiB) - 1) == 'a'));
}

BOOST_AUTO_TEST_CASE(the_error_says_what_they_freed) {
  fr::simulation sim("devices=1;memory=64MiB", exact);
  const fr::device_array<char> fixed({20 * MiB}, fr::device(0));
  auto scratch = filled_there(16 * MiB, 's'), kept = filled_there(20 * MiB, 'k');
  fr::discard_when_needed(scratch);
  try {
    const fr::device_array<char> b({60 * MiB}, fr::device(0));
    BOOST_ERROR("there was room");
  } catch (const fr::out_of_memory& e) {
    const std::string text = e.what();
    BOOST_TEST(says(text, "contents of unified arrays that may be discarded (16.000 MiB)"), text);
    BOOST_TEST(says(text, "moving the longest unused unified arrays to the CPU (20.000 MiB)"), text);
    BOOST_REQUIRE(e.shortage() != nullptr);
    BOOST_TEST(e.shortage()->free_bytes == 44 * MiB);
  }
  BOOST_TEST(holds(kept, 'k'));
}

// A limit counts allocated bytes, wherever their pages are: moving pages does not help.
BOOST_AUTO_TEST_CASE(a_limit_moves_nothing) {
  fr::simulation sim("devices=1;memory=64MiB", exact);
  auto scratch = filled_there(16 * MiB, 's');
  fr::discard_when_needed(scratch);
  fr::set_memory_limit(fr::device(0), {.hard = "32MiB"});
  BOOST_TEST(!can_have(20 * MiB));
  BOOST_TEST((on_device_0(scratch) == 16 * MiB && raw(scratch, 0) == 's'));
}

// No page is evicted during a graph capture or inside a submission.
BOOST_AUTO_TEST_CASE(captures_are_left_alone) {
  fr::simulation sim("devices=1;memory=64MiB", exact);
  auto a = filled_there(40 * MiB, 'a');
  const fr::stream s;
  fr::graph g = fr::capture(s, [&] { BOOST_TEST(!can_have(40 * MiB)); });
  BOOST_TEST(on_device_0(a) == 40 * MiB);
  BOOST_TEST(can_have(40 * MiB));
  BOOST_CHECK_THROW(fr::submit(
                        s, [&](fr::native_stream, cell*) { fr::discard_when_needed(a); }, a),
                    fr::invalid_argument);
}

// Evicting pages of freed arrays causes no error, and frees their memory, too.
BOOST_AUTO_TEST_CASE(freed_arrays) {
  for (const auto kind : {fr::pool_kind::split, fr::pool_kind::binned, fr::pool_kind::none, fr::pool_kind::driver}) {
    BOOST_TEST_INFO_SCOPE(fr::pool_kind_name(kind));
    fr::simulation sim("devices=2;memory=64MiB", {.kind = kind});
    {
      auto a = filled_there(32 * MiB, 'a');
      fr::discard_when_needed(a);
      cells of_1({in_cells(16 * MiB)}, fr::device(1));
      fr::fill(fr::default_stream(fr::device(0)), of_1, cell('b'));
    }
    BOOST_TEST(can_have(60 * MiB), fr::pool_kind_name(kind));
    fr::reclaim();
    auto again = filled_there(32 * MiB, 'c');
    BOOST_TEST(!fr::may_be_discarded(again));
    BOOST_TEST(can_have(60 * MiB));
    BOOST_TEST(holds(again, 'c'));
  }
}

BOOST_AUTO_TEST_CASE(bad_offers) {
  fr::simulation sim("devices=1;memory=64MiB");
  fr::unified_array<int, 2> m({10, 10}, 1);
  BOOST_CHECK_THROW(fr::discard_when_needed(m.slice({{0, 10}, {0, 5}})), fr::invalid_argument);
  fr::unified_array<int> none({0}), gone({10});
  fr::discard_when_needed(none);
  BOOST_TEST(!fr::may_be_discarded(none));
  gone.free();
  BOOST_CHECK_THROW(fr::discard_when_needed(gone), fr::use_after_free);
  fr::simulation pinned("devices=1;memory=64MiB;concurrent_managed=off");
  cells p({in_cells(8 * MiB)}, 'p');
  fr::discard_when_needed(p);
  BOOST_TEST(!fr::may_be_discarded(p));
  BOOST_TEST(!can_have(80 * MiB));
  BOOST_TEST(p[0] == 'p');
}

// One thread writes, reads and marks its scratch as discardable, on devices and the CPU in turn. The other thread needs
// the memory.
BOOST_AUTO_TEST_CASE(two_threads) {
  for (std::size_t seed = 0; seed < support::seeds(6); ++seed) {
    fr::simulation sim("devices=1;memory=16MiB" + (seed < 3 ? "" : ";schedule=random:" + std::to_string(seed)));
    std::atomic<bool> over{false};
    std::thread needy([&] {
      while (!over) {
        (void)can_have(14 * MiB);
        std::this_thread::sleep_for(std::chrono::milliseconds(1));  // locks are not fair: let the other thread in
      }
    });
    fr::stream s;
    cells u({in_cells(6 * MiB)}), v({in_cells(4 * MiB)});
    for (int i = 1; i <= 30; ++i) {
      const char value = static_cast<char>(i);
      if (i % 3 == 0)
        for (cell& c : u) c = value;
      else
        fr::fill(s, u, cell(value));
      fr::fill(s, v, cell(value));
      if (i % 2 == 0) fr::copy(s, std::as_const(u).slice({0, in_cells(4 * MiB)}), v);
      BOOST_TEST(holds(i % 2 ? u : v, value), "seed " << seed << ", round " << i);
      fr::discard_when_needed(u), fr::discard_when_needed(v);
    }
    over = true;
    needy.join();
  }
}

BOOST_AUTO_TEST_SUITE_END()
