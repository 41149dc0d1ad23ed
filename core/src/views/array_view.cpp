#include "ferry/core/array_view.hpp"

#include <mutex>

#include "ferry/core/detail/support/concat.hpp"

namespace ferry::inline FERRY_ABI {

using namespace detail;

void detail::throw_bad_slice(const slice& s, std::size_t extent, std::size_t dimension, const std::string& of) {
  const std::string where = concat(" in dimension ", dimension, " of ", of);
  if (s.step == 0) throw invalid_argument("a slice has step 0" + where);
  const std::ptrdiff_t end = s.end_in(extent);
  const std::string range = concat("the range [", s.begin, ", ", end, ")", where);
  if (s.begin <= end) throw invalid_argument(range + " lies outside of it");
  throw invalid_argument(range +
                         " ends before it begins: give begin and end of each dimension, {{begin, end}, {begin, end}}");
}

std::size_t detail::checked_slice(const slice& s, std::size_t extent, std::size_t dimension, const array_look& of) {
  const std::ptrdiff_t end = s.end_in(extent);
  if (!s.fits(extent)) throw_bad_slice(s, extent, dimension, array_text(of));
  const std::size_t step =
      s.step > 0 ? static_cast<std::size_t>(s.step) : std::size_t{0} - static_cast<std::size_t>(s.step);
  const auto elements = static_cast<std::size_t>(end - s.begin);
  return elements / step + (elements % step != 0);
}

void detail::throw_out_of_range(std::size_t index, std::size_t extent, std::size_t dimension, const array_look& of,
                                source_line at) {
  throw invalid_argument(concat("index ", static_cast<std::ptrdiff_t>(index), " in dimension ", dimension, " of ",
                                array_text(of), in_line(at), " is outside its extent ", extent));
}

std::optional<stream_ref> detail::last_stream_of(const allocation_ref& owner, byte_range bytes) {
  if (!owner) return std::nullopt;
  access_history& log = owner.get().history;
  std::lock_guard lock(log);
  const access_record* last = log.last_use(bytes);
  return last ? std::optional<stream_ref>(*last->by) : std::nullopt;
}

}  // namespace ferry::inline FERRY_ABI
