// Automatic migration without kernels: configuration, the planning rules alone, and the output of explain().
#include <cstdlib>

#include <boost/test/unit_test.hpp>

#include <ferry/unified.hpp>

#include "migration/fault_batched_pages.hpp"
#include "migration/move_plan.hpp"

namespace fr = ferry;

namespace automatic_host {
namespace {

constexpr std::size_t page = 64;

// A page map of just over 10 pages, and accesses planned for devices that can all reach each other.
struct board {
  alignas(64) std::byte bytes[10 * page + 32]{};
  fr::detail::allocation what;
  fr::detail::page_map pages;
  fr::detail::surroundings around;
  std::vector<fr::detail::planned> plan;
  int reader = -5;                                           // this device has pending reads
  fr::detail::byte_range read{bytes, bytes + sizeof bytes};  // of this range
  bool held = false, crowded = false;
  int asked = 0;  // how often is_crowded was called

  board() {
    what.begin = bytes;
    what.bytes = sizeof bytes;
    pages.reset(what.range());
    around.options.page = page;
    around.options.smallest_to_device = around.options.smallest_to_cpu = page;
    around.can_reach = [](int, int) { return true; };
    around.is_read_by_others = [this](fr::detail::byte_range where, int who) {
      return reader >= 0 && reader != who && read.overlaps(where);
    };
    around.is_held_by_cpu = [this](fr::detail::byte_range) { return held; };
    around.is_crowded = [this](fr::detail::byte_range, int) { return ++asked, crowded; };
  }
  fr::detail::coming_access access(std::size_t lo, std::size_t hi, int place, fr::detail::access_mode mode) {
    return {what, {bytes + lo, bytes + hi}, {place}, mode, nullptr, fr::detail::host_reach::range, bytes + lo, {}};
  }
  std::vector<fr::detail::planned> device(int d, std::size_t lo, std::size_t hi, fr::detail::access_mode mode) {
    plan.clear();
    plan_device_access(pages, access(lo, hi, d, mode), around, plan);
    return plan;
  }
  std::vector<fr::detail::planned> cpu(std::size_t lo, std::size_t hi, fr::detail::access_mode mode) {
    plan.clear();
    plan_host_access(pages, access(lo, hi, -1, mode), around, plan);
    return plan;
  }
  int where(std::size_t at) {
    int result = -9;
    pages.each({bytes + at, bytes + at + 1}, [&](fr::detail::page_run& g) { result = g.where; });
    return result;
  }
};

constexpr auto in = fr::detail::access_mode::in, out = fr::detail::access_mode::out,
               inout = fr::detail::access_mode::inout;

}  // namespace
}  // namespace automatic_host

BOOST_AUTO_TEST_SUITE(automatic_host)

BOOST_AUTO_TEST_CASE(edges) {
  board b;
  auto plan = b.device(0, 10, 3 * page + 40, inout);  // most of the first and of the last page
  BOOST_REQUIRE(plan.size() == 1U);
  BOOST_TEST((plan[0].pages.begin == b.bytes && plan[0].pages.end == b.bytes + 4 * page));
  BOOST_TEST((plan[0].used.begin == b.bytes + 10 && plan[0].used.end == b.bytes + 3 * page + 40));
  plan = b.device(1, 4 * page + 50, 6 * page + 10, inout);  // little of the first and of the last page: they stay
  BOOST_TEST(b.where(5 * page) == 1);
  BOOST_TEST(b.where(4 * page) == fr::detail::unknown_location);
  BOOST_TEST(b.where(6 * page) == fr::detail::unknown_location);
  // A partly used edge page does not leave another device.
  (void)b.device(1, 3 * page + 10, 6 * page, inout);
  BOOST_TEST(b.where(3 * page) == 0);
  BOOST_TEST(b.where(4 * page) == 1);
}

BOOST_AUTO_TEST_CASE(contents_travel_only_where_they_count) {
  board b;
  (void)b.cpu(0, sizeof b.bytes, inout);
  auto plan = b.device(0, 0, 2 * page + 40, out);
  BOOST_REQUIRE(plan.size() == 2U);
  BOOST_TEST((plan[0].what == fr::detail::page_step::drop && plan[0].pages.size() == 2 * page));
  BOOST_TEST((plan[1].what == fr::detail::page_step::move && plan[1].pages.size() == page));
  BOOST_TEST(b.device(0, 0, 2 * page, inout).empty());
}

BOOST_AUTO_TEST_CASE(the_end_of_an_array_is_not_that_of_its_block) {
  board b;
  (void)b.cpu(0, sizeof b.bytes, inout);
  const auto plan = b.device(0, 9 * page, 10 * page + 20, out);  // ends 12 bytes before the end of the block
  for (const fr::detail::planned& p : plan)
    if (p.what == fr::detail::page_step::drop) BOOST_TEST((p.pages.end <= b.bytes + 10 * page + 20));
}

BOOST_AUTO_TEST_CASE(writers_take_and_readers_map) {
  board b;
  (void)b.device(0, 0, 4 * page, out);
  auto plan = b.device(1, 0, 2 * page, in);
  BOOST_REQUIRE(plan.size() == 1U);
  BOOST_TEST((plan[0].what == fr::detail::page_step::map && b.where(0) == 0));
  BOOST_TEST(b.device(1, 0, 2 * page, in).empty());
  plan = b.device(1, 0, 2 * page, inout);
  BOOST_TEST((plan[0].what == fr::detail::page_step::move && b.where(0) == 1 && b.where(2 * page) == 0));
}

BOOST_AUTO_TEST_CASE(pages_being_read_stay) {
  board b;
  (void)b.device(0, 0, 4 * page, out);
  b.reader = 0;
  for (int i = 0; i < 6; ++i) (void)b.device(1, 0, 4 * page, in);
  BOOST_TEST(b.where(0) == 0);
  for (int i = 0; i < 2; ++i)
    BOOST_TEST((b.cpu(0, 4 * page, in)[0].what == fr::detail::page_step::fault), "loop " << i);
  board c;
  (void)c.device(0, 0, 4 * page, out);
  c.reader = 0;
  c.around.can_reach = [](int, int) { return false; };
  BOOST_TEST((c.device(1, 0, 4 * page, in)[0].what == fr::detail::page_step::fault));
}

// The reading device need not be the one that holds the pages.
BOOST_AUTO_TEST_CASE(pages_read_by_a_third_device_stay) {
  for (const int asks : {1, 2, -1}) {
    board b;
    (void)b.device(0, 0, 6 * page, out);
    b.reader = 1;
    b.read = {b.bytes, b.bytes + 2 * page};
    const auto last_of = [&] { return asks < 0 ? b.cpu(0, 4 * page, in) : b.device(asks, 0, 4 * page, in); };
    for (int i = 0; i < 6; ++i) (void)last_of();
    BOOST_TEST((asks == 1 || b.where(0) == 0 || b.where(0) == fr::detail::unknown_location), "asks " << asks);
    BOOST_TEST((asks != 1 || b.where(0) == 1), "its own reading keeps nobody's pages from it");
    const auto rest = asks < 0 ? b.cpu(4 * page, 6 * page, in) : b.device(asks, 4 * page, 6 * page, inout);
    BOOST_TEST((rest[0].what == fr::detail::page_step::move), "what it does not read, asks " << asks);
  }
}

BOOST_AUTO_TEST_CASE(pages_on_the_cpu_that_a_device_reads_there) {
  board b;
  (void)b.cpu(0, 4 * page, inout);
  b.reader = 1;
  b.read = {b.bytes, b.bytes + 2 * page};
  BOOST_TEST((b.device(0, 0, 2 * page, in)[0].what == fr::detail::page_step::map));
  BOOST_TEST(b.device(0, 0, 2 * page, in).empty(), "it is mapped already");
  BOOST_TEST(b.where(0) == fr::detail::on_the_cpu);
  BOOST_TEST((b.device(0, 2 * page, 4 * page, in)[0].what == fr::detail::page_step::move), "no device reads these");
  BOOST_TEST((b.device(1, 0, 2 * page, in)[0].what == fr::detail::page_step::move),
             "a device that reads pages receives them");
  (void)b.cpu(0, 2 * page, inout);
  BOOST_TEST((b.device(0, 0, 2 * page, inout)[0].what == fr::detail::page_step::move), "writers wait for all readers");
}

BOOST_AUTO_TEST_CASE(pages_stay_with_a_loop_of_the_cpu) {
  board b;
  (void)b.cpu(0, 4 * page, inout);
  b.held = true;
  BOOST_TEST((b.device(0, 0, 4 * page, in)[0].what == fr::detail::page_step::map));
  BOOST_TEST(b.where(0) == fr::detail::on_the_cpu);
  BOOST_TEST(b.device(0, 0, 4 * page, in).empty());
  b.held = false;
  BOOST_TEST((b.device(0, 0, 4 * page, in)[0].what == fr::detail::page_step::move));
}

BOOST_AUTO_TEST_CASE(what_bounces) {
  for (const bool reachable : {true, false}) {
    board b;
    b.around.can_reach = [reachable](int, int) { return reachable; };
    int moves = 0, bounces = 0, maps = 0, faults = 0;
    for (int i = 0; i < 21; ++i)
      for (const fr::detail::planned& p : b.device(i % 2, 0, 4 * page, inout)) {
        moves += p.what == fr::detail::page_step::move, maps += p.what == fr::detail::page_step::map;
        faults += p.what == fr::detail::page_step::fault, bounces += p.migration_disabled;
      }
    BOOST_TEST((moves == 4 && bounces == 1));
    BOOST_TEST((maps == (reachable ? 1 : 0) && faults == (reachable ? 0 : 17)), "nobody maps what it cannot reach");
    BOOST_TEST(b.where(0) == (reachable ? 1 : 0));
  }
  // Alternation between the CPU and one device is no ping-pong.
  board c;
  int moves = 0;
  for (int i = 0; i < 20; ++i) {
    for (const fr::detail::planned& p : c.device(0, 0, 4 * page, inout)) moves += p.what == fr::detail::page_step::move;
    for (const fr::detail::planned& p : c.cpu(0, 4 * page, inout)) moves += p.what == fr::detail::page_step::move;
  }
  BOOST_TEST(moves == 40);
}

BOOST_AUTO_TEST_CASE(small_ranges_of_crowded_pages_are_left_to_faults) {
  board b;
  b.around.options.smallest_to_device = 8;
  (void)b.cpu(0, sizeof b.bytes, inout);
  b.crowded = true;
  const auto small = b.device(0, 10 * page, sizeof b.bytes, inout);  // all that this array has in the last page
  BOOST_REQUIRE(small.size() == 1U);
  BOOST_TEST((small[0].what == fr::detail::page_step::fault && b.where(10 * page) == 0 && b.asked == 1));
  BOOST_TEST(b.device(0, 10 * page, sizeof b.bytes, inout).empty(), "it is there now");
  BOOST_TEST((b.device(0, 0, 2 * page, inout)[0].what == fr::detail::page_step::move),
             "whole pages have no neighbours");
  BOOST_TEST((b.device(1, 10 * page, sizeof b.bytes, inout)[0].what == fr::detail::page_step::move),
             "they come from a device");
  BOOST_TEST(b.asked == 1);
  // Runs of one page within one access: one query.
  board c;
  c.around.options.smallest_to_device = 8;
  (void)c.cpu(10 * page, 10 * page + 10, inout);
  BOOST_TEST((c.device(0, 10 * page, sizeof c.bytes, inout)[0].what == fr::detail::page_step::move && c.asked == 1));
}

// A page counts as fault-batched from the range that exceeds the limit, and during the whole next turn.
BOOST_AUTO_TEST_CASE(fault_batched_pages) {
  constexpr std::size_t large = std::size_t{2} << 20, small = std::size_t{64} << 10;
  const auto* const begin = reinterpret_cast<const std::byte*>(7 * large);
  fr::detail::fault_batched_pages pages;
  const auto turn = [&](std::size_t ranges, std::size_t page_number = 0, int device = 0) {
    std::vector<bool> crowded;
    for (std::size_t i = 0; i < ranges; ++i) {
      const std::byte* const at = begin + page_number * large + i * small;
      crowded.push_back(pages.is_crowded({at, at + small}, large, device, 7));
    }
    return std::count(crowded.begin(), crowded.end(), true);
  };
  BOOST_TEST(turn(1) == 0);
  BOOST_TEST(turn(7) == 0);
  BOOST_TEST(turn(32) == 25);
  BOOST_TEST(turn(32) == 32);
  BOOST_TEST(turn(7) == 7, "as many did in the last turn");
  BOOST_TEST(turn(7) == 0);
  BOOST_TEST(turn(32, 1) == 25, "a page of its own");
  BOOST_TEST(turn(32, 1, 1) == 25, "another device");
}

// After an element write the first written page's location is unknown. The other pages keep theirs, unless a sample
// shows that many moved.
BOOST_AUTO_TEST_CASE(elements) {
  for (const auto mode : {in, inout}) {
    board b;
    bool many = false;
    b.around.many_on_cpu = [&](fr::detail::byte_range) { return many; };
    (void)b.device(0, 0, sizeof b.bytes, out);
    auto a = b.access(0, sizeof b.bytes, -1, mode);
    a.reach = fr::detail::host_reach::elements;
    a.first = b.bytes + 3 * page + 5;
    plan_host_access(b.pages, a, b.around, b.plan);
    BOOST_TEST((b.where(3 * page) == (mode == in ? 0 : fr::detail::unknown_location) && b.where(2 * page) == 0 &&
                b.where(4 * page) == 0));
    const auto few = b.device(0, 0, sizeof b.bytes, inout);
    BOOST_REQUIRE(few.size() == (mode == in ? 0U : 1U));
    if (mode != in) BOOST_TEST(few[0].pages.size() == page);
    plan_host_access(b.pages, a, b.around, b.plan);
    many = true;
    BOOST_TEST(b.device(0, 0, sizeof b.bytes, inout)[0].pages.size() == sizeof b.bytes);
    BOOST_TEST(b.device(0, 0, sizeof b.bytes, inout).empty());
  }
}

BOOST_AUTO_TEST_CASE(environment) {
  ::setenv("FERRY_MIGRATION", "sometimes", 1);
  try {
    fr::simulation sim;
    BOOST_ERROR("accepted");
  } catch (const fr::parse_error& e) {
    BOOST_TEST(std::string(e.what()).find("'sometimes'") != std::string::npos);
    BOOST_TEST(std::string(e.what()).find("automatic and explicit") != std::string::npos);
  }
  ::setenv("FERRY_MIGRATION", "explicit", 1);
  {
    fr::simulation sim;
    fr::unified_array<char> a({8 << 20}, 'x');
    BOOST_TEST(std::as_const(a)[5] == 'x');
    for (const fr::migration_entry& e : fr::report_migration().entries) BOOST_TEST(e.prefetches == 0U);
  }
  ::unsetenv("FERRY_MIGRATION");
}

BOOST_AUTO_TEST_CASE(explain_names_lines_and_places) {
  fr::simulation sim("devices=2");
  fr::trace_elements(fr::element_traces::on);
  fr::unified_array<float> u({1 << 20}, 0.f, fr::devices()[1]);
  u.name("field");
  const int line = __LINE__ + 1;
  for (float& x : u) x = 2;
  u[5] = 1;
  const std::string text = fr::explain(u);
  BOOST_TEST(text.find("written by the CPU in automatic_host_test.cpp:" + std::to_string(line)) != std::string::npos,
             text);
  BOOST_TEST(text.find("by elements, in automatic_host_test.cpp:" + std::to_string(line + 1)) != std::string::npos,
             text);
  BOOST_TEST(text.find("believed on the CPU") != std::string::npos, text);
  const auto report = fr::report_migration();
  BOOST_REQUIRE(!report.entries.empty());
  BOOST_TEST(report.table().find("automatic_host_test.cpp:" + std::to_string(line)) != std::string::npos);
}

BOOST_AUTO_TEST_CASE(explain_names_the_lines_of_structures) {
  fr::simulation sim("devices=1");
  fr::unified_soa<float, int> p(100);
  fr::fill(p.member<0>(), 0.f);
  const int element = __LINE__ + 1;
  std::get<0>(p[5]) = 1;
  fr::fill(p.member<0>(), 0.f);
  const int loop = __LINE__ + 1;
  for (auto [x, number] : std::as_const(p)) BOOST_TEST(x == 0.f);
  const std::string text = fr::explain(p.member<0>());
  const auto line = [](int at) { return "in automatic_host_test.cpp:" + std::to_string(at); };
  BOOST_TEST(text.find("written by the CPU, by elements, " + line(element)) != std::string::npos, text);
  BOOST_TEST(text.find("read by the CPU " + line(loop)) != std::string::npos, text);
}

BOOST_AUTO_TEST_CASE(phases_and_reset) {
  fr::simulation sim("devices=2");
  fr::unified_array<float> u({1 << 20}, 0.f);
  u.name("v");
  {
    fr::migration_phase phase("assembly");
    for (float& x : u) x = 2;
  }
  bool found = false;
  for (const fr::migration_entry& e : fr::report_migration().entries) found |= e.array == "v" && e.phase == "assembly";
  BOOST_TEST(found);
  fr::reset_migration_report();
  BOOST_TEST(fr::report_migration().entries.empty());
}

BOOST_AUTO_TEST_SUITE_END()
