/// @file
/// Which checks of calls a runtime performs.
#pragma once
#include <atomic>
#include <cstdint>

#include "ferry/version.hpp"

namespace ferry::inline FERRY_ABI {

/// @addtogroup diagnostics
/// @{

/// Checks, as bits of a check_set.
enum class check : std::uint8_t {
  poison = 1,    ///< elements that an out() argument must write read as NaN until they are written
  pointers = 2,  ///< looks up addresses inside functors and value arguments among live arrays
  uses = 4,      ///< on simulated devices, compares what a kernel wrote with what its arguments declare
  halos = 8      ///< loops over shards throw for halo cells that are out of date
};

/// How much to check: the value of FERRY_CHECK, and of the option check= of simulated devices.
enum class check_level : std::uint8_t {
  none,  ///< off
  /// not set: check::pointers on simulated devices, and on CUDA in programs with a source compiled without NDEBUG
  usual,
  all  ///< on: every check, with memory checks and checked spans
};

namespace detail {
// The value of FERRY_CHECK; usual if it is not set. Throws parse_error for other values.
check_level check_level_of_environment();
// Called before main by programs with a source that is compiled without NDEBUG. Returns true.
bool note_debug_build();
bool is_debug_build();
// True if code of devices checks indices and assertions: in debug builds, and with FERRY_CHECK=on.
bool is_device_code_checked();
#ifndef NDEBUG
inline const bool noted_debug_build = note_debug_build();
#endif
}  // namespace detail

/// The checks of one runtime. A call loads it once. Thread-safe.
class check_set {
 public:
  /// True if any check is on.
  bool any() const { return bits_.load(std::memory_order_relaxed) != 0; }
  /// True if check c is on.
  bool has(enum check c) const { return (bits_.load(std::memory_order_relaxed) & static_cast<std::uint8_t>(c)) != 0; }
  /// Switches check c on or off.
  void set(enum check c, bool on) {
    const auto bit = static_cast<std::uint8_t>(c);
    if (on)
      bits_.fetch_or(bit, std::memory_order_relaxed);
    else
      bits_.fetch_and(static_cast<std::uint8_t>(~bit), std::memory_order_relaxed);
  }

 private:
  std::atomic<std::uint8_t> bits_{0};
};

/// @}

}  // namespace ferry::inline FERRY_ABI
