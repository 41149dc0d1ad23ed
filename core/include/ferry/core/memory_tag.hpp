/// @file
/// Attribution of memory: tags for scopes of a program, and names of arrays. Reports list both; limits apply to tags.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "ferry/core/detail/support/thread_context.hpp"

namespace ferry {

/// @addtogroup memory
/// @{

/// A tag, or the name of an array, as a small number; 0 is none. Tags and names have separate numbers: the tag "solver"
/// and the name "solver" are unrelated. The same text has the same number for the life of the process.
using memory_label = std::uint32_t;
/// Distinguishes tags from names.
enum class label_kind : std::uint8_t { tag, name };

/// Maximum numbers: an allocation stores both, and a flag, in 32 bits. Beyond the last tag, tagging throws. Later names
/// are accounted together as other_names.
inline constexpr std::size_t most_tags = std::size_t{1} << 19, most_names = std::size_t{1} << 12;
inline constexpr memory_label other_names = most_names - 1;

/// Number of a tag, or of a name. May allocate host memory.
/// @throws invalid_argument for a tag after most_tags - 1 different ones
memory_label intern_tag(std::string_view text);
/// Number of a name. May allocate host memory. Returns other_names when the names are used up.
memory_label intern_name(std::string_view text);
/// Text of a label; empty for 0.
std::string label_text(label_kind kind, memory_label label);

/// Sets the tag of the arrays that the calling thread makes within the scope. Scopes nest: the innermost applies.
class memory_tag_scope {
 public:
  /// Sets the tag of this thread. Throws as intern_tag.
  explicit memory_tag_scope(std::string_view tag) : before_(this_thread_state.tag) {
    this_thread_state.tag = intern_tag(tag);
  }
  ~memory_tag_scope() { this_thread_state.tag = before_; }
  memory_tag_scope(const memory_tag_scope&) = delete;
  memory_tag_scope& operator=(const memory_tag_scope&) = delete;

 private:
  memory_label before_;
};

/// @}

}  // namespace ferry
