// The state that calls of ferry keep for the calling thread.
#pragma once
#include <cstdint>

#include "ferry/core/detail/support/internal.hpp"

namespace ferry::inline FERRY_ABI::detail {

class capture_session;
class cpu_workers;
class timeline;

// Whether kernels on the CPU compare indices with extents. simulated: always, as on simulated devices. The others are
// of the CPU as a device. by_source: if FERRY_CHECK_INDICES is 1 in the source of the kernel.
enum class index_checks : std::uint8_t { simulated, always, by_source, never };

// Constant-initialized and trivially destructible: an access is one load without a guard, and is valid while a thread
// ends and after main. Scopes that may end on another thread are not in it (support/scope_stack.hpp; decision 47).
struct thread_context {
  // The current submission, and the one before it (access_guard).
  bool submitting = false;
  bool in_host_task = false;  // runs a function of host_task; then `submitting` is true, too (host_task_scope)
  capture_session* capture = nullptr;
  const timeline* last_timeline = nullptr;  // timeline of the last submission; may be destroyed by now
  // For the kernel that this thread runs on the CPU (support/cpu_workers.hpp).
  cpu_workers* workers = nullptr;
  index_checks indices = index_checks::simulated;
  // Scopes of the program: device_scope, memory_tag_scope.
  int device = 0;
  std::uint32_t tag = 0;  // a memory_label
  // Of the thread, to spread threads over the shards of pools (pool_shards).
  std::uint32_t number = ~std::uint32_t{0};
  // Nesting depth of chains of out-of-memory handlers: their callbacks may allocate, too.
  int handler_chains = 0;
};
inline thread_local constinit thread_context this_thread_state;

}  // namespace ferry::inline FERRY_ABI::detail
