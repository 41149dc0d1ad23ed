// Settings of the calling thread's scopes: the migration mode, and the phase in reports.
#pragma once
#include <optional>
#include <string>

#include "ferry/core/detail/support/thread_object.hpp"
#include "ferry/unified/automatic.hpp"

namespace ferry::inline FERRY_ABI::detail {

struct migration_thread_state {
  std::optional<migration> mode;
  std::string phase;
};
inline migration_thread_state& this_thread_migration() { return thread_object<migration_thread_state>::get(); }

}  // namespace ferry::inline FERRY_ABI::detail
