// With checks of indices, in a program with other sources. Compiled alone (tests/CMakeLists.txt).
#define FERRY_CHECK_INDICES 1
#include "core/kernels/index_checks.hpp"

#include <boost/test/unit_test.hpp>

BOOST_AUTO_TEST_SUITE(index_checks_on)

BOOST_AUTO_TEST_CASE(do_not_depend_on_other_sources) {
  const index_checks::messages m = index_checks::messages_of_source<true>();
  BOOST_TEST(support::has(m.loop, "is outside its extent 2000"), m.loop);
  BOOST_TEST(support::has(m.reduction, "is outside its extent 2000"), m.reduction);
  BOOST_TEST(support::has(m.element, "2003"), m.element);
}

BOOST_AUTO_TEST_SUITE_END()
