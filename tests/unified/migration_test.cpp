// prefetch and advise: page locations, ordering, and refused uses.
#include <map>
#include <optional>

#include <boost/test/unit_test.hpp>

#include <ferry/unified.hpp>

#include "sim/sim_backend.hpp"

namespace fr = ferry;

namespace migration {
namespace {

constexpr std::size_t page = std::size_t{2} << 20;

std::map<int, std::size_t> places_of(const fr::unified_array<char>& a) {
  auto& sim = dynamic_cast<fr::detail::sim::inspector&>(fr::runtime::current().backend());
  return sim.residency(a.unsynchronized_data(), a.size());
}

}  // namespace
}  // namespace migration

BOOST_AUTO_TEST_SUITE(migration)

BOOST_AUTO_TEST_CASE(pages_go_where_they_are_sent) {
  fr::simulation sim("devices=2;memory=64MiB");
  fr::unified_array<char> a({8 * page});
  for (char& c : a) c = 'x';
  fr::prefetch(a.slice({0, 4 * page}), fr::devices()[1]);
  fr::default_stream(fr::devices()[1]).synchronize();
  auto places = places_of(a);
  BOOST_TEST(places[1] == 4 * page);
  BOOST_TEST(places[-1] == 4 * page);
  fr::prefetch(a, fr::host);
  fr::default_stream(fr::devices()[0]).synchronize();
  BOOST_TEST(places_of(a)[-1] == 8 * page);
  BOOST_TEST((a[0] == 'x' && a[8 * page - 1] == 'x'));
}

// A prefetch is work on its stream, after earlier and before later writes of the array, under any schedule.
BOOST_AUTO_TEST_CASE(contents_do_not_change) {
  for (unsigned seed = 0; seed < 20; ++seed) {
    fr::simulation sim("devices=3;memory=64MiB;schedule=random:" + std::to_string(seed));
    fr::stream s[] = {fr::stream(fr::devices()[0]), fr::stream(fr::devices()[1]), fr::stream(fr::devices()[2])};
    fr::unified_array<int> a({1000}, 0);
    for (int i = 1; i <= 10; ++i) {
      fr::fill(s[i % 3], a, i);
      fr::prefetch(s[(i + 1) % 3], a, fr::devices()[static_cast<std::size_t>(i) % 3]);
      fr::prefetch(s[(i + 2) % 3], a, fr::host);
    }
    BOOST_TEST((a[0] == 10 && a[999] == 10), "seed " << seed);
  }
}

BOOST_AUTO_TEST_CASE(hints_do_nothing_where_unified_memory_is_pinned) {
  fr::simulation sim("devices=2;concurrent_managed=off");
  BOOST_TEST(!sim.get().migrates_unified());
  fr::unified_array<int> a({1000}, 3);
  fr::prefetch(a, fr::devices()[1]);
  fr::advise(a, fr::advice::preferred_location, fr::devices()[1]);
  BOOST_TEST(a[999] == 3);
}

BOOST_AUTO_TEST_CASE(bad_places_are_refused) {
  fr::simulation sim("devices=2");
  fr::unified_array<int> a({10}, 1), none({0});
  BOOST_CHECK_THROW(fr::prefetch(a, fr::device(2)), fr::invalid_argument);
  BOOST_CHECK_THROW(fr::advise(a, fr::advice::preferred_location, fr::device(7)), fr::invalid_argument);
  fr::prefetch(none, fr::devices()[1]);
  fr::advise(none, fr::advice::read_mostly);
  fr::advise(a, fr::advice::read_mostly);
  fr::advise(a, fr::advice::accessed_by, fr::devices()[1]);
  a.free();
  BOOST_CHECK_THROW(fr::advise(a, fr::advice::read_mostly), fr::use_after_free);
  BOOST_CHECK_THROW(fr::prefetch(a, fr::devices()[1]), fr::use_after_free);
}

BOOST_AUTO_TEST_CASE(several_at_once) {
  fr::simulation sim("devices=3;memory=64MiB");
  fr::unified_array<char> a({4 * page}), b({2 * page}), none({0});
  fr::stream s;
  fr::prefetch(s, {{a.slice({0, 2 * page}), fr::devices()[1]}, {b, fr::devices()[2]}, {none, fr::host}});
  BOOST_TEST((places_of(a)[1] == 2 * page && places_of(b)[2] == 2 * page));
  BOOST_TEST(fr::residency(a).on(fr::devices()[1]) == 2 * page);
  BOOST_TEST(fr::residency(a).on_cpu == 2 * page, "what the ledger does not know the driver does");
  fr::prefetch(a, fr::numa_node(0));
  BOOST_TEST(fr::residency(a).on_cpu == 4 * page);
  BOOST_CHECK_THROW(fr::prefetch(a, fr::numa_node(3)), fr::invalid_argument);
  BOOST_CHECK_THROW(fr::prefetch(s, {{a, fr::device(9)}}), fr::invalid_argument);
  BOOST_CHECK_THROW(fr::prefetch(a.slice({0, 5 * page}), fr::host), fr::invalid_argument);
}

// A discard is a write: it waits for reads, and later writes wait for it. Elements not written afterwards show the
// discard.
BOOST_AUTO_TEST_CASE(discard_is_a_write) {
  for (unsigned seed = 0; seed < 20; ++seed) {
    fr::simulation sim("devices=2;memory=64MiB;schedule=random:" + std::to_string(seed));
    fr::stream s[] = {fr::stream(fr::devices()[0]), fr::stream(fr::devices()[1])};
    fr::unified_array<int> a({1000}, 7), b({1000});
    fr::copy(s[0], std::as_const(a), b);
    fr::discard(s[1], a);
    fr::fill(s[0], a.slice({0, 500}), 3);
    BOOST_TEST((std::as_const(b)[0] == 7 && std::as_const(b)[999] == 7), "seed " << seed);
    BOOST_TEST((std::as_const(a)[0] == 3 && std::as_const(a)[999] == -1), "seed " << seed);
  }
  fr::simulation sim;
  fr::unified_array<int, 2> m({10, 10}, 1);
  BOOST_CHECK_THROW(fr::discard(m.slice({{0, 10}, {0, 5}})), fr::invalid_argument);
}

// Hints take effect at once, or are work that CUDA does not record: captures refuse them, and the page map is
// unchanged.
BOOST_AUTO_TEST_CASE(hints_are_refused_inside_a_capture) {
  fr::simulation sim("devices=2;memory=64MiB");
  const fr::device first = fr::devices()[0], last = fr::devices()[1];
  fr::stream s(first);
  fr::unified_array<char> a({4 * page});
  for (char& c : a) c = 'x';
  const auto refused = [&](const std::string& verb, auto hint) {
    try {
      (void)fr::capture(s, hint);
      BOOST_ERROR(verb + " was recorded");
    } catch (const fr::invalid_argument& e) {
      const std::string text = e.text();
      BOOST_TEST(text.find(verb + " inside a capture") == 0, text);
      BOOST_TEST(text.find("before or after ferry::capture") != std::string::npos, text);
    }
    BOOST_TEST(fr::residency(a).on_cpu == 4 * page, verb);
    BOOST_TEST(places_of(a)[-1] == 4 * page, verb);
  };
  refused("prefetch", [&] { fr::prefetch(s, a, last); });
  refused("prefetch", [&] { fr::prefetch(s, {{a.slice({0, page}), last}, {a.slice({page, 2 * page}), first}}); });
  refused("discard", [&] { fr::discard(s, a); });
  refused("advise", [&] { fr::advise(a, fr::advice::preferred_location, last); });
  refused("advise", [&] { fr::advice_scope here(a, fr::advice::read_mostly); });
  fr::prefetch(s, a, last);
  std::optional<fr::advice_scope> until_then(std::in_place, a, fr::advice::accessed_by, first);
  fr::graph g = fr::capture(s, [&] {
    until_then.reset();  // removing advice is allowed
    fr::fill(s, a, 'y');
  });
  g.launch(s);
  BOOST_TEST(std::as_const(a)[5] == 'y');
}

BOOST_AUTO_TEST_CASE(advice_for_a_scope) {
  fr::simulation sim("devices=2;memory=64MiB");
  fr::unified_array<char> a({2 * page});
  for (char& c : a) c = 'x';
  {
    fr::advice_scope here(a, fr::advice::preferred_location, fr::host);
    // Remote access: the pages stay at their preferred location.
    fr::fill(fr::default_stream(fr::devices()[1]), a, 'y');
    BOOST_TEST(places_of(a)[-1] == 2 * page);
  }
  fr::fill(fr::default_stream(fr::devices()[1]), a, 'z');
  BOOST_TEST(places_of(a)[1] == 2 * page);
  BOOST_TEST(std::as_const(a)[5] == 'z');
  fr::advice_scope late(a, fr::advice::read_mostly);
  a.free();
}

BOOST_AUTO_TEST_SUITE_END()
