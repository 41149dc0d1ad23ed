// The actual page traffic: counted by the simulator, or by CUDA's driver through CUPTI.
#pragma once
#include <chrono>
#include <ferry/core/detail/ordering/timelines.hpp>
#include <thread>

#include "ferry/core/detail/ordering/timelines.hpp"
#include "unified/kernels/shared.hpp"

namespace shared {

// Evaluated just before a case runs: without counters the case is reported as skipped, with the reason.
struct moves_are_counted {
  boost::test_tools::assertion_result operator()(boost::unit_test::test_unit_id) const {
    if (fr::runtime::current().is_simulated()) return boost::test_tools::assertion_result(true);
    fr::set_migration_counters(fr::migration_counters::on);
    const fr::migration_report r = fr::report_migration();
    fr::set_migration_counters(fr::migration_counters::off);
    boost::test_tools::assertion_result ok(r.is_counted);
    ok.message() << "needs the driver's counts: " << r.not_counted;
    return ok;
  }
};

// Counts during its lifetime. Construct it after `place`, one at a time.
class meter {
 public:
  meter() : simulated_(dynamic_cast<fr::detail::sim::inspector*>(&fr::runtime::current().backend())) {
    if (simulated_) return;
    fr::set_migration_counters(fr::migration_counters::on);
    flag_ = fr::unified_array<float>({2 * page / sizeof(float)}, dev(0));
    flag_.name("meter");
  }
  ~meter() {
    if (!simulated_) fr::set_migration_counters(fr::migration_counters::off);
  }
  meter(const meter&) = delete;
  meter& operator=(const meter&) = delete;

  // Bytes so far, moved by prefetches or by device faults. Waits for all devices. Only a simulator counts discards and
  // evictions.
  fr::detail::sim::traffic moved() {
    fr::runtime::current().streams().synchronize();
    if (simulated_) return simulated_->moved();
    wait_for_counts();
    fr::detail::sim::traffic t;
    for (const fr::migration_entry& e : fr::report_migration().entries) {
      if (!e.counted || e.array == "meter" || e.array == "(other memory)") continue;
      const fr::counted_moves& c = *e.counted;
      t.prefetched += c.to_devices.by_prefetch + c.to_cpu.by_prefetch + c.between_devices.by_prefetch;
      t.faulted += c.to_devices.by_fault + c.between_devices.by_fault;
    }
    return t;
  }
  bool is_exact() const { return simulated_; }

 private:
  // Counters arrive in order, some time after the work that they count. Waits until the final prefetch of the meter's
  // own array is counted: by then all earlier work is counted, too.
  void wait_for_counts() {
    for (float& x : flag_) x += 1;
    const std::uint64_t before = flags_counted();
    fr::prefetch(flag_, dev(0));
    fr::default_stream(dev(0)).synchronize();
    for (int i = 0; i < 100 && flags_counted() < before + page; ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    BOOST_REQUIRE_MESSAGE(flags_counted() >= before + page, "the driver's counts do not arrive");
  }
  static std::uint64_t flags_counted() {
    const fr::migration_report r = fr::report_migration();
    BOOST_REQUIRE_MESSAGE(r.is_counted && r.lost_counts == 0, r.not_counted << r.lost_counts << " counts are lost");
    const fr::migration_entry* e = entry(r, "meter");
    return e && e->counted ? e->counted->to_devices.by_prefetch : 0;
  }

  fr::detail::sim::inspector* simulated_;
  fr::unified_array<float> flag_;
};

// Within 1/20 plus 64 KiB, the drivers' rounding.
inline bool about(std::uint64_t bytes, std::uint64_t expected) {
  const std::uint64_t slack = expected / 20 + (64 << 10);
  return bytes + slack >= expected && bytes <= expected + slack;
}

}  // namespace shared
