/// @file
/// One value that device work produces: usable in later work without waiting, and readable on the CPU.
#pragma once
#include "ferry/core/arguments.hpp"
#include "ferry/core/array.hpp"
#include "ferry/version.hpp"

namespace ferry::inline FERRY_ABI {

/// @addtogroup kernels
/// @{

/// A value in pinned memory near its device, accessible from every device.
template <class T>
class scalar {
 public:
  /// The value is undefined until work writes it.
  explicit scalar(device d = default_device()) : value_(extents<0>(), d) {}
  /// Returns the value. Blocks until the work that writes it is complete; further reads do not block until new work
  /// writes it.
  operator T() const { return value(source_line{}); }
  /// The value; blocks as the conversion does.
  T value(source_line at = source_line::here()) const { return value_(at); }
  /// True if value() would not block. Never blocks.
  bool is_ready() const { return value_.is_ready(); }
  /// Sets the name for messages and reports.
  void name(std::string text) { value_.name(std::move(text)); }

  /// The value as an array of rank 0.
  const host_array<T, 0>& as_array() const { return value_; }
  host_array<T, 0>& as_array() { return value_; }
  auto as_kernel_argument(source_line at) const { return in(value_, at); }

 private:
  host_array<T, 0> value_;
};

/// Argument that reads a scalar.
template <class T>
auto in(const scalar<T>& s, source_line at = source_line::here()) {
  return in(s.as_array(), at);
}

/// @}

}  // namespace ferry::inline FERRY_ABI
