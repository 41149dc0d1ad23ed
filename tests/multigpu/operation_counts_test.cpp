// How processes count the operations that they enqueue together.
#include "processes/operation_counts.hpp"

#include <boost/test/unit_test.hpp>

namespace fr = ferry;

BOOST_AUTO_TEST_SUITE(operation_counts)

BOOST_AUTO_TEST_CASE(collectives_are_of_all) {
  fr::detail::operation_counts here, there;
  const fr::detail::joint_part two{2, {}, {}}, one{1, {}, {}};
  const auto first = here.enqueue(two), second = here.enqueue(one);
  BOOST_TEST(!first.has(1, there.given(0)));
  there.enqueue(one);
  BOOST_TEST(!first.has(1, there.given(0)));
  there.enqueue(one);
  BOOST_TEST(first.has(1, there.given(0)));
  BOOST_TEST(!second.has(1, there.given(0)));
  there.enqueue(one);
  BOOST_TEST(second.has(1, there.given(0)));
}

BOOST_AUTO_TEST_CASE(sends_are_of_two) {
  fr::detail::operation_counts zero, one;
  const auto got = zero.enqueue({0, {}, {1}});  // from process 1, which sends
  const auto sent = zero.enqueue({0, {1, 1}, {}});
  BOOST_TEST(got.has(2, {}));  // does not depend on process 2
  BOOST_TEST(!got.has(1, one.given(0)));
  one.enqueue({0, {2}, {}});  // to another process
  BOOST_TEST(!got.has(1, one.given(0)));
  one.enqueue({0, {0}, {}});
  BOOST_TEST(got.has(1, one.given(0)));
  one.enqueue({0, {}, {0}});
  BOOST_TEST(!sent.has(1, one.given(0)));  // one of two
  one.enqueue({0, {}, {0}});
  BOOST_TEST(sent.has(1, one.given(0)));
  BOOST_TEST(one.given(0).collectives == 0u);
}

BOOST_AUTO_TEST_CASE(what_was_not_given_does_not_count) {
  fr::detail::operation_counts here;
  const fr::detail::joint_part part{1, {1}, {2}};
  here.enqueue(part);
  here.take_back(part);
  BOOST_TEST((here.given(1).collectives == 0 && here.given(1).sends == 0 && here.given(2).receives == 0));
  const auto needs = here.enqueue(part);
  BOOST_TEST(needs.has(1, {1, 0, 1}));
  BOOST_TEST(needs.has(2, {1, 1, 0}));
  BOOST_TEST(!needs.has(2, {1, 0, 1}));
  BOOST_TEST(!needs.has(3, {0, 9, 9}));
}

BOOST_AUTO_TEST_SUITE_END()
