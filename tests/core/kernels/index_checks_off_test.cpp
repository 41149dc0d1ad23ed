// Without checks of indices, in a program with other sources. Compiled alone (tests/CMakeLists.txt).
#define FERRY_CHECK_INDICES 0
#include "core/kernels/index_checks.hpp"

#include <boost/test/unit_test.hpp>

BOOST_AUTO_TEST_SUITE(index_checks_off)

BOOST_AUTO_TEST_CASE(do_not_depend_on_other_sources) {
  const index_checks::messages m = index_checks::messages_of_source<false>();
  BOOST_TEST(m.loop == "");
  BOOST_TEST(m.reduction == "");
  BOOST_TEST(m.element == "");
}

BOOST_AUTO_TEST_SUITE_END()
