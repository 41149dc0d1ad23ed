/// @file
/// The policy of one unified array: when its pages move, which advice the driver receives, and in which chunks pages
/// move.
#pragma once
#include <iosfwd>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ferry/core/array.hpp"
#include "ferry/unified/automatic.hpp"
#include "ferry/version.hpp"

namespace ferry::inline FERRY_ABI {

/// @addtogroup unified
/// @{

/// The policy of one unified array. set_migration() of the array and migration_scope take precedence over `moves`;
/// advise() holds in addition to the advice here.
struct array_policy {
  /// When pages move.
  /// - automatic: see migration::automatic.
  /// - ahead: as automatic, but prefetch the whole array, of any size, to any device that accesses part of it.
  /// - explicitly: pages move only by prefetch() and by page faults.
  enum class way { automatic, ahead, explicitly };
  way moves = way::automatic;

  /// Advice to the driver for the whole array (see advise). Pages that are read mostly or have a preferred location are
  /// not moved by ferry.
  bool read_mostly = false;
  std::optional<memory_location> preferred;
  std::vector<memory_location> accessed_by;

  /// Values that replace those of the runtime's migration_options.
  std::optional<std::size_t> smallest_to_device, smallest_to_cpu, page, piece;
  std::optional<int> flips, remote_reads;

  bool operator==(const array_policy&) const = default;
  /// True if the policy has advice for the driver.
  bool has_advice() const { return read_mostly || preferred || !accessed_by.empty(); }
  /// Returns the options of the runtime, replaced where the policy has its own.
  migration_options over(migration_options runtime) const;

  /// Returns the policy as text: "automatic", "prefetch" or "explicit", then any of read_mostly, preferred=cpu,
  /// accessed_by=device:0,device:1, page=512KiB, piece=8MiB, smallest_to_device=64KiB, smallest_to_cpu=2MiB, flips=3,
  /// remote_reads=3. Places are cpu, numa:N and device:N.
  std::string text() const;
  /// Parses the text of a policy.
  /// @param text as text() returns it
  /// @return the policy
  /// @throws parse_error that quotes the wrong word and lists the allowed ones
  static array_policy parse(std::string_view text);
};
/// Writes the text of a policy.
std::ostream& operator<<(std::ostream& out, const array_policy& p);

namespace detail {
void set_array_policy(const allocation_ref& owner, std::optional<array_policy> p);
std::optional<array_policy> array_policy_of(const allocation_ref& owner);
}  // namespace detail

/// Sets the policy of an array and of all its views, in place of a previous set_policy() or of FERRY_TUNE. Orders
/// nothing. Blocks only where advise() does.
/// @param a the array or a view of it
/// @param p the policy
/// @throws invalid_argument for a device or NUMA node that does not exist, a page or piece of 0 bytes, a negative
///   number, or adopted memory (as_unified), which does not move
/// @throws error if the driver refuses the advice; the array then has its previous policy
/// @note Advice has no effect where unified memory is pinned.
template <class T, std::size_t Rank>
void set_policy(const array_view<T, Rank, memory_kind::unified>& a, const array_policy& p) {
  detail::set_array_policy(a.owner(), p);
}
/// Removes the policy of an array: its name or the runtime's settings apply again.
template <class T, std::size_t Rank>
void clear_policy(const array_view<T, Rank, memory_kind::unified>& a) {
  detail::set_array_policy(a.owner(), {});
}
/// Returns the policy of an array, or nothing if the runtime's settings apply.
template <class T, std::size_t Rank>
std::optional<array_policy> policy_of(const array_view<T, Rank, memory_kind::unified>& a) {
  return detail::array_policy_of(a.owner());
}

/// @}

}  // namespace ferry::inline FERRY_ABI
