// The driver's pools, as the real driver keeps them.
// as: host
#include <string>
#include <vector>

#include <ferry/core.hpp>

#include "cuda_fixture.hpp"

using namespace cuda_test;

namespace {

constexpr std::size_t MiB = std::size_t{1} << 20;

// One write of the bytes by a stream, which then used them last.
void use(const stream& s, const allocation_ref& r) {
  ferry::access one{&r.get(), r.get().range(), true};
  access_guard guard(s.line(), {&one, 1});
  machine::current().verbs().fill_strided(s.line().stream(), {r.get().begin, {1}}, {1, 1, {r.get().bytes}}, "x");
}

// Addresses of blocks that streams allocate and free in turn, relative to the first.
std::vector<std::ptrdiff_t> addresses() {
  pool p(device(0), {.kind = pool_kind::driver, .reuse = reuse_policy::deterministic()});
  const stream s[2];
  std::vector<std::ptrdiff_t> found;
  const std::byte* first = nullptr;
  for (std::size_t i = 0; i < 40; ++i) {
    allocation_ref a = p.allocate((1 + i % 3) * MiB), b = p.allocate((1 + i % 5) * MiB);
    if (!first) first = a.get().begin;
    found.push_back(a.get().begin - first), found.push_back(b.get().begin - first);
    use(s[i % 2], a), use(s[i / 2 % 2], b);
  }
  return found;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(cuda_pools, *utf::precondition(needs_devices{1}))

BOOST_AUTO_TEST_CASE(what_is_free_stays_or_goes) {
  const stream s;
  pool hasty(device(0), {.kind = pool_kind::driver, .release_threshold = 0});
  pool keeping(device(0), {.kind = pool_kind::driver});
  for (pool* p : {&hasty, &keeping}) use(s, p->allocate(64 * MiB));
  s.synchronize();
  machine::current().verbs().synchronize(s.line().stream());  // where the driver itself looks at thresholds
  BOOST_TEST(hasty.statistics().reserved_bytes == 0u);
  BOOST_TEST(keeping.statistics().reserved_bytes >= 64 * MiB);
  keeping.trim();
  BOOST_TEST(keeping.statistics().reserved_bytes == 0u);
}

BOOST_AUTO_TEST_CASE(the_largest_size_holds) {
  pool bounded(device(0), {.kind = pool_kind::driver, .max_bytes = 128 * MiB});
  {
    const allocation_ref most = bounded.allocate(96 * MiB);
    BOOST_CHECK_THROW((void)bounded.allocate(96 * MiB), out_of_memory);
  }
  const allocation_ref again = bounded.allocate(96 * MiB);
  BOOST_TEST(bounded.statistics().reserved_bytes <= 128 * MiB);
}

BOOST_AUTO_TEST_CASE(deterministic_reuse_gives_the_same_places) {
  const auto once = addresses();
  BOOST_TEST(addresses() == once, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_SUITE_END()
