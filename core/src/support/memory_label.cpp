#include "ferry/core/detail/support/memory_label.hpp"

#include <deque>
#include <map>

#include "ferry/core/detail/support/concat.hpp"
#include "ferry/core/detail/support/mutex.hpp"
#include "ferry/core/error.hpp"

namespace ferry::inline FERRY_ABI::detail {
namespace {

// Never destroyed: arrays may be reported while static objects are destroyed.
struct labels {
  detail::mutex mutex;
  std::deque<std::string> texts FERRY_GUARDED_BY(mutex){""};
  std::map<std::string, memory_label, std::less<>> numbers FERRY_GUARDED_BY(mutex){{"", 0}};

  // `full`: called for a new text if there are `most` texts already.
  template <class Full>
  memory_label intern(std::string_view text, std::size_t most, Full full) {
    lock_guard lock(mutex);
    if (const auto found = numbers.find(text); found != numbers.end()) return found->second;
    if (texts.size() >= most) return full();
    texts.emplace_back(text);
    try {
      return numbers.emplace(text, static_cast<memory_label>(texts.size() - 1)).first->second;
    } catch (...) {
      texts.pop_back();
      throw;
    }
  }
};

labels& all(label_kind kind) {
  static auto* tags = new labels;
  static auto* names = new labels;
  return kind == label_kind::tag ? *tags : *names;
}

}  // namespace

memory_label intern_tag(std::string_view text) {
  return all(label_kind::tag).intern(text, most_tags, [&]() -> memory_label {
    throw invalid_argument(
        concat("cannot tag memory with '", text, "': the program has used ", most_tags - 1,
               " different tags already. A tag stands for a part of the program; give each array a name instead"));
  });
}

memory_label intern_name(std::string_view text) {
  // for programs that number their arrays
  return all(label_kind::name).intern(text, other_names, [] { return other_names; });
}

std::string label_text(label_kind kind, memory_label label) {
  if (kind == label_kind::name && label == other_names)
    return concat("(other names: the first ", other_names - 1, " have accounts of their own)");
  labels& l = all(kind);
  lock_guard lock(l.mutex);
  return label < l.texts.size() ? l.texts[label] : "";
}

}  // namespace ferry::inline FERRY_ABI::detail
