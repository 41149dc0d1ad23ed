// The kinds of pools, and what can be chosen of each.
#pragma once
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>

namespace ferry {

enum class pool_kind : std::uint8_t {
  automatic,  // by FERRY_POOL; split if that is not set
  driver,     // the driver's pools (cudaMallocAsync)
  split,      // blocks are cut to size out of segments, and joined again; best fit
  binned,     // blocks of powers of two, never joined: no search, and up to half of a block unused
  simple,     // each block comes from the driver as it is, and is kept for requests of about its size
  none        // straight to the driver and back, for memory checkers
};
const char* pool_kind_name(pool_kind k);
// "driver", "split", "binned", "simple" or "none"; throws parse_error that quotes the text and lists these.
pool_kind parse_pool_kind(std::string_view text);

// How the driver's pools find memory for a stream, beside what the same stream freed.
struct reuse_policy {
  bool follow_events = true;          // what another stream freed, if this one already waits for it
  bool opportunistic = true;          // what is free by now: addresses differ from run to run
  bool internal_dependencies = true;  // the driver adds waits of its own: streams may serialise
  // The same program gets the same addresses each time.
  static constexpr reuse_policy deterministic() { return {true, false, false}; }
  bool operator==(const reuse_policy&) const = default;
};

struct pool_options {
  std::size_t granularity = 512;  // every block's size and offset is a multiple of it: a power of two
  std::size_t small_segment = std::size_t{2} << 20;   // what is taken from the backend for small blocks
  std::size_t large_segment = std::size_t{32} << 20;  // and for larger ones; beyond it, a segment of their own
  pool_kind kind = pool_kind::automatic;
  // split, binned: blocks that are larger are never cut, and serve requests of about their size only.
  std::size_t max_split_size = std::numeric_limits<std::size_t>::max();
  // split, binned, simple: when the pool holds more than this share of the device's memory, it gives back what was unused
  // longest before it takes more; nothing that work still uses. Within (0, 1).
  std::optional<double> gc_threshold{};
  // driver: bytes that stay with the pool when they are free; what it may hold at most (0: no limit).
  std::size_t release_threshold = std::numeric_limits<std::size_t>::max();
  std::size_t max_bytes = 0;
  reuse_policy reuse{};
  bool shareable = false;  // driver: other processes can import the pool
  bool shared = false;     // driver: the default pool of the device, for device memory; see pool::default_of
  bool operator==(const pool_options&) const = default;
};
// Throws invalid_argument that names what is wrong and what is allowed: also for an option that the kind does not have
// (automatic counts as split), set to something else than it is by itself.
void check(const pool_options& o);
// The options, checked, with the kind that automatic stands for. What automatic pools have where nobody says otherwise is left
// out if that kind does not have it, so that FERRY_POOL can be set for every program.
pool_options resolved(pool_options o, pool_kind automatic);
// The options for a pool of another kind, in the place of one that cannot be had: without what that does not have.
pool_options instead(pool_options o, pool_kind other);

struct pool_statistics {
  std::size_t allocated_bytes = 0, reserved_bytes = 0;  // in use by arrays; taken from the backend
  std::size_t allocations = 0, blocks = 0, segments = 0;
  std::uint64_t made = 0;  // allocations so far
  pool_statistics& operator+=(const pool_statistics& o) {
    allocated_bytes += o.allocated_bytes, reserved_bytes += o.reserved_bytes;
    allocations += o.allocations, blocks += o.blocks, segments += o.segments, made += o.made;
    return *this;
  }
};

}  // namespace ferry
