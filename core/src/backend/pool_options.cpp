#include "ferry/core/pool_options.hpp"

#include <bit>
#include <string>

#include "ferry/core/detail/support/concat.hpp"
#include "ferry/core/error.hpp"

namespace ferry::inline FERRY_ABI {

namespace {

using kind_set = unsigned;
constexpr kind_set set_of(pool_kind k) { return 1u << static_cast<unsigned>(k); }
constexpr kind_set caching_kinds = set_of(pool_kind::split) | set_of(pool_kind::binned),
                   driver_kind = set_of(pool_kind::driver);

// Calls f(name, kinds that have it, member) for each option that only some kinds have. Sizes of blocks and segments are
// not among them: programs set these independently of the kind.
template <class F>
void each_special_option(F f) {
  f("max_split_size", caching_kinds, &pool_options::max_split_size);
  f("gc_threshold", caching_kinds, &pool_options::gc_threshold);
  f("release_threshold", driver_kind, &pool_options::release_threshold);
  f("max_bytes", driver_kind, &pool_options::max_bytes);
  f("reuse", driver_kind, &pool_options::reuse);
  f("shareable", driver_kind, &pool_options::shareable);
  f("shared", driver_kind, &pool_options::shared);
}

std::string names_of(kind_set kinds) {
  std::string all;
  for (const pool_kind k : {pool_kind::driver, pool_kind::split, pool_kind::binned})
    if (kinds & set_of(k)) all += detail::concat(all.empty() ? "" : ", ", pool_kind_name(k));
  return all;
}

[[noreturn]] void refuse(const std::string& what) { throw invalid_argument("pool options: " + what); }

void check_values(const pool_options& o) {
  if (!std::has_single_bit(o.granularity))
    refuse(detail::concat("a granularity of ", o.granularity, " bytes: it must be a power of two"));
  if (o.small_segment < o.granularity || o.large_segment < o.small_segment)
    refuse(detail::concat("segments of ", o.small_segment, " and ", o.large_segment,
                          " bytes: the small one must hold a block of ", o.granularity,
                          " bytes, and the large one be no smaller"));
  if (o.gc_threshold && !(*o.gc_threshold > 0 && *o.gc_threshold < 1))
    refuse(
        detail::concat("gc_threshold = ", std::to_string(*o.gc_threshold),
                       ": it is a share of the device's memory, above 0 and below 1; leave it out to never collect"));
  if (o.max_split_size < o.granularity)
    refuse(detail::concat("max_split_size = ", o.max_split_size, ": no block is smaller than the granularity of ",
                          o.granularity, " bytes"));
}

void check_kind(const pool_options& o) {
  const pool_kind kind = o.kind == pool_kind::automatic ? pool_kind::split : o.kind;
  each_special_option([&](const char* name, kind_set have, auto option) {
    if (!(have & set_of(kind)) && o.*option != pool_options{}.*option)
      refuse(detail::concat(name, ": ", pool_kind_name(kind), " pools do not have it, ", names_of(have),
                            " pools do; choose the kind (.kind), or leave it out"));
  });
}

}  // namespace

const char* pool_kind_name(pool_kind k) {
  switch (k) {
    case pool_kind::automatic: return "automatic";
    case pool_kind::driver: return "driver";
    case pool_kind::split: return "split";
    case pool_kind::binned: return "binned";
    case pool_kind::none: return "none";
  }
  return "?";
}

pool_kind parse_pool_kind(std::string_view text) {
  for (const pool_kind k : {pool_kind::driver, pool_kind::split, pool_kind::binned, pool_kind::none})
    if (text == pool_kind_name(k)) return k;
  throw parse_error(
      detail::concat("'", text, "' is no kind of pool (FERRY_POOL): allowed are driver, split, binned and none"));
}

void detail::check_pool_options(const pool_options& o) {
  check_values(o);
  check_kind(o);
}

pool_options detail::resolved(pool_options o, pool_kind automatic) {
  check_values(o);
  if (o.kind == pool_kind::automatic) {
    each_special_option([&](const char*, kind_set have, auto option) {
      if (!(have & set_of(automatic)) && (have & set_of(pool_kind::split))) o.*option = pool_options{}.*option;
    });
    o.kind = automatic;
  }
  check_kind(o);
  return o;
}

pool_options detail::instead(pool_options o, pool_kind other) {
  each_special_option([&](const char*, kind_set have, auto option) {
    if (!(have & set_of(other))) o.*option = pool_options{}.*option;
  });
  o.kind = other;
  return o;
}

}  // namespace ferry::inline FERRY_ABI
