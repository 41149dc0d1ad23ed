// Hints of random programs, and diagnostics for a wrong read.
#include <cstdlib>
#include <cstring>

#include "race/executor.hpp"

namespace fr = ferry;

namespace race {
namespace {

bool is_asked_for(char kind) {
  const char* const only = std::getenv("FERRY_TEST_HINTS");
  return !only || std::strchr(only, kind);
}

// True if the step writes every element of its range, whatever the previous values.
bool overwrites(const step& s) {
  switch (s.what) {
    case op::set:
    case op::fill:
    case op::copy:
    case op::turn:
    case op::upload:
    case op::host_write:
    case op::temporary: return true;
    case op::shard: return s.lo == 0;  // then the writes begin at the first element
    default: return false;
  }
}

}  // namespace

void executor::discard_before(const step& s, u32 number) {
  const auto slot = static_cast<std::size_t>(s.y);
  if (!arrays_[slot]) return;  // the step creates it
  auto* a = std::get_if<fr::unified_array<u32>>(&arrays_[slot]->a);
  if (!a || pointed_at_[slot] || !overwrites(s) || number / 8 % 2 == 0 || !is_asked_for('d')) return;
  hinted_[slot] += " d[" + std::to_string(s.lo) + "," + std::to_string(s.lo + s.n) + ")/s" +
                   std::to_string(number / 16 % shared_streams);
  fr::discard(stream(static_cast<int>(number / 16 % shared_streams)), a->slice({s.lo, s.lo + s.n}));
}

void executor::hint(u32 number) {
  auto* a = std::get_if<fr::unified_array<u32>>(&arrays_[number % slots]->a);
  if (!a || a->empty() || pointed_at_[number % slots]) return;
  const std::size_t lo = number / 64 % a->size(), n = 1 + number / 4096 % (a->size() - lo);
  const auto range = a->slice({lo, lo + n});
  const fr::device d = fr::devices()[number / 1024 % fr::devices().size()];
  const fr::stream_ref s = stream(static_cast<int>(number / 16 % shared_streams));
  const u32 kind = number / 131072 % 10;
  if (!is_asked_for(static_cast<char>('0' + kind))) return;
  hinted_[number % slots] += " " + std::to_string(kind) + "[" + std::to_string(lo) + "," + std::to_string(lo + n) +
                             ")@" + std::to_string(d.index()) + "/s" + std::to_string(number / 16 % shared_streams);
  switch (kind) {
    case 0:
    case 1: return fr::prefetch(s, range, d);
    case 2: return fr::prefetch(s, range, fr::host);
    case 3: return fr::prefetch(s, {{range, d}, {*a, fr::host}});
    case 4: return fr::advise(range, fr::advice::read_mostly);
    case 5: return fr::advise(range, fr::advice::unset_read_mostly);
    case 6: return fr::advise(range, fr::advice::preferred_location, d);
    case 7: return fr::advise(range, fr::advice::unset_preferred_location, d);
    case 8: return fr::advise(range, fr::advice::accessed_by, d);
    default: return fr::advise(range, fr::advice::unset_accessed_by, d);
  }
}

std::string executor::explain(const step& s) {
  if (s.what != op::host_read && s.what != op::host_scan) return {};
  const std::size_t lo = s.what == op::host_read ? s.lo : 0;
  const auto differing = [&](const std::vector<u32>& found) {
    std::string text;
    int shown = 0;
    for (std::size_t i = 0; i < found.size(); ++i)
      if (found[i] != s.expect[i] && ++shown <= 3)
        text +=
            " [" + std::to_string(lo + i) + "] is " + std::to_string(found[i]) + ", not " + std::to_string(s.expect[i]);
    return std::to_string(shown) + " of " + std::to_string(found.size()) + " differ" + text;
  };
  return std::visit(
      [&](auto& a) {
        const auto range = a.slice({lo, lo + s.expect.size()});
        std::string text = std::string("; ") + fr::kind_name(a.kind) + (s.flag ? ", read in place" : ", copied") +
                           "; copied again: " + differing(fr::to_vector(range));
        for (int i = 0; i < streams; ++i) stream(i).synchronize();
        text += "; at rest, copied: " + differing(fr::to_vector(range));
        if constexpr (fr::is_host_accessible(std::remove_reference_t<decltype(a)>::kind)) {
          const u32* at = a.unsynchronized_data() + lo;
          text += "; at rest, in place: " + differing(std::vector<u32>(at, at + s.expect.size()));
        }
        return text + "; hints:" + hinted_[static_cast<std::size_t>(s.y)];
      },
      arrays_[static_cast<std::size_t>(s.y)]->a);
}

}  // namespace race
