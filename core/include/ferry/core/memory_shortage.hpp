/// @file
/// Where memory went when an allocation failed: the contents of out_of_memory.
#pragma once
#include <cstddef>
#include <string>
#include <vector>

#include "ferry/core/detail/backend/backend.hpp"
#include "ferry/version.hpp"

namespace ferry::inline FERRY_ABI {

/// @addtogroup memory
/// @{

/// State of memory at a failed allocation.
struct memory_shortage {
  /// Bytes and number of the arrays with one label.
  struct holder {
    std::string label;  ///< tag or name; empty for arrays without one
    bool is_tag = false;
    std::size_t bytes = 0, arrays = 0;
  };
  /// One out-of-memory handler that ran, and the bytes that it freed.
  struct attempt {
    std::string handler;
    std::size_t freed_bytes = 0;
  };
  memory_kind kind = memory_kind::device;
  int device = 0;
  std::size_t requested = 0;
  std::string why;                              ///< message of the backend or of the limit
  std::size_t free_bytes = 0, total_bytes = 0;  ///< of the device, as the driver reports them
  std::size_t this_process = 0;                 ///< bytes that ferry's pools hold on the device
  /// Of the requested kind: bytes in arrays, and bytes that pools hold, including cached ones.
  std::size_t allocated = 0, reserved = 0;
  std::size_t retained = 0;            ///< retained by workspaces: in no array and in no pool
  std::size_t quarantined = 0;         ///< in quarantine of the memory checks: in no array and in no pool
  std::size_t largest_free_block = 0;  ///< largest block that a pool caches
  std::vector<std::string> limits;     ///< limits that apply
  std::vector<holder> holders;         ///< largest first
  std::vector<attempt> tried;          ///< out-of-memory handlers that ran
  std::vector<std::string> advice;     ///< what the user can try
  /// All of this as lines of text.
  std::string text() const;
};

/// @}

}  // namespace ferry::inline FERRY_ABI
