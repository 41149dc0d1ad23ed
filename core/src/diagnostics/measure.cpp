#include "ferry/core/measure.hpp"

#include <chrono>
#include <ostream>

#include "copies/copy_engine.hpp"
#include "ferry/core/detail/pools/runtime_pools.hpp"
#include "ferry/core/runtime.hpp"

namespace ferry::inline FERRY_ABI {

using namespace detail;

measurement measure(stream_ref s, detail::function_ref<void()> body) {
  runtime& m = runtime::current();
  const std::uint64_t copied = m.copies().copied_bytes(), made = m.pools().statistics().made;
  measurement r;
  const event before = s.record();
  const auto start = std::chrono::steady_clock::now();
  body();
  r.cpu_milliseconds = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
  r.device_milliseconds = milliseconds_between(before, s.record());
  r.copied_bytes = m.copies().copied_bytes() - copied;
  r.allocations = m.pools().statistics().made - made;
  return r;
}

std::ostream& operator<<(std::ostream& out, const measurement& m) {
  return out << m.device_milliseconds << " ms on the device, " << m.cpu_milliseconds << " ms on the CPU, "
             << m.copied_bytes << " bytes copied, " << m.allocations << " arrays made";
}

}  // namespace ferry::inline FERRY_ABI
