#include "ferry/core/array_view.hpp"

#include <mutex>

namespace ferry {

std::size_t checked_slice(const slice& s, std::size_t extent, std::size_t dimension, const std::string& shape) {
  const std::ptrdiff_t end = s.end_in(extent);
  const std::string where = " in dimension " + std::to_string(dimension);
  if (s.step == 0) throw invalid_argument("a slice has step 0" + where);
  const auto range = [&] { return "[" + std::to_string(s.begin) + ", " + std::to_string(end) + ")" + where; };
  if (s.begin < 0 || end < 0 || static_cast<std::size_t>(std::max(s.begin, end)) > extent)
    throw invalid_argument("the range " + range() + " lies outside an array of shape " + shape);
  if (s.begin > end)
    throw invalid_argument("the range " + range() + " ends before it begins, of an array of shape " + shape +
                           ": give begin and end of each dimension, {{begin, end}, {begin, end}}");
  const std::size_t step =
      s.step > 0 ? static_cast<std::size_t>(s.step) : std::size_t{0} - static_cast<std::size_t>(s.step);
  const auto elements = static_cast<std::size_t>(end - s.begin);
  return elements / step + (elements % step != 0);
}

void throw_out_of_range(std::size_t index, std::size_t extent, std::size_t dimension, const allocation* of) {
  detail::index_failed(of ? of->name.get().c_str() : "", static_cast<int>(dimension), index, extent);
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
