// precompile_for and precompile_reduce check their arguments, and run nothing.
#include "ferry/core/precompile.hpp"

#include <boost/test/unit_test.hpp>
#include <vector>

#include "ferry/core/array.hpp"
#include "ferry/core/copy.hpp"
#include "ferry/core/functor.hpp"
#include "support/check_error.hpp"

namespace precompile {
namespace {

namespace fr = ferry;

using support::check_error;

FERRY_FUNCTOR(clear, {
  FERRY_HOST_DEVICE void operator()(std::size_t i, int* y) const { y[i] = 0; }
});
FERRY_FUNCTOR(clear_at, {
  int* y;
  FERRY_HOST_DEVICE void operator()(std::size_t i, const int* x) const { y[i] = x[i]; }
});
FERRY_FUNCTOR(square_of, {
  FERRY_HOST_DEVICE int operator()(std::size_t i, const int* x) const { return x[i] * x[i]; }
});

}  // namespace
}  // namespace precompile

BOOST_AUTO_TEST_SUITE(precompile)
using namespace precompile;

BOOST_AUTO_TEST_CASE(nothing_runs) {
  fr::stream s(fr::device(0));
  fr::unified_array<int> x({64}, 3);
  fr::precompile_for(64, clear{}, fr::out(x));
  fr::precompile_for(s, 64, clear{}, fr::out(x));
  fr::precompile_reduce(64, square_of{}, fr::plus{}, fr::in(x));
  fr::precompile_reduce(s, 64, square_of{}, fr::plus{}, fr::in(x));
  BOOST_TEST((fr::to_vector(x) == std::vector<int>(64, 3)));
}

BOOST_AUTO_TEST_CASE(arguments_are_checked) {
  fr::unified_array<int> x({64}, 3);
  auto odd = x.slice(fr::slice(1, 64, 2));
  check_error<fr::invalid_argument>([&] { fr::precompile_for(32, clear{}, fr::out(odd)); }, "pointer");
  check_error<fr::invalid_argument>([&] { fr::precompile_reduce(32, square_of{}, fr::plus{}, fr::in(odd)); },
                                    "pointer");
  if (fr::runtime::current().checks.has(fr::check::pointers))
    check_error<fr::invalid_argument>(
        [&] { fr::precompile_for(64, clear_at{const_cast<int*>(x.unsynchronized_data())}, fr::in(x)); }, "clear_at");
}

BOOST_AUTO_TEST_SUITE_END()
