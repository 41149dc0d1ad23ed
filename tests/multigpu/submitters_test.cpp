// The cores of the threads that enqueue work on devices.
#include "teams/submitters.hpp"

#include <boost/test/unit_test.hpp>

#include <ferry/core/detail/support/thread_affinity.hpp>

namespace submitting_threads {
namespace {

// With a single core all threads run on it, bound or not.
struct needs_cores {
  boost::test_tools::assertion_result operator()(boost::unit_test::test_unit_id) const {
    const std::size_t found = ferry::detail::usable_cores().size();
    boost::test_tools::assertion_result enough(found > 1);
    if (!enough) enough.message() << "needs 2 usable cores, found " << found;
    return enough;
  }
};

}  // namespace
}  // namespace submitting_threads

BOOST_AUTO_TEST_SUITE(submitting_threads)

BOOST_AUTO_TEST_CASE(stay_on_the_cores_they_were_given, *boost::unit_test::precondition(needs_cores{})) {
  const std::vector<int> all = ferry::detail::usable_cores();
  const std::vector<int> one{all.back()}, none_usable{1 << 20};
  ferry::detail::submitters threads({one, one, {}, none_usable});
  std::vector<std::vector<int>> found(4);
  for (int round = 0; round < 3; ++round) {
    threads.run([&](std::size_t i) { found[i] = ferry::detail::usable_cores(); });
    BOOST_TEST(found[0] == all, boost::test_tools::per_element());  // the caller's cores are unchanged
    BOOST_TEST(found[1] == one, boost::test_tools::per_element());
    BOOST_TEST(found[2] == all, boost::test_tools::per_element());
    BOOST_TEST(found[3] == all, boost::test_tools::per_element());
  }
}

BOOST_AUTO_TEST_SUITE_END()
