// Fixture of the tests of memory checks: discards faults of earlier cases, and turns the checks off at the end.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>
#include <vector>

#include "contract/fixture.hpp"

namespace contract_of_memory_checks {

using namespace contract;

struct set_some {  // of the promised outputs
  FERRY_HOST_DEVICE void operator()(std::size_t i, float* y) const { y[2 * i] = 1; }
};

template <class T>
bool all_nan(const std::vector<T>& v) {
  return std::all_of(v.begin(), v.end(), [](T x) { return std::isnan(x); });
}

struct checked : clean {
  checked() { (void)fr::check_memory(); }
  ~checked() {
    BOOST_TEST(fr::check_memory().empty());
    fr::set_memory_checks(fr::memory_checks{.quarantine_bytes = 0, .quarantine_blocks = 0});
    { fr::device_array<int> last({1}); }  // empties the quarantine
    fr::default_stream(fr::default_device()).synchronize();
    fr::set_memory_checks(std::nullopt);
    (void)fr::check_memory();
  }
};

}  // namespace contract_of_memory_checks
