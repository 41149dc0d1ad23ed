#include "ferry/core/detail/accounting/pool_registry.hpp"

#include <algorithm>
#include <mutex>

namespace ferry::inline FERRY_ABI::detail {

pool_registry::pool_registry(const backend& of) : reserved_(3 * static_cast<std::size_t>(of.device_count())) {
  for (int d = 0; d < of.device_count(); ++d) device_bytes_.push_back(of.properties(d).memory_bytes);
}

void pool_registry::add(memory_source& s) {
  std::lock_guard lock(enrolling_);
  sources_.push_back(&s);
}

void pool_registry::remove(memory_source& s) noexcept {
  std::lock_guard lock(enrolling_);
  std::erase(sources_, &s);
}

void pool_registry::each(const std::function<void(memory_source&)>& f) const {
  std::shared_lock lock(enrolling_);
  for (memory_source* s : sources_) f(*s);
}

void pool_registry::each_from(std::size_t first, const std::function<bool(memory_source&)>& f) const {
  std::shared_lock lock(enrolling_);
  for (std::size_t k = 0; k < sources_.size(); ++k)
    if (!f(*sources_[(first + k) % sources_.size()])) return;
}

std::size_t pool_registry::retained_bytes(memory_kind kind, int device, std::size_t of_arrays) const {
  std::size_t handed_out = 0;
  each([&](memory_source& s) {
    if (s.kind() == kind && s.device() == device) handed_out += s.state().allocated_bytes;
  });
  return handed_out > of_arrays ? handed_out - of_arrays : 0;
}

std::size_t pool_registry::bytes_in_system() const {
  std::size_t bytes = pinned_bytes();
  for (int d = 0; d < static_cast<int>(devices()); ++d) {
    const std::size_t unified = cell(memory_kind::unified, d), on_device = cell(memory_kind::device, d) + unified;
    const std::size_t room = device_bytes_[static_cast<std::size_t>(d)];
    // At most the unified bytes: another thread may have reserved more device memory than the device has.
    bytes += cell(memory_kind::host, d) + std::min(unified, on_device > room ? on_device - room : 0);
  }
  return bytes;
}

std::size_t pool_registry::capacity_of(const memory_scope& scope) const {
  if (scope.kind == memory_kind::host) return system_memory_bytes();
  return scope.on ? device_bytes_[static_cast<std::size_t>(scope.on->index())] : 0;
}

}  // namespace ferry::inline FERRY_ABI::detail
