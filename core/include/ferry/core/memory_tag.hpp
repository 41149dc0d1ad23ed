// Whose memory it is: tags for scopes of a program. Reports and limits go by them, and by the names of arrays.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace ferry {

// A tag, or an array's name, as a small number; 0 is none. The same text has the same number for the life of the process.
using memory_label = std::uint16_t;
// Texts that come after so many different ones share one label.
inline constexpr std::size_t most_labels = 4096;

// May allocate CPU memory.
memory_label intern_label(std::string_view text);
// Empty for 0.
std::string label_text(memory_label label);

// The tag that the calling thread's allocations get.
inline thread_local constinit memory_label this_thread_tag = 0;

// The arrays that the calling thread makes within the scope are counted under a tag. Scopes nest: the innermost holds.
class memory_tag_scope {
 public:
  explicit memory_tag_scope(std::string_view tag) : before_(this_thread_tag) { this_thread_tag = intern_label(tag); }
  ~memory_tag_scope() { this_thread_tag = before_; }
  memory_tag_scope(const memory_tag_scope&) = delete;
  memory_tag_scope& operator=(const memory_tag_scope&) = delete;

 private:
  memory_label before_;
};

}  // namespace ferry
