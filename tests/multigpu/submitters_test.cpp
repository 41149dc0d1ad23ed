// Where the threads run that give work to devices.
#include "../../multigpu/src/submitters.hpp"

#include <boost/test/unit_test.hpp>

#include <ferry/core/thread_affinity.hpp>

BOOST_AUTO_TEST_SUITE(submitting_threads)

BOOST_AUTO_TEST_CASE(stay_on_the_cores_they_were_given) {
  const std::vector<int> all = ferry::usable_cores();
  const std::vector<int> one{all.back()}, none_usable{1 << 20};
  ferry::detail::submitters threads({one, one, {}, none_usable});
  std::vector<std::vector<int>> found(4);
  for (int round = 0; round < 3; ++round) {
    threads.run([&](std::size_t i) { found[i] = ferry::usable_cores(); });
    BOOST_TEST(found[0] == all, boost::test_tools::per_element());  // the caller stays where he is
    BOOST_TEST(found[1] == one, boost::test_tools::per_element());
    BOOST_TEST(found[2] == all, boost::test_tools::per_element());
    BOOST_TEST(found[3] == all, boost::test_tools::per_element());
  }
}

BOOST_AUTO_TEST_SUITE_END()
