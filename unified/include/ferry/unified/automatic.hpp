/// @file
/// Automatic migration: ferry moves ranges of unified arrays to the processor that is about to use them, without hints.
#pragma once
#include <cstddef>
#include <optional>

#include "ferry/core/array_view.hpp"
#include "ferry/core/runtime.hpp"
#include "ferry/version.hpp"

namespace ferry::inline FERRY_ABI {

/// @addtogroup unified
/// @{

/// When pages of unified arrays move. FERRY_MIGRATION sets the mode of a program; the default is automatic.
/// - automatic: before an access to a large range that is elsewhere, ferry prefetches it on the stream of the access.
/// - explicitly: pages move only by prefetch() and by page faults.
enum class migration { automatic, explicitly };

/// Parameters of automatic migration. Sizes are in bytes.
struct migration_options {
  /// Smaller ranges move by page faults. Measured on an H200: for a GPU, a prefetch beats faults from the first page on
  /// (30 against 50 us for 64 KiB). For the CPU, it does from 2 MiB on (300 against 392 us).
  std::size_t smallest_to_device = std::size_t{64} << 10;
  std::size_t smallest_to_cpu = std::size_t{2} << 20;
  /// Number of ranges smaller than a page that are prefetched one by one. If more ranges of one page go to the same
  /// device in one round, all of them move by faults, which fetch neighbours along. On an H200, prefetches of 16 arrays
  /// of 64 KiB take 0.86 times as long as their faults; those of 32 arrays take 1.9 times as long.
  int page_neighbours = 16;
  /// Granularity of moves and of the records about them.
  std::size_t page = std::size_t{2} << 20;
  /// Bytes of one step of a host prefetch. A move to the CPU of at least two pieces continues piece by piece while the
  /// CPU's loop runs.
  std::size_t piece = std::size_t{8} << 20;
  /// True: host prefetches also overlap loops of the CPU on simulated devices.
  bool beside_simulated_loops = false;
  /// A range that moved back and forth between two devices this often stays where it is.
  int flips = 3;
  /// A range that one other device read this often in a row, without any other use, moves to that device.
  int remote_reads = 3;
};

/// Sets the migration mode of the calling thread for a scope. Takes precedence over the setting of an array.
class migration_scope {
 public:
  /// Sets the mode.
  explicit migration_scope(migration how);
  /// Restores the previous mode of the thread.
  ~migration_scope();
  migration_scope(const migration_scope&) = delete;
  migration_scope& operator=(const migration_scope&) = delete;

 private:
  std::optional<migration> before_;
};

/// Sets the migration mode of the current runtime.
void set_migration(migration how);
/// Sets the migration options of the current runtime.
/// @throws invalid_argument for a page or piece of 0 bytes or a negative number
void set_migration(const migration_options& options);
/// Returns the migration options of the current runtime.
migration_options get_migration_options();

namespace detail {
void set_array_migration(const allocation_ref& owner, migration how);
void install_migration();
// Including this header installs migration in all runtimes of the process, because runtimes are made later.
inline const bool migration_is_installed = (install_migration(), true);
}  // namespace detail

/// Sets the migration mode of one array and all its views.
template <class T, std::size_t Rank>
void set_migration(const array_view<T, Rank, memory_kind::unified>& a, migration how) {
  detail::set_array_migration(a.owner(), how);
}

/// @}

}  // namespace ferry::inline FERRY_ABI
