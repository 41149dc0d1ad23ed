// Which processes share a host.
#include <boost/test/unit_test.hpp>

#include "processes/processes.hpp"

namespace fr = ferry;

BOOST_AUTO_TEST_SUITE(machines_of_processes)

BOOST_AUTO_TEST_CASE(are_known_by_their_names) {
  using list = std::vector<std::size_t>;
  const std::vector<std::string> names{"a", "b", "a", "c", "b", "a"};
  BOOST_TEST((fr::detail::processes_beside(0, names) == list{0, 2, 5}));
  BOOST_TEST((fr::detail::processes_beside(2, names) == list{0, 2, 5}));
  BOOST_TEST((fr::detail::processes_beside(4, names) == list{1, 4}));
  BOOST_TEST((fr::detail::processes_beside(3, names) == list{3}));
}

BOOST_AUTO_TEST_SUITE_END()
