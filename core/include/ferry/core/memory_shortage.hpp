// Where the memory went, when there was none: what out_of_memory says and holds.
#pragma once
#include <cstddef>
#include <string>
#include <vector>

#include "ferry/core/detail/backend/backend.hpp"

namespace ferry {

struct memory_shortage {
  struct holder {
    std::string label;  // a tag, a name, or empty for arrays without
    bool is_tag = false;
    std::size_t bytes = 0, arrays = 0;
  };
  struct attempt {
    std::string rung;
    std::size_t freed_bytes = 0;
  };
  memory_kind kind = memory_kind::device;
  int device = 0;
  std::size_t requested = 0;
  std::string why;                              // the backend's words, or the limit's
  std::size_t free_bytes = 0, total_bytes = 0;  // of the device, as the driver sees it
  std::size_t this_process = 0;                 // what ferry's pools hold on the device
  std::size_t allocated = 0, reserved = 0;      // of the asked kind: by arrays; by pools, with what they cache
  std::size_t kept = 0;                         // by workspaces: in no array, and in no pool
  std::size_t quarantined = 0;                  // likewise, by memory checks
  std::size_t largest_free_block = 0;           // that a pool caches
  std::vector<std::string> limits;              // that hold there
  std::vector<holder> holders;                  // the largest first
  std::vector<attempt> tried;                   // the rungs that were climbed
  std::vector<std::string> advice;              // what to try
  // All of that in lines.
  std::string text() const;
};

}  // namespace ferry
