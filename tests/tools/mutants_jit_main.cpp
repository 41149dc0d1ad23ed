// main() of the tests of tools/mutants_jit.py, which link no runtime.
#define BOOST_TEST_MODULE ferry
#ifdef BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>
#else
#include <boost/test/included/unit_test.hpp>
#endif
