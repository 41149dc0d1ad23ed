// The driver's pools, with the real driver.
// as: host
#include <ferry/core.hpp>

#include "cuda_fixture.hpp"

using namespace cuda_test;

namespace cuda_pools {
namespace {

constexpr std::size_t MiB = std::size_t{1} << 20;

// Writes the bytes on a stream, which is then their last user.
void use(const stream& s, const allocation_ref& r) {
  ferry::detail::access one{&r.get(), r.get().range(), true};
  access_guard guard(admission::unchecked(s.timeline(), {&one, 1}));
  runtime::current().backend().fill_strided(s.timeline().stream(), {r.get().begin, {1}}, {1, 1, {r.get().bytes}}, "x");
}

}  // namespace
}  // namespace cuda_pools

BOOST_AUTO_TEST_SUITE(cuda_pools, *utf::precondition(needs_devices{1}))

BOOST_AUTO_TEST_CASE(what_is_free_stays_until_it_is_trimmed) {
  const stream s;
  pool keeping(device(0), {.kind = pool_kind::driver});
  use(s, keeping.allocate(64 * MiB));
  s.synchronize();
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

BOOST_AUTO_TEST_SUITE_END()
