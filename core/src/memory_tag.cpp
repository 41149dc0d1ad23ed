#include "ferry/core/memory_tag.hpp"

#include <deque>
#include <map>
#include <mutex>

namespace ferry {
namespace {

// Immortal: arrays may be reported while static objects are destroyed.
struct labels {
  std::mutex mutex;
  std::deque<std::string> texts{""};
  std::map<std::string, memory_label, std::less<>> numbers{{"", 0}};
};

labels& all() {
  static auto* l = new labels;
  return *l;
}

}  // namespace

memory_label intern_label(std::string_view text) {
  labels& l = all();
  std::lock_guard lock(l.mutex);
  if (const auto found = l.numbers.find(text); found != l.numbers.end()) return found->second;
  constexpr memory_label last = most_labels - 1;
  if (l.texts.size() >= last) {  // programs that name arrays by counters
    if (l.texts.size() == last) l.texts.emplace_back("(further names)");
    return last;
  }
  l.texts.emplace_back(text);
  return l.numbers.emplace(text, static_cast<memory_label>(l.texts.size() - 1)).first->second;
}

std::string label_text(memory_label label) {
  labels& l = all();
  std::lock_guard lock(l.mutex);
  return label < l.texts.size() ? l.texts[label] : "";
}

}  // namespace ferry
