// Shared by the tests of lost work: functors, and programs on devices of which one fails.
#pragma once
#include <boost/test/unit_test.hpp>
#include <cstddef>
#include <string>
#include <vector>

#include <ferry/core.hpp>

#include "support/failures.hpp"
#include "support/quiet_stderr.hpp"
#include "support/seeds.hpp"

namespace fr = ferry;

namespace lost_work {

inline constexpr std::size_t size = 48;

struct set_to {
  int k;
  FERRY_HOST_DEVICE void operator()(std::size_t i, int* y) const { y[i] = k; }
};
struct breaks {
  FERRY_HOST_DEVICE void operator()(std::size_t i, int* y) const {
    FERRY_ASSERT(i > 1000, "always");
    y[i] = 1;
  }
};
struct add_to {
  FERRY_HOST_DEVICE void operator()(std::size_t i, const int* x, int* y) const { y[i] += x[i]; }
};
struct element {
  FERRY_HOST_DEVICE int operator()(std::size_t i, const int* x) const { return x[i]; }
};

// A submission that may throw because its device failed or its input is lost. Returns whether it was enqueued.
template <class Give>
bool tries(Give give) {
  try {
    give();
    return true;
  } catch (const fr::device_error&) {
    return false;
  } catch (const fr::peer_access_error&) {
    return false;
  }
}

// Runs the body on three simulated devices with a stream on each, for each seed.
template <class Body>
void over_seeds(const std::string& options, Body body) {
  for (std::size_t seed = 0; seed < support::seeds(40); ++seed) BOOST_TEST_CONTEXT("seed " << seed) {
      const support::machine_that_breaks sim("devices=3;" + options + "schedule=random:" + std::to_string(seed));
      std::vector<fr::stream> s;
      for (const fr::device d : fr::devices()) s.emplace_back(d).synchronize();
      body(s);
    }
}

using array = fr::unified_array<int, 1>;

// Filled on a device that does not fail.
inline array filled(int value) { return array({size}, value, fr::devices()[2]); }

// Waits for the stream, which detects the failure.
inline void find_failure(const fr::stream& s) {
  tries([&] { s.synchronize(); });
}
inline bool can_read(const array& a) {
  return tries([&] { (void)fr::to_vector(a); });
}

}  // namespace lost_work
