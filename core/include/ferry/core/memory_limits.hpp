/// @file
/// Limits on memory. Soft limits release unused bytes early; hard limits are never exceeded.
#pragma once
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ferry/core/device.hpp"
#include "ferry/core/memory_size.hpp"
#include "ferry/core/memory_tag.hpp"
#include "ferry/version.hpp"

namespace ferry::inline FERRY_ABI {

/// @addtogroup memory
/// @{

/// A soft and a hard limit; unset means no limit.
struct memory_limit {
  /// Percentages are of the scope's device; for pinned memory, of the system's RAM.
  memory_size soft = {}, hard = {};
};

/// The bytes that a limit or a budget applies to.
///
///     {.on = d}                                device and unified memory of that device
///     {.on = d, .kind = memory_kind::unified}  one kind
///     {.kind = memory_kind::host}              pinned memory, of all devices
///     {.tag = "solver"}                        arrays made under a tag, everywhere or (with .on, .kind) in one place
///
/// Limits without a tag apply to all bytes that pools hold, including cached ones. Limits of a tag apply to arrays
/// only.
struct memory_scope {
  std::optional<device> on = {};
  std::optional<memory_kind> kind = {};
  std::string tag = {};

  /// True if memory of kind k on device d belongs to the scope, provided that the tag matches. Without a kind, host
  /// memory belongs only to scopes with a tag.
  bool covers(memory_kind k, int d) const {
    return (!on || on->index() == d) && (kind ? *kind == k : !tag.empty() || k != memory_kind::host);
  }
  /// The scope in words.
  std::string text() const;
  bool operator==(const memory_scope&) const = default;
};

/// Sets the limits of a scope and replaces its previous ones; unset limits remove them. If more than a hard limit is in
/// use, releases cached bytes first, which may block until their last uses are complete.
/// @param scope bytes that the limits apply to
/// @param limit limits in bytes or percent
/// @throws out_of_memory if arrays, workspaces, pinned ranges and the free parts of pool segments that arrays use
///   exceed a hard limit
/// @throws invalid_argument for a limit above the device's memory, or a soft limit above the hard one
/// @throws invalid_argument for a percentage of a scope without a size, or a missing device
/// @throws invalid_argument inside a submission, if bytes must be released
void set_memory_limit(const memory_scope& scope, const memory_limit& limit);
/// @overload
inline void set_memory_limit(device d, const memory_limit& limit) { set_memory_limit({d, {}, {}}, limit); }
/// Parses one limit, such as "soft:60%,hard:8GiB".
/// @throws parse_error for other texts
memory_limit parse_memory_limit(std::string_view text);

/// A limit with the scope that it applies to.
struct scoped_memory_limit {
  memory_scope scope;
  memory_limit limit;
};
/// Parses limits with their scopes, separated by ';', as in FERRY_MEMORY_LIMIT:
/// "soft:60%;device=1,hard:8GiB;kind=host,hard:4GiB;tag=solver,hard:1GiB".
/// @throws parse_error that quotes the wrong part, also if a scope occurs twice
std::vector<scoped_memory_limit> parse_memory_limits(std::string_view text);
/// Sets limits of the current runtime, atomically for other threads. Limits without device and tag apply to each device
/// that no other limit names. Limits of pinned memory apply to all devices together. Blocks and throws as
/// set_memory_limit; if it throws, no limit changes.
void set_memory_limits(const std::vector<scoped_memory_limit>& limits);

/// RAM that this process may use, in bytes: that of the computer, or less in a container.
std::size_t system_memory_bytes();

/// @}

}  // namespace ferry::inline FERRY_ABI
