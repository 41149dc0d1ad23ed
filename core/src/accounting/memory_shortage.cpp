#include "ferry/core/memory_shortage.hpp"

#include <string>
#include <vector>

#include "ferry/core/detail/support/concat.hpp"
#include "support/memory_sizes.hpp"

namespace ferry::inline FERRY_ABI {

using namespace detail;

namespace {

std::string name_of(const memory_shortage::holder& h) {
  if (h.label.empty()) return "arrays without a name or tag";
  return h.is_tag ? "tag '" + h.label + "'" : "'" + h.label + "'";
}

std::string joined(const std::vector<std::string>& parts) {
  std::string s;
  for (const std::string& p : parts) s += (s.empty() ? "" : "; ") + p;
  return s;
}

}  // namespace

std::string memory_shortage::text() const {
  const std::string on = concat("device ", device);
  std::string s = concat("out of memory: cannot allocate ", bytes_text(requested), " of ", kind_name(kind),
                         " memory on ", on, ".\n  why: ", why);
  s += "\n  " + on + ": " + bytes_text(free_bytes) + " free of " + bytes_text(total_bytes) + "; this process holds " +
       bytes_text(this_process) + " through ferry";
  s += concat("\n  ", kind_name(kind), " memory there: ", bytes_text(allocated), " allocated by arrays, ",
              retained + quarantined > 0 ? retained_text(retained, quarantined) + ", " : "", bytes_text(reserved),
              " reserved by pools, largest free block ", bytes_text(largest_free_block));
  s += "\n  limits: " + (limits.empty() ? "none" : joined(limits));
  s += "\n  largest holders: ";
  if (holders.empty()) s += "none";
  for (std::size_t i = 0; i < holders.size(); ++i)
    s += concat(i == 0 ? "" : ", ", name_of(holders[i]), " ", bytes_text(holders[i].bytes), " in ", holders[i].arrays,
                holders[i].arrays == 1 ? " array" : " arrays");
  s += "\n  tried: ";
  if (tried.empty()) s += "nothing";
  for (std::size_t i = 0; i < tried.size(); ++i)
    s += (i == 0 ? "" : ", ") + tried[i].handler + " (" + bytes_text(tried[i].freed_bytes) + ")";
  return s + "\n  what to try: " + joined(advice);
}

}  // namespace ferry::inline FERRY_ABI
