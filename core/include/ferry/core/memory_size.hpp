/// @file
/// Amounts of memory as text: bytes, "512MiB", "60%" of a device.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>

#include "ferry/version.hpp"

namespace ferry::inline FERRY_ABI {

/// @addtogroup memory
/// @{

/// An amount of memory in bytes or percent; may be unset.
class memory_size {
 public:
  /// Unset: no limit.
  constexpr memory_size() = default;
  /// An amount in bytes.
  constexpr memory_size(std::size_t bytes) : unit_(unit::bytes), bytes_(bytes) {}
  /// Parses "8589934592", "512B", "64KiB", "512MiB", "1.5GiB", "2TiB", or "60%". A percentage is relative to the value
  /// that bytes_of() receives.
  /// @throws parse_error that quotes the text and lists these forms
  memory_size(std::string_view text);
  memory_size(const char* text) : memory_size(std::string_view(text)) {}
  memory_size(const std::string& text) : memory_size(std::string_view(text)) {}

  /// True unless the amount is unset.
  bool is_set() const { return unit_ != unit::none; }
  /// True for a percentage.
  bool is_percentage() const { return unit_ == unit::percent; }
  /// The amount in bytes; 0 if unset.
  /// @param whole bytes that correspond to 100%
  std::size_t bytes_of(std::size_t whole) const;
  /// The amount as written: "60%", "8.000 GiB".
  std::string text() const;

 private:
  enum class unit { none, bytes, percent };
  unit unit_ = unit::none;
  std::size_t bytes_ = 0;
  double percent_ = 0;
};

/// Bytes as text with three decimals: "512 bytes", "1.500 KiB", "8.000 GiB".
std::string bytes_text(std::size_t bytes);

/// @}

}  // namespace ferry::inline FERRY_ABI
