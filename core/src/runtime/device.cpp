#include "ferry/core/device.hpp"

#include <ostream>
#include <utility>

#include "ferry/core/detail/ordering/timelines.hpp"
#include "ferry/core/detail/support/thread_context.hpp"
#include "ferry/core/runtime.hpp"

namespace ferry::inline FERRY_ABI {

using namespace detail;

const device_properties& device::properties() const { return runtime::current().properties(index_); }

device_memory device::memory() const {
  (void)properties();
  return runtime::current().backend().memory(index_);
}

std::string device::failure() const {
  (void)properties();
  return runtime::current().streams().failure_of(index_);
}

bool device::can_reach(device owner) const {
  (void)properties(), (void)owner.properties();
  return runtime::current().can_reach(index_, owner.index_);
}

std::ostream& operator<<(std::ostream& out, device d) { return out << "device " << d.index(); }

std::span<const device> devices() { return runtime::current().devices(); }

device default_device() { return device(this_thread_state.device); }

device_scope::device_scope(device d) : device_scope((static_cast<void>(d.properties()), d), unchecked{}) {}

device_scope::device_scope(device d, unchecked) noexcept
    : before_(std::exchange(this_thread_state.device, d.index())) {}

device_scope::~device_scope() { this_thread_state.device = before_; }

}  // namespace ferry::inline FERRY_ABI
