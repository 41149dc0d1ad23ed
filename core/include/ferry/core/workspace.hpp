/// @file
/// Reuse of the same memory blocks in each iteration of a loop: from the second one on, no pool calls.
#pragma once
#include <cstddef>
#include <cstdint>

#include "ferry/core/detail/ordering/allocation.hpp"
#include "ferry/core/detail/support/scope_stack.hpp"
#include "ferry/version.hpp"

namespace ferry::inline FERRY_ABI {

/// @addtogroup memory
/// @{

class workspace;

namespace detail {
class workspace_blocks;

// The part of a workspace that a scope uses, and the number of arrays made in the scope.
class workspace_turn {
 public:
  explicit workspace_turn(workspace& w);
  workspace_turn(workspace_turn&& o) noexcept : blocks_(std::exchange(o.blocks_, nullptr)), next_(o.next_) {}
  workspace_turn& operator=(workspace_turn&&) = delete;
  ~workspace_turn();
  // Allocates a block for an array. Throws as the allocate function of a pool.
  allocation_ref allocate(memory_kind kind, int device, std::size_t bytes);
  // For budgets: size of the retained block that the next array of this size gets; 0 if it comes from a pool.
  std::size_t block_for(memory_kind kind, int device, std::size_t bytes) const;
  // Bytes of all retained blocks that no array uses.
  std::size_t retained_bytes(memory_kind kind, int device) const;

 private:
  workspace_blocks* blocks_;
  std::size_t next_ = 0;
};
}  // namespace detail

/// Use of a workspace.
struct workspace_statistics {
  std::size_t blocks = 0, bytes = 0, in_use = 0;  ///< blocks that are held, their bytes, and how many arrays use now
  std::uint64_t taken = 0, reused = 0;            ///< arrays made with a block from a pool, and with a retained block
};

/// Retains the blocks of destroyed arrays that were made within its scopes.
///
/// The next array of similar size gets such a block. Its access history orders it after the work that still uses the
/// block, on any stream. Arrays may outlive the scope and the workspace, and other threads may destroy them.
/// Thread-safe; each thread has its own scopes. Retained blocks are reserved: pools, reports and budgets do not count
/// them as free, and memory pressure does not reclaim them.
class workspace {
 public:
  workspace();
  /// Returns the blocks to their pools; blocks of live arrays return when those are destroyed. Never blocks. Later
  /// arrays in a scope that outlives the workspace come from pools.
  ~workspace();
  workspace(const workspace&) = delete;
  workspace& operator=(const workspace&) = delete;

  /// Returns the blocks that no array uses to their pools.
  void clear() noexcept;
  /// Current use.
  workspace_statistics statistics() const;

 private:
  friend class detail::workspace_turn;
  detail::workspace_blocks* blocks_;  // lives until no array has one of its blocks and no scope of it exists
};

/// One iteration: arrays of this thread, of all kinds and devices, and ferry's own scratch get blocks of the workspace.
/// The nth allocation of an iteration gets the block of the nth allocation of the previous one, if it fits. Scopes may
/// end in any order, and on other threads. The scope then ends for the thread that began it.
class workspace_scope {
 public:
  /// Starts an iteration of this thread.
  explicit workspace_scope(workspace& w) : scope_(detail::workspace_turn(w)) {}

  /// Blocks of the calling thread's innermost scope, or null.
  static detail::workspace_turn* current() {
    auto* const n = scopes::innermost();
    return n ? &n->value : nullptr;
  }

 private:
  using scopes = detail::stacked_scope<detail::workspace_turn>;
  scopes scope_;
};

/// @}

}  // namespace ferry::inline FERRY_ABI
