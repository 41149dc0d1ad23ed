// One submitted piece of work, and its execution by a schedule.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "address_space.hpp"
#include "ferry/core/detail/backend/backend.hpp"
#include "ferry/core/detail/support/cpu_workers.hpp"
#include "scheduler.hpp"

namespace ferry::inline FERRY_ABI::detail::sim {

struct work {
  std::string_view verb;  // "kernel"
  reach how = reach::copied;
  std::vector<kernel_use> uses;
  host_work run;
  std::string_view name = {};         // of a kernel
  bool is_kernel = false;             // a kernel loads first and stores later
  std::shared_ptr<signal> done = {};  // set if a thread waits for the work; else null
  // its part in a captured joint operation; each launch makes a new rendezvous
  std::shared_ptr<const rendezvous> together = {};
  bool has_pointers = false;             // as in host_kernel
  std::vector<kernel_use> changes = {};  // bytes that it changes other than through its uses
};

// Returns the accesses for the race checker. Excludes pageable memory, because its release is not reported. Null if
// none remain.
std::shared_ptr<const footprint> footprint_of(const work& w, const address_space& memory);

// How the entries of queues run kernels.
struct kernel_mode {
  bool in_place = false;  // else on scratch memory
  cpu_workers* workers = nullptr;
  index_checks indices = index_checks::simulated;
};

// Runs the work in place, immediately. Throws device_fault.
void run_whole(const work& w, int device, address_space& memory);

// Returns the work as entries of a queue. A kernel on scratch memory loads its arguments, and works there; its second
// entry stores the results. Forbidden work becomes an entry that fails.
std::vector<operation> to_operations(std::shared_ptr<const work> w, int device, address_space& memory,
                                     const kernel_mode& how);

}  // namespace ferry::inline FERRY_ABI::detail::sim
