// References to functions, for parameters.
#include "ferry/core/detail/support/function_ref.hpp"

#include <boost/test/unit_test.hpp>
#include <functional>
#include <memory>

using ferry::detail::function_ref;

namespace function_ref_test {
namespace {

int twice(int x) { return 2 * x; }
int of_four(function_ref<int(int)> f) { return f(4); }
void call(function_ref<void()> f) { f(); }

}  // namespace
}  // namespace function_ref_test

BOOST_AUTO_TEST_SUITE(function_refs)
using namespace function_ref_test;

BOOST_AUTO_TEST_CASE(all_kinds_of_functions_are_called) {
  int added = 1;
  const auto same = [](int x) { return x; };
  const std::function<int(int)> wrapped = twice;
  BOOST_TEST(of_four(twice) == 8);
  BOOST_TEST(of_four(&twice) == 8);
  BOOST_TEST(of_four(wrapped) == 8);
  BOOST_TEST(of_four(same) == 4);
  BOOST_TEST(of_four([&](int x) { return x + added; }) == 5);
  BOOST_TEST(of_four(function_ref<int(int)>(same)) == 4);
}

BOOST_AUTO_TEST_CASE(the_function_is_not_copied) {
  int calls = 0;
  auto count = [&calls, own = 0]() mutable { calls = ++own; };
  call(count);
  call(count);
  BOOST_TEST(calls == 2);
}

BOOST_AUTO_TEST_CASE(results_are_dropped_where_none_is_expected) {
  int calls = 0;
  call([&] { return ++calls; });
  BOOST_TEST(calls == 1);
}

BOOST_AUTO_TEST_CASE(arguments_are_moved) {
  const auto value = [](std::unique_ptr<int> p) { return *p; };
  const function_ref<int(std::unique_ptr<int>)> f = value;
  BOOST_TEST(f(std::make_unique<int>(3)) == 3);
}

BOOST_AUTO_TEST_CASE(other_signatures_are_no_functions) {
  BOOST_TEST((!std::is_constructible_v<function_ref<int(int)>, int>));
  BOOST_TEST((!std::is_constructible_v<function_ref<int*(int)>, decltype(twice)&>));
}

BOOST_AUTO_TEST_SUITE_END()
