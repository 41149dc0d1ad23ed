// One piece of work as it was submitted, and how a schedule runs it.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "address_space.hpp"
#include "ferry/core/detail/backend/backend.hpp"
#include "scheduler.hpp"

namespace ferry::sim {

struct work {
  std::string_view verb;  // "kernel"
  reach how = reach::copied;
  std::vector<kernel_use> uses;
  std::function<void(const relocation&)> run;
  std::string_view name = {};                       // of a kernel
  bool is_kernel = false;                           // loads first, and stores later
  std::shared_ptr<signal> done = {};                // somebody waits for it; else null
  std::shared_ptr<const rendezvous> together = {};  // a captured part of it: each launch holds a meeting of its own
  bool has_pointers = false;                        // as of a host_kernel
  std::vector<kernel_use> changes = {};             // bytes that it changes in another way than by reaching them
};

// What the race checker should know of it: all but pageable memory, of which nobody hears when it is freed.
std::shared_ptr<const footprint> footprint_of(const work& w, const address_space& memory);

// In place and at once. Throws device_fault.
void run_whole(const work& w, int device, address_space& memory);

// As entries of a queue: a kernel loads what it uses to scratch memory and works there; its second entry stores.
// Work that is forbidden becomes an entry that fails.
std::vector<operation> to_operations(std::shared_ptr<const work> w, int device, address_space& memory);

}  // namespace ferry::sim
