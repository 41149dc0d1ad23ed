// What nearly every test includes, parsed once for all of them.
#pragma once
#ifdef BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>
#endif

#include <ferry/ferry.hpp>
