// Settings of the calling thread's scopes: the migration mode, and the phase in reports.
#pragma once
#include <optional>
#include <string>

#include "ferry/unified/automatic.hpp"

namespace ferry::inline FERRY_ABI::detail {

struct migration_thread_state {
  std::optional<migration> mode;
  std::string phase;
};
migration_thread_state& this_thread_migration();

}  // namespace ferry::inline FERRY_ABI::detail
