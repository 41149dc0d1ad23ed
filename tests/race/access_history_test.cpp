// Entries of an access history for sequences of uses, tested without any waits.
// as: host
#include <algorithm>
#include <array>

#include <boost/test/unit_test.hpp>

#include <ferry/core.hpp>

namespace fr = ferry;

namespace access_logs {
namespace {

std::array<std::byte, 4096> bytes{};
fr::detail::byte_range part(std::size_t i) { return {&bytes[64 * i], &bytes[64 * i] + 64}; }

struct logged {
  fr::simulation sim{"devices=1;schedule=random:1"};  // no use counts as complete before a wait
  fr::stream s, t;
  static fr::detail::ticket use(fr::detail::access_history& history, fr::stream& by, std::size_t i, bool write) {
    const fr::detail::ticket at = by.timeline().fence();
    history.reserve(1);
    history.add(by.timeline(), at, part(i), write);
    return at;
  }
};

}  // namespace
}  // namespace access_logs

BOOST_AUTO_TEST_SUITE(access_logs)

// R10: merging keeps reads and writes separate: one entry each, with the greatest sequence number and the bounding
// range.
BOOST_FIXTURE_TEST_CASE(merging_leaves_reads_and_writes_separate, logged) {
  for (const bool writes_first : {true, false}) {
    fr::detail::access_history history;
    fr::detail::ticket last[2] = {0, 0};
    for (std::size_t i = 0; i <= fr::detail::access_history::usual_limit; ++i) {
      const bool write = (i < 5) == writes_first;
      last[write] = use(history, s, i, write);
    }
    BOOST_TEST(history.uses().size() == 2u);
    for (const bool write : {false, true}) {
      const auto* const u =
          std::find_if(history.uses().begin(), history.uses().end(),
                       [&](const fr::detail::access_record& one) { return bool(one.write) == write; });
      BOOST_REQUIRE(u != history.uses().end());
      BOOST_TEST(u->at == last[write]);
      const bool first = write == writes_first;
      BOOST_TEST(u->where.begin == part(first ? 0 : 5).begin);
      BOOST_TEST(u->where.end == part(first ? 4 : fr::detail::access_history::usual_limit).end);
    }
  }
}

// R12: when two blocks are joined, an entry that a split duplicated becomes one entry again. Other entries are
// unchanged.
BOOST_FIXTURE_TEST_CASE(what_a_split_cut_in_two_becomes_one_again, logged) {
  fr::detail::access_history left, right;
  const fr::detail::ticket at = s.timeline().fence();
  for (std::size_t i = 0; i < 2; ++i) {
    fr::detail::access_history& history = i == 0 ? left : right;
    history.reserve(1);
    history.add(s.timeline(), at, part(i), true);
  }
  use(right, t, 1, false);
  left.merge(right);
  BOOST_TEST(left.uses().size() == 2u);
  BOOST_TEST(left.uses().front().where.begin == part(0).begin);
  BOOST_TEST(left.uses().front().where.end == part(1).end);
}

// R13: logging a use that does not conflict leaves the entries of other streams unchanged.
BOOST_FIXTURE_TEST_CASE(a_use_beside_others_erases_its_own_only, logged) {
  fr::detail::access_history history;
  use(history, s, 0, true), use(history, t, 1, false), use(history, t, 0, false);
  history.reserve(1);
  history.add_beside(s.timeline(), s.timeline().fence(), {part(0).begin, part(1).end}, true);
  BOOST_TEST(history.uses().size() == 3u);
  BOOST_TEST(std::count_if(history.uses().begin(), history.uses().end(),
                           [&](const fr::detail::access_record& u) { return u.by == &t.timeline(); }) == 2);
}

BOOST_AUTO_TEST_SUITE_END()
