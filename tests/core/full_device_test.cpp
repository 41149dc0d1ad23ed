// Pools on a full device: what they release to make room for another allocation.
#include <vector>

#include <boost/test/unit_test.hpp>

#include <ferry/core.hpp>

#include "ferry/core/detail/pools/memory_pool.hpp"

namespace fr = ferry;

namespace full_device {
namespace {
constexpr std::size_t MiB = std::size_t{1} << 20;
using bytes_type = fr::device_array<char>;
}  // namespace
}  // namespace full_device

BOOST_AUTO_TEST_SUITE(full_device)

// Other block sizes are likely to be requested again: only as many blocks are released as the new one needs.
BOOST_AUTO_TEST_CASE(blocks_that_are_never_joined_go_one_by_one) {
  fr::simulation sim("devices=1;memory=1GiB", {.kind = fr::pool_kind::binned});
  fr::detail::memory_pool& pool = sim.get().pool(fr::memory_kind::device, 0);
  for (const std::size_t mib : {512, 256, 128, 64, 64}) {
    std::vector<bytes_type> two;
    two.emplace_back(fr::extents<1>{mib * MiB});
    if (mib == 64) two.emplace_back(fr::extents<1>{mib * MiB});
  }
  BOOST_TEST(pool.statistics().reserved_bytes == 1024 * MiB);
  const bytes_type kept({256 * MiB}), fresh({256 * MiB});
  BOOST_TEST(pool.statistics().reserved_bytes >= (1024 - 512 + 256) * MiB);
  BOOST_CHECK_THROW(bytes_type({768 * MiB}), fr::out_of_memory);
}

BOOST_AUTO_TEST_SUITE_END()
