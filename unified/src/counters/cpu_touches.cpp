#include "counters/cpu_touches.hpp"

#include <cstring>

#include "ferry/core/detail/support/concat.hpp"

namespace ferry::inline FERRY_ABI::detail {
namespace {

// Translation units have different pointers to the file name of the same header.
bool is_same(const source_line& a, const source_line& b) {
  return a.line == b.line && (a.file == b.file || std::strcmp(a.file, b.file) == 0);
}

}  // namespace

void note_touch(std::vector<cpu_touch>& touches, const coming_access& a) {
  const bool writes = a.mode != access_mode::in, elements = a.reach == host_reach::elements;
  for (cpu_touch& t : touches)
    if (t.writes == writes && t.elements == elements && is_same(t.at, a.at)) {
      ++t.checks;
      return;
    }
  touches.push_back({a.at, writes, elements, 1});
}

std::string more_touches(const std::vector<cpu_touch>& touches) {
  if (touches.size() <= shown_touches) return {};
  const std::size_t more = touches.size() - shown_touches;
  std::uint64_t checks = 0;
  for (std::size_t i = shown_touches; i < touches.size(); ++i) checks += touches[i].checks;
  return concat("and ", more, more == 1 ? " more line" : " more lines", " of the CPU, ", checks,
                checks == 1 ? " check" : " checks");
}

}  // namespace ferry::inline FERRY_ABI::detail
