/// @file
/// Kinds of memory pools and their options.
#pragma once
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>

#include "ferry/version.hpp"

namespace ferry::inline FERRY_ABI {

/// @addtogroup memory
/// @{

/// Allocation strategy of a pool.
enum class pool_kind : std::uint8_t {
  automatic,  ///< the kind of FERRY_POOL; split if that is not set
  driver,     ///< the driver's pools (cudaMallocAsync)
  split,      ///< splits segments into blocks of the requested size and coalesces free ones; best fit
  binned,     ///< blocks of powers of two, never coalesced: no search, but up to half of a block is unused
  none        ///< each allocation and free calls the driver; for memory checkers
};
/// Name of a kind, as in FERRY_POOL.
const char* pool_kind_name(pool_kind k);
/// Parses "driver", "split", "binned" or "none".
/// @throws parse_error that quotes the text and lists these
pool_kind parse_pool_kind(std::string_view text);

/// How the driver's pools reuse memory for a stream, besides memory that the same stream freed.
struct reuse_policy {
  bool follow_events = true;          ///< memory that another stream freed, if this one already waits for that stream
  bool opportunistic = true;          ///< memory whose uses are complete: addresses differ from run to run
  bool internal_dependencies = true;  ///< the driver adds its own waits: streams may serialize
  /// Policy with which the same program gets the same addresses in each run.
  static constexpr reuse_policy deterministic() { return {true, false, false}; }
  bool operator==(const reuse_policy&) const = default;
};

/// Options of a pool. Comments name the kinds that an option applies to.
struct pool_options {
  std::size_t granularity = 512;  ///< alignment of the size and offset of every block; a power of two
  std::size_t small_segment = std::size_t{2} << 20;  ///< bytes to reserve from the backend for small blocks
  /// Bytes to reserve for larger blocks; still larger blocks get a dedicated segment.
  std::size_t large_segment = std::size_t{32} << 20;
  pool_kind kind = pool_kind::automatic;
  /// split, binned: larger blocks are never split, and only serve requests of similar size.
  std::size_t max_split_size = std::numeric_limits<std::size_t>::max();
  /// split, binned: fraction of the device's memory, within (0, 1). Above it, the pool releases its least recently used
  /// memory before it grows, but only memory whose uses are complete.
  std::optional<double> gc_threshold{};
  /// driver: bytes that the pool retains when they are free, and its maximum size (0: no limit).
  std::size_t release_threshold = std::numeric_limits<std::size_t>::max();
  std::size_t max_bytes = 0;
  reuse_policy reuse{};
  bool shareable = false;  ///< driver: other processes can import the pool
  bool shared = false;     ///< driver: the default pool of the device, for device memory; see pool::default_of
  bool operator==(const pool_options&) const = default;
};

namespace detail {
// Throws invalid_argument, which names the wrong option and the allowed values; also for an option that the kind lacks
// and that differs from its default (automatic counts as split).
void check_pool_options(const pool_options& o);
// Checks the options, as above, and replaces the kind automatic by `automatic`. Options that split pools have and the
// resulting kind lacks return to their defaults. So FERRY_POOL can be set for every program.
pool_options resolved(pool_options o, pool_kind automatic);
// Options for a pool of kind `other`, in place of an unavailable one. Options that `other` lacks return to their
// defaults.
pool_options instead(pool_options o, pool_kind other);
}  // namespace detail

/// Use of a pool.
struct pool_statistics {
  std::size_t allocated_bytes = 0, reserved_bytes = 0;  ///< in use by arrays; reserved from the backend
  std::size_t allocations = 0, blocks = 0, segments = 0;
  std::uint64_t made = 0;  ///< allocations so far
  pool_statistics& operator+=(const pool_statistics& o) {
    allocated_bytes += o.allocated_bytes, reserved_bytes += o.reserved_bytes;
    allocations += o.allocations, blocks += o.blocks, segments += o.segments, made += o.made;
    return *this;
  }
};

/// @}

}  // namespace ferry::inline FERRY_ABI
