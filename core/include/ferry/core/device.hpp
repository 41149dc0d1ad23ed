// Devices: which there are, and which one new arrays go to.
#pragma once
#include <iosfwd>
#include <span>
#include <string>

#include "ferry/core/detail/backend/backend.hpp"

namespace ferry {

// A device of the machine, by its index. A value: cheap to copy and compare.
class device {
 public:
  constexpr device() = default;
  constexpr explicit device(int index) : index_(index) {}
  constexpr int index() const { return index_; }
  constexpr bool operator==(const device&) const = default;
  // Name, memory, multiprocessors. Throws invalid_argument for a device that is not there.
  const device_properties& properties() const;
  // Free and total bytes as the driver sees them now.
  device_memory memory() const;
  // What the device failed with, as far as calls have found out; empty while it works. Never blocks.
  std::string failure() const;
  // Whether kernels of this device can use memory of another.
  bool can_reach(device owner) const;

 private:
  int index_ = 0;
};

std::ostream& operator<<(std::ostream& out, device d);

// All devices of the machine; never empty.
std::span<const device> devices();
// The device that new arrays go to when none is named: the innermost device_scope of this thread, else device 0.
device default_device();

// New arrays of this thread go to a device, for a scope. The current CUDA device is not touched.
class device_scope {
 public:
  // Throws invalid_argument for a device that is not there.
  explicit device_scope(device d);
  ~device_scope();
  device_scope(const device_scope&) = delete;
  device_scope& operator=(const device_scope&) = delete;

 private:
  friend class thread_scopes;
  struct unchecked {};
  device_scope(device d, unchecked) noexcept;
  int before_;
};

}  // namespace ferry
