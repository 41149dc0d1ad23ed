// FERRY_MATH: faster arithmetic for all expressions of a process.
#include <sys/wait.h>
#include <unistd.h>

#include <boost/test/unit_test.hpp>
#include <cstdlib>
#include <ferry/core/detail/expressions/assignment.hpp>
#include <ferry/core/error.hpp>
#include <ferry/core/fast_math.hpp>
#include <ferry/core/runtime.hpp>
#include <string>
#include <thread>

namespace expressions_math_variable {
namespace {

namespace fr = ferry;
using fr::detail::fast_math_depth;

// Runs the case `depth_is_as_expected` in a process of its own. Returns its exit status.
int status_with(const char* math, const char* expected_depth) {
  const pid_t child = ::fork();
  BOOST_REQUIRE(child >= 0);
  if (child == 0) {
    ::setenv("FERRY_MATH", math, 1);
    ::setenv("FERRY_TEST_DEPTH", expected_depth, 1);
    ::execl("/proc/self/exe", "program", "--run_test=expressions_math_variable/depth_is_as_expected",
            static_cast<char*>(nullptr));
    ::_exit(99);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

}  // namespace
}  // namespace expressions_math_variable

BOOST_AUTO_TEST_SUITE(expressions_math_variable)

// status_with() starts this case in processes with other variables.
BOOST_AUTO_TEST_CASE(depth_is_as_expected) {
  const char* const text = std::getenv("FERRY_TEST_DEPTH");
  const int expected = text ? std::atoi(text) : fr::detail::math_is_fast_by_environment() ? 1 : 0;
  BOOST_TEST(fast_math_depth() == expected);
  {
    const fr::math::fast scope;
    BOOST_TEST(fast_math_depth() == expected + 1);
  }
  BOOST_TEST(fast_math_depth() == expected);
  int in_another_thread = -1;
  std::thread([&] { in_another_thread = fast_math_depth(); }).join();
  BOOST_TEST(in_another_thread == expected);
}

BOOST_AUTO_TEST_CASE(the_variable_is_as_a_scope_around_each_thread) {
  BOOST_TEST(status_with("fast", "1") == 0);
  BOOST_TEST(status_with("exact", "0") == 0);
  BOOST_TEST(status_with("", "0") == 0);
  BOOST_TEST(status_with("fast", "0") != 0);
}

BOOST_AUTO_TEST_CASE(other_values_are_an_error) {
  const char* const before = std::getenv("FERRY_MATH");
  const std::string old = before ? before : "";
  ::setenv("FERRY_MATH", "quick", 1);
  BOOST_CHECK_EXCEPTION(fr::simulation("devices=1"), fr::parse_error, [](const fr::parse_error& e) {
    const std::string text = e.what();
    return text.find("FERRY_MATH='quick'") != std::string::npos && text.find("exact, fast") != std::string::npos;
  });
  old.empty() ? ::unsetenv("FERRY_MATH") : ::setenv("FERRY_MATH", old.c_str(), 1);
}

BOOST_AUTO_TEST_SUITE_END()
