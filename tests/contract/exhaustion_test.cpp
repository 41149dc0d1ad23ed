// Real memory exhaustion below a small hard limit: the error names the cause, and the program continues with what it
// has.
#include <string>
#include <vector>

#include "contract/fixture.hpp"
#include "ferry/core/detail/accounting/memory_accounting.hpp"
#include "ferry/core/detail/pools/runtime_pools.hpp"

using namespace contract;

namespace contract_of_exhaustion {
namespace {

constexpr std::size_t MiB = std::size_t{1} << 20;

// For a scope: a hard limit at the given number of bytes above what the pools hold on device 0.
class room_for {
 public:
  explicit room_for(std::size_t bytes) {
    fr::reclaim();
    fr::detail::memory_accounting& accounting = fr::runtime::current().memory();
    const std::size_t held = accounting.pools().reserved_bytes(memory_kind::device, 0) +
                             accounting.pools().reserved_bytes(memory_kind::unified, 0);
    fr::set_memory_limit(fr::device(0), {.hard = std::to_string(held + bytes) + "B"});
  }
  ~room_for() { fr::set_memory_limit(fr::device(0), {}); }
  room_for(const room_for&) = delete;
  room_for& operator=(const room_for&) = delete;
};

}  // namespace
}  // namespace contract_of_exhaustion

BOOST_FIXTURE_TEST_SUITE(contract_of_exhaustion, clean)

BOOST_AUTO_TEST_CASE(arrays_up_to_a_hard_limit) {
  const room_for limit(64 * MiB);
  std::vector<fr::device_array<int>> held;
  const auto fill_up = [&] {
    for (int i = 0;; ++i) try {
        held.emplace_back(fr::extents<1>{std::size_t{1} << 20}, i, fr::device(0));
      } catch (const fr::out_of_memory& e) {
        BOOST_TEST(e.requested() >= 4 * MiB);
        BOOST_REQUIRE(e.shortage() != nullptr);
        BOOST_TEST(!e.shortage()->limits.empty());
        BOOST_TEST(std::string(e.what()).find("hard") != std::string::npos, e.what());
        return held.size();
      }
  };
  const std::size_t most = fill_up();
  BOOST_TEST((most >= 8 && most <= 16), most << " arrays of 4 MiB below 64 MiB");
  for (std::size_t i = 0; i < most; ++i) BOOST_TEST(fr::to_vector(held[i]).back() == static_cast<int>(i));
  held.clear();
  BOOST_TEST(fill_up() == most);
  held.clear();
  fr::device_array<int> large({std::size_t{12} << 20}, 7, fr::device(0));  // 48 MiB: needs all the pieces joined
  BOOST_TEST(fr::to_vector(large).back() == 7);
  BOOST_CHECK_THROW(fr::device_array<int>({std::size_t{12} << 20}, fr::device(0)), fr::out_of_memory);
}

BOOST_AUTO_TEST_SUITE_END()
