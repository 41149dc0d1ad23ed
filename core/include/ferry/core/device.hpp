/// @file
/// Devices: enumeration, properties, and the default device of new arrays.
#pragma once
#include <iosfwd>
#include <span>
#include <string>

#include "ferry/core/detail/backend/backend.hpp"
#include "ferry/version.hpp"

namespace ferry::inline FERRY_ABI {

namespace detail {
class thread_scopes;
}  // namespace detail

/// @addtogroup streams
/// @{

/// A device of the current runtime, by its index. A value type: cheap to copy and compare.
class device {
 public:
  constexpr device() = default;
  constexpr explicit device(int index) : index_(index) {}
  /// Index of the device, from 0.
  constexpr int index() const { return index_; }
  constexpr bool operator==(const device&) const = default;
  /// Name, memory and multiprocessors.
  /// @throws invalid_argument if there is no such device
  const detail::device_properties& properties() const;
  /// Free and total bytes, as the driver reports them now.
  detail::device_memory memory() const;
  /// Error that the device failed with, as far as calls have observed it; empty while it works. Never blocks.
  std::string failure() const;
  /// True if kernels of this device can use memory of `owner`.
  bool can_reach(device owner) const;

 private:
  int index_ = 0;
};

/// Prints the device with its index.
std::ostream& operator<<(std::ostream& out, device d);

/// All devices of the current runtime; never empty.
std::span<const device> devices();
/// Device of new arrays if none is named: that of the thread's innermost device_scope, else device 0.
device default_device();

/// Sets the device of new arrays of this thread, for a scope. The current CUDA device does not change.
class device_scope {
 public:
  /// @throws invalid_argument if there is no such device
  explicit device_scope(device d);
  ~device_scope();
  device_scope(const device_scope&) = delete;
  device_scope& operator=(const device_scope&) = delete;

 private:
  friend class detail::thread_scopes;
  struct unchecked {};
  device_scope(device d, unchecked) noexcept;
  int before_;
};

/// @}

}  // namespace ferry::inline FERRY_ABI
