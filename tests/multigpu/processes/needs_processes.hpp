// Skips a case that needs several processes if the program was started alone, and reports the reason.
#pragma once
#include <boost/test/unit_test.hpp>

#include "processes/processes.hpp"

struct needs_processes {
  boost::test_tools::assertion_result operator()(boost::unit_test::test_unit_id) const {
    ferry::detail::processes* const all = ferry::detail::processes::world();
    boost::test_tools::assertion_result enough(all && all->size() > 1);
    if (!enough) enough.message() << "needs two processes at least: mpirun -n 2";
    return enough;
  }
};
