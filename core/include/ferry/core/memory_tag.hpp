/// @file
/// Attribution of memory: tags for scopes of a program, and names of arrays. Reports list both; limits apply to tags.
#pragma once
#include <string_view>

#include "ferry/core/detail/support/memory_label.hpp"
#include "ferry/core/detail/support/thread_context.hpp"
#include "ferry/version.hpp"

namespace ferry::inline FERRY_ABI {

/// @addtogroup memory
/// @{

/// Sets the tag of the arrays that the calling thread makes within the scope. Scopes nest: the innermost applies.
/// The thread that made a scope destroys it.
class memory_tag_scope {
 public:
  /// Sets the tag of this thread. May allocate host memory.
  /// @throws invalid_argument for a tag after 524287 different ones
  explicit memory_tag_scope(std::string_view tag) : before_(detail::this_thread_state.tag) {
    detail::this_thread_state.tag = detail::intern_tag(tag);
  }
  ~memory_tag_scope() { detail::this_thread_state.tag = before_; }
  memory_tag_scope(const memory_tag_scope&) = delete;
  memory_tag_scope& operator=(const memory_tag_scope&) = delete;

 private:
  detail::memory_label before_;
};

/// @}

}  // namespace ferry::inline FERRY_ABI
