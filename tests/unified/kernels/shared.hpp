// Shared by the unified-memory cases: a simulated runtime if devices are simulated, functors, and queries of page
// locations.
#pragma once
#include <boost/test/unit_test.hpp>
#include <ferry/unified.hpp>
#include <numeric>
#include <optional>
#include <string>

#include "ferry/core/detail/pools/memory_pool.hpp"
#include "ferry/core/detail/runtime/peer.hpp"
#include "ferry/core/detail/runtime/unified_pages.hpp"
#include "sim/sim_backend.hpp"

namespace shared {

namespace fr = ferry;
inline constexpr std::size_t page = std::size_t{2} << 20;

struct needs_devices {
  std::size_t count;
  boost::test_tools::assertion_result operator()(boost::unit_test::test_unit_id) const {
    boost::test_tools::assertion_result ok(fr::devices().size() >= count);
    ok.message() << "needs " << count << " devices, found " << fr::devices().size();
    return ok;
  }
};

// For cases that query information only a simulator has.
inline boost::test_tools::assertion_result on_simulated_devices(boost::unit_test::test_unit_id) {
  boost::test_tools::assertion_result ok(fr::runtime::current().is_simulated());
  ok.message() << "needs simulated devices";
  return ok;
}

// Simulated devices get their own runtime. CUDA devices use the process's runtime, with a new migration report.
class place {
 public:
  explicit place(const std::string& options = "devices=3;memory=256MiB") {
    if (fr::runtime::current().is_simulated()) sim_.emplace(options);
    fr::runtime& m = fr::runtime::current();
    for (const fr::device d : fr::devices()) {
      m.pages().test_links(d.index());                     // runs the link tests
      m.pool(fr::memory_kind::unified, d.index()).trim();  // so that the driver's page information belongs to this case
    }
    fr::reset_migration_report();
  }
  bool is_simulated() const { return sim_.has_value(); }
  static bool are_peers() { return fr::runtime::current().peers().policy().use; }

 private:
  std::optional<fr::simulation> sim_;
};

struct add_one {
  FERRY_HOST_DEVICE void operator()(std::size_t i, float* x) const { x[i] += 1; }
};

inline fr::device dev(std::size_t i) { return fr::devices()[i]; }

inline const fr::migration_entry* entry(const fr::migration_report& r, const std::string& array) {
  for (const fr::migration_entry& e : r.entries)
    if (e.array == array) return &e;
  return nullptr;
}

}  // namespace shared
