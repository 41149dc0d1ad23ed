#include "migration/migration_thread_state.hpp"

#include "ferry/core/detail/support/thread_object.hpp"

namespace ferry::inline FERRY_ABI::detail {

migration_thread_state& this_thread_migration() { return thread_object<migration_thread_state>::get(); }

}  // namespace ferry::inline FERRY_ABI::detail
