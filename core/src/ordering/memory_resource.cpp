#include "ferry/core/detail/ordering/memory_resource.hpp"

#include <utility>

#include "ferry/core/detail/ordering/allocation.hpp"

namespace ferry::inline FERRY_ABI::detail {

// Without accounting, only the name is stored.
void memory_resource::rename(allocation& a, std::string text) { a.name = std::move(text); }
void memory_resource::retain(allocation& a) noexcept { a.name.clear(); }
void memory_resource::reissue(allocation&) {}

}  // namespace ferry::inline FERRY_ABI::detail
