// How one unified array is treated: who moves its pages ahead of their use, what the driver is told, in which chunks.
#pragma once
#include <iosfwd>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ferry/core/array.hpp"
#include "ferry/unified/automatic.hpp"

namespace ferry {

// Says nothing of what the program itself sets for the array: set_migration() and migration_scope go before `moves`, and
// advise() holds besides.
struct array_policy {
  // automatic: see migration::automatic. ahead: besides, the whole array goes to who uses a part of it, be it small.
  // explicitly: only prefetch() moves pages, and whoever touches them.
  enum class way { automatic, ahead, explicitly };
  way moves = way::automatic;

  // What the driver is told of the whole array (see advise). Pages of which it knows a preferred location, or that they
  // are read mostly, are left to it.
  bool read_mostly = false;
  std::optional<memory_location> preferred;
  std::vector<memory_location> accessed_by;

  // What differs from the machine's migration_options.
  std::optional<std::size_t> smallest_to_device, smallest_to_cpu, page, piece;
  std::optional<int> flips, remote_reads;

  bool operator==(const array_policy&) const = default;
  bool has_advice() const { return read_mostly || preferred || !accessed_by.empty(); }
  migration_options over(migration_options runtime) const;

  // "automatic", "prefetch", "explicit", each followed by any of read_mostly, preferred=cpu, accessed_by=device:0,device:1,
  // page=512KiB, piece=8MiB, smallest_to_device=64KiB, smallest_to_cpu=2MiB, flips=3, remote_reads=3. Places are cpu,
  // numa:N, device:N.
  std::string text() const;
  // The same from its text. Throws parse_error that quotes the word, and says which are allowed.
  static array_policy parse(std::string_view text);
};
std::ostream& operator<<(std::ostream& out, const array_policy& p);

namespace detail {
void set_array_policy(const allocation_ref& owner, std::optional<array_policy> p);
std::optional<array_policy> array_policy_of(const allocation_ref& owner);
}  // namespace detail

// From now on, for an array and all its views, in place of what it had by this or by FERRY_TUNE. Orders nothing; blocks
// only where advise() does. Advice does nothing where unified memory is pinned. Throws invalid_argument for a device or NUMA
// node that is not there, for a page or piece of 0 bytes or a negative number, and for memory of the program (as_unified), which
// stays where it is; what the driver refuses is thrown, too, and leaves the array the policy that it had.
template <class T, std::size_t Rank>
void set_policy(const array_view<T, Rank, memory_kind::unified>& a, const array_policy& p) {
  detail::set_array_policy(a.owner(), p);
}
// As if it had never had one.
template <class T, std::size_t Rank>
void clear_policy(const array_view<T, Rank, memory_kind::unified>& a) {
  detail::set_array_policy(a.owner(), {});
}
// None: the machine's settings hold.
template <class T, std::size_t Rank>
std::optional<array_policy> policy_of(const array_view<T, Rank, memory_kind::unified>& a) {
  return detail::array_policy_of(a.owner());
}

}  // namespace ferry
