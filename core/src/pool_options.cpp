#include "ferry/core/pool_options.hpp"

#include <bit>
#include <string>

#include "ferry/core/error.hpp"

namespace ferry {

const char* pool_kind_name(pool_kind k) {
  switch (k) {
    case pool_kind::automatic: return "automatic";
    case pool_kind::driver: return "driver";
    case pool_kind::split: return "split";
    case pool_kind::binned: return "binned";
    case pool_kind::simple: return "simple";
    case pool_kind::none: return "none";
  }
  return "?";
}

pool_kind parse_pool_kind(std::string_view text) {
  for (const pool_kind k : {pool_kind::driver, pool_kind::split, pool_kind::binned, pool_kind::simple, pool_kind::none})
    if (text == pool_kind_name(k)) return k;
  throw parse_error("'" + std::string(text) +
                    "' is no kind of pool (FERRY_POOL): allowed are driver, split, binned, simple and none");
}

void check(const pool_options& o) {
  const auto refuse = [](const std::string& what) { throw invalid_argument("pool options: " + what); };
  if (!std::has_single_bit(o.granularity))
    refuse("a granularity of " + std::to_string(o.granularity) + " bytes: it must be a power of two");
  if (o.small_segment < o.granularity || o.large_segment < o.small_segment)
    refuse("segments of " + std::to_string(o.small_segment) + " and " + std::to_string(o.large_segment) +
           " bytes: the small one must hold a block of " + std::to_string(o.granularity) +
           " bytes, and the large one be no smaller");
  if (o.gc_threshold && !(*o.gc_threshold > 0 && *o.gc_threshold < 1))
    refuse("gc_threshold = " + std::to_string(*o.gc_threshold) +
           ": it is a share of the device's memory, above 0 and below 1; leave it out to never collect");
  if (o.max_split_size < o.granularity)
    refuse("max_split_size = " + std::to_string(o.max_split_size) + ": no block is smaller than the granularity of " +
           std::to_string(o.granularity) + " bytes");
}

}  // namespace ferry
