// The driver's counters on real GPUs, through CUPTI: bytes and faults of a named array, by phase.
#include <chrono>
#include <thread>

#include "unified/kernels/traffic.hpp"

namespace fr = ferry;
using namespace shared;

namespace cuda_counters {
namespace {

constexpr std::size_t n = std::size_t{8} << 20;  // floats: 32 MiB

class counting {
 public:
  counting() { fr::set_migration_counters(fr::migration_counters::on); }
  ~counting() { fr::set_migration_counters(fr::migration_counters::off); }
};

// Counters may arrive after the work that they count: polls until the expected ones have arrived.
template <class Due>
fr::counted_moves counts_of(const std::string& array, const std::string& phase, Due due) {
  fr::counted_moves c;
  for (int i = 0; i < 100; ++i) {
    for (const fr::migration_entry& e : fr::report_migration().entries)
      if (e.array == array && e.phase == phase && e.counted) c = *e.counted;
    if (due(c)) break;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  BOOST_TEST_MESSAGE(fr::report_migration());
  return c;
}

}  // namespace
}  // namespace cuda_counters

BOOST_AUTO_TEST_SUITE(cuda_counters, *boost::unit_test::precondition(moves_are_counted{}))

BOOST_AUTO_TEST_CASE(plain_faults_are_counted) {
  const counting on;
  place here;
  const fr::migration_scope plain(fr::migration::explicitly);
  fr::unified_array<float> u({n}, dev(0));
  u.name("field");
  double sum = 0;
  {
    const fr::migration_phase phase("set up");
    for (float& x : u) x = 1;
  }
  {
    const fr::migration_phase phase("there");
    fr::parallel_for(fr::default_stream(dev(0)), n, add_one{}, fr::inout(u));
    fr::default_stream(dev(0)).synchronize();
  }
  {
    const fr::migration_phase phase("back");
    for (const float x : std::as_const(u)) sum += x;
  }
  BOOST_TEST(sum == 2.0 * n);
  const auto there =
      counts_of("field", "there", [&](const auto& c) { return about(c.to_devices.by_fault, u.size_bytes()); });
  BOOST_TEST(about(there.to_devices.by_fault, u.size_bytes()), there.to_devices.by_fault << " bytes to the GPU");
  BOOST_TEST(there.to_devices.by_prefetch == 0U);
  BOOST_TEST(there.device_faults > 0U);
  BOOST_TEST(there.busy_milliseconds > 0.0);
  const auto back = counts_of("field", "back", [&](const auto& c) { return about(c.to_cpu.by_fault, u.size_bytes()); });
  BOOST_TEST(about(back.to_cpu.by_fault, u.size_bytes()), back.to_cpu.by_fault << " bytes to the CPU");
  BOOST_TEST(back.cpu_faults > 0U);
  BOOST_TEST(back.device_faults == 0U);
}

BOOST_AUTO_TEST_CASE(prefetches_are_counted_as_such) {
  const counting on;
  place here;
  fr::unified_array<float> u({n}, dev(0));
  u.name("sent");
  for (float& x : u) x = 1;
  fr::prefetch(u, dev(0));
  fr::default_stream(dev(0)).synchronize();
  fr::prefetch(u, fr::host);
  fr::default_stream(dev(0)).synchronize();
  const auto c = counts_of("sent", "", [&](const auto& k) { return about(k.to_cpu.by_prefetch, u.size_bytes()); });
  BOOST_TEST(about(c.to_devices.by_prefetch, u.size_bytes()), c.to_devices.by_prefetch << " bytes to the GPU");
  BOOST_TEST(about(c.to_cpu.by_prefetch, u.size_bytes()), c.to_cpu.by_prefetch << " bytes to the CPU");
  BOOST_TEST((c.to_devices.by_fault == 0 && c.device_faults == 0));
}

// The same program as with plain faults, without hints: ferry prefetches the pages, and no device faults.
BOOST_AUTO_TEST_CASE(automatic_migration_leaves_no_faults_of_devices) {
  const counting on;
  place here;
  fr::unified_array<float> u({n}, dev(0));
  u.name("moved ahead");
  for (float& x : u) x = 1;
  fr::parallel_for(fr::default_stream(dev(0)), n, add_one{}, fr::inout(u));
  fr::default_stream(dev(0)).synchronize();
  const auto c =
      counts_of("moved ahead", "", [&](const auto& k) { return about(k.to_devices.by_prefetch, u.size_bytes()); });
  BOOST_TEST(about(c.to_devices.by_prefetch, u.size_bytes()), c.to_devices.by_prefetch << " bytes to the GPU");
  BOOST_TEST((c.to_devices.by_fault == 0 && c.device_faults == 0));
}

BOOST_AUTO_TEST_SUITE_END()
