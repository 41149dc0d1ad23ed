// The same blocks of memory for each iteration of a loop: no traffic with pools from the second one on.
#pragma once
#include <cstddef>
#include <cstdint>

#include "ferry/core/detail/ordering/allocation.hpp"
#include "ferry/core/detail/support/scope_stack.hpp"

namespace ferry {

class workspace;

namespace detail {
class workspace_blocks;

// What a scope holds of its workspace, and how many arrays were made in it.
class workspace_turn {
 public:
  explicit workspace_turn(workspace& w);
  workspace_turn(workspace_turn&& o) noexcept : blocks_(std::exchange(o.blocks_, nullptr)), next_(o.next_) {}
  workspace_turn& operator=(workspace_turn&&) = delete;
  ~workspace_turn();
  // A block for an array. Throws what a pool's allocate throws.
  allocation_ref allocate(memory_kind kind, int device, std::size_t bytes);
  // For budgets. Bytes of the block that is kept for the next array if it has so many bytes; 0: it comes from a pool.
  std::size_t block_for(memory_kind kind, int device, std::size_t bytes) const;
  // Bytes of all blocks that are kept and no array has.
  std::size_t retained_bytes(memory_kind kind, int device) const;

 private:
  workspace_blocks* blocks_;
  std::size_t next_ = 0;
};
}  // namespace detail

struct workspace_statistics {
  std::size_t blocks = 0, bytes = 0, in_use = 0;  // blocks that are held, their bytes, and how many arrays have now
  std::uint64_t taken = 0, reused = 0;            // arrays made: with a block from a pool, with one that was here
};

// Holds the blocks of arrays that were made within its scopes and are gone. The next array of about that size gets one,
// ordered behind the work that still uses it by its log, whatever streams are involved. Arrays may outlive the scope, the
// workspace, and be destroyed by other threads. Used by several threads at once, but each has scopes of its own. Its blocks
// are reserved for it: they are not free for pools, reports and budgets, and memory pressure does not take them.
class workspace {
 public:
  workspace();
  // Gives the blocks back to their pools; those of arrays that live on, when these go. Never blocks. Arrays that are made
  // in a scope of it that lasts longer come from pools.
  ~workspace();
  workspace(const workspace&) = delete;
  workspace& operator=(const workspace&) = delete;

  // Gives the blocks that no array has back to their pools.
  void clear() noexcept;
  workspace_statistics statistics() const;

 private:
  friend class detail::workspace_turn;
  detail::workspace_blocks* blocks_;  // lives as long as an array has one of its blocks, or a scope of it lasts
};

// One iteration: arrays of this thread, of all kinds and devices, and ferry's own scratch get blocks of the workspace. The
// nth allocation of an iteration gets the block of the nth of the one before, if it fits. Scopes may end in any order, and
// on other threads: for the thread that began it, the scope is over then.
class workspace_scope {
 public:
  explicit workspace_scope(workspace& w) : scope_(detail::workspace_turn(w)) {}

  // Of the innermost scope of the calling thread, or null.
  static detail::workspace_turn* current() {
    auto* const n = scopes::innermost();
    return n ? &n->value : nullptr;
  }

 private:
  using scopes = detail::stacked_scope<detail::workspace_turn>;
  scopes scope_;
};

}  // namespace ferry
