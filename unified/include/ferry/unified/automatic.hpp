// Automatic migration: ranges of unified arrays that change sides are moved ahead of their use, with no hint.
#pragma once
#include <cstddef>
#include <optional>

#include "ferry/core/array_view.hpp"
#include "ferry/core/runtime.hpp"

namespace ferry {

// automatic: who uses a large range that is elsewhere has it moved first, on its own stream. explicitly: only prefetch()
// moves pages, and whoever touches them. FERRY_MIGRATION says which holds for a program; automatic if it is not set.
enum class migration { automatic, explicitly };

struct migration_options {
  // Ranges below these are left to the faults of who touches them. Measured on an H200: a prefetch beats the faults of a
  // GPU from the first page on (30 against 50 us for 64 KiB), those of the CPU from 2 MiB on (300 against 392 us).
  std::size_t smallest_to_device = std::size_t{64} << 10;
  std::size_t smallest_to_cpu = std::size_t{2} << 20;
  // So many ranges smaller than a page are sent to a device one by one. Where more of the same page go there in turn, all are
  // left to faults, which take neighbours along. On an H200 prefetches of 16 arrays of 64 KiB take 0.86 of the time of their
  // faults, those of 32 1.9.
  int page_neighbours = 16;
  // What moves, and what is remembered.
  std::size_t page = std::size_t{2} << 20;
  // Moves to the CPU of at least two pieces go on while its loop runs, piece by piece; on simulated devices only if asked.
  std::size_t piece = std::size_t{8} << 20;
  bool beside_simulated_loops = false;
  // A range that went back and forth between two devices so often is left where it is.
  int flips = 3;
  // A range that another device read so often, with nobody else using it, goes there.
  int remote_reads = 3;
};

// For what this thread does, in a scope; goes before the setting of arrays.
class migration_scope {
 public:
  explicit migration_scope(migration how);
  ~migration_scope();
  migration_scope(const migration_scope&) = delete;
  migration_scope& operator=(const migration_scope&) = delete;

 private:
  std::optional<migration> before_;
};

// For the current machine. Throws invalid_argument for a page or piece of 0 bytes or a negative number.
void set_migration(migration how);
void set_migration(const migration_options& options);
migration_options get_migration_options();

namespace detail {
void set_array_migration(const allocation_ref& owner, migration how);
void install_migration();
// Whoever includes this header has every machine of the process migrate: machines are made later than this.
inline const bool migration_is_installed = (install_migration(), true);
}  // namespace detail

// For one array and all its views.
template <class T, std::size_t Rank>
void set_migration(const array_view<T, Rank, memory_kind::unified>& a, migration how) {
  detail::set_array_migration(a.owner(), how);
}

}  // namespace ferry
