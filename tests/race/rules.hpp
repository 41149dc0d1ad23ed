// Shared by the tests of ordering rules.
#pragma once
#include <boost/test/unit_test.hpp>
#include <memory>
#include <string>

#include <ferry/unified.hpp>

#include "support/seeds.hpp"

namespace fr = ferry;

namespace rules {

using u32 = std::uint32_t;

struct add_one {
  FERRY_HOST_DEVICE void operator()(std::size_t i, u32* y) const { y[i] += 1; }
};
struct add_from {
  FERRY_HOST_DEVICE void operator()(std::size_t i, u32* y, const u32* x) const { y[i] += x[i]; }
};
struct set_one {
  FERRY_HOST_DEVICE void operator()(std::size_t i, u32* y) const { y[i] = 1; }
};
struct append {
  u32 what, most;
  FERRY_HOST_DEVICE void operator()(std::size_t, u32* list) const {
    if (list[0] < most) list[++list[0]] = what;
  }
};

inline fr::detail::backend& backend() { return fr::runtime::current().backend(); }
inline fr::stream stream_on(std::size_t device) { return fr::stream(fr::devices()[device % fr::devices().size()]); }

// Simulated: runs the body in a new runtime for each seed, until one fails. On real devices: runs it a few times.
template <class Body>
void over_seeds(unsigned count, Body body, const std::string& options = "devices=3") {
  const bool simulated = fr::runtime::current().is_simulated();
  for (unsigned seed = 0; seed < (simulated ? support::seeds(count) : 5); ++seed) {
    std::unique_ptr<fr::simulation> sim;
    if (simulated) sim = std::make_unique<fr::simulation>(options + ";schedule=random:" + std::to_string(seed));
    const bool right = body();
    BOOST_TEST(right, "other elements than expected, seed " << seed);
    if (!right) return;
  }
}

template <class Array>
bool all_are(const Array& a, u32 value) {
  for (const u32 e : fr::to_vector(a))
    if (e != value) return false;
  return true;
}

inline fr::detail::access whole(const fr::host_array<u32>& a, bool write) {
  return {&a.owner().get(), a.bytes(), write};
}

}  // namespace rules
