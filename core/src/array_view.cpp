#include "ferry/core/array_view.hpp"

#include <mutex>

namespace ferry {

std::size_t checked_slice(const slice& s, std::size_t extent, std::size_t dimension, const detail::array_look& of) {
  const std::size_t end = s.end == std::size_t(-1) ? extent : s.end;
  if (s.step == 0)
    throw invalid_argument("a slice of " + array_text(of) + " has step 0 in dimension " + std::to_string(dimension));
  if (s.begin > end || end > extent)
    throw invalid_argument("the slice [" + std::to_string(s.begin) + ", " + std::to_string(end) + ") in dimension " +
                           std::to_string(dimension) + " lies outside " + array_text(of));
  const std::size_t step =
      s.step > 0 ? static_cast<std::size_t>(s.step) : std::size_t{0} - static_cast<std::size_t>(s.step);
  return (end - s.begin + step - 1) / step;
}

void throw_out_of_range(std::size_t index, std::size_t extent, std::size_t dimension, const detail::array_look& of,
                        source_line at) {
  throw invalid_argument("index " + std::to_string(static_cast<std::ptrdiff_t>(index)) + " in dimension " +
                         std::to_string(dimension) + " of " + array_text(of) + detail::in_line(at) +
                         " is outside its extent " + std::to_string(extent));
}

std::optional<stream_ref> last_stream_of(const allocation_ref& owner, byte_range bytes) {
  if (!owner) return std::nullopt;
  access_log& log = owner.get().log;
  std::lock_guard lock(log);
  const logged_use* last = log.last_use(bytes);
  return last ? std::optional<stream_ref>(*last->by) : std::nullopt;
}

const char* kind_name(memory_kind k) {
  switch (k) {
    case memory_kind::device: return "device";
    case memory_kind::unified: return "unified";
    case memory_kind::host: return "host";
  }
  return "?";
}

}  // namespace ferry
