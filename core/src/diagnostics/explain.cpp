#include "ferry/core/explain.hpp"

#include "ferry/core/detail/support/concat.hpp"
#include "ferry/core/detail/support/plain_text.hpp"
#include "ferry/core/runtime.hpp"

namespace ferry::inline FERRY_ABI::detail {

std::string headline(std::string_view type, std::string_view kind, const std::string& shape,
                     const allocation_ref& owner) {
  std::string s = concat(kind, " array of ", shape, " ", type);
  if (!owner) return s + ", empty";
  s += concat(" on device ", owner.unchecked()->device);
  if (owner.is_freed()) return s + ", freed";
  if (!owner.get().name.empty()) s += ", named '" + owner.get().name.get() + "'";
  return s;
}

std::string explain_allocation(const allocation_ref& owner, byte_range bytes) {
  if (!owner) return "  no bytes\n";
  if (owner.is_freed()) return "  its bytes were released: by free(), or at the end of a borrow\n";
  allocation& a = owner.get();
  const byte_range all = range_now(a);
  plain_stream out;
  out << "  bytes " << (bytes.begin - all.begin) << " to " << (bytes.end - all.begin) << " of a block of " << all.size()
      << " in the pool of " << kind_name(a.kind) << " memory of device " << int{a.device} << '\n';
  runtime& m = runtime::current();
  access_policy* const p = &a.resource->backend() == &m.backend() ? m.policy() : nullptr;
  if (p && a.kind == memory_kind::unified) out << p->explain(a);
  std::lock_guard lock(a.history);
  std::size_t pending = 0;
  for (const access_record& u : a.history.uses()) {
    if (!u.where.overlaps(bytes)) continue;
    const bool over = u.by->finished(u.at);
    pending += !over;
    out << "  " << (u.write ? "written" : "read") << " by stream " << u.by->id() << " of device " << u.by->device();
    if (u.at == open_ticket)
      out << " through a raw pointer that is still out";
    else
      out << ", ticket " << u.at << " of " << u.by->last() << (over ? ", finished" : ", not known to be finished");
    if (u.write && u.by->is_lost(u.at)) out << ", lost: device " << u.by->lost_by(u.at) << " failed";
    out << ", bytes " << (u.where.begin - all.begin) << " to " << (u.where.end - all.begin) << '\n';
  }
  if (pending == 0) out << "  nothing that the CPU would have to wait for\n";
  if (a.history.is_contended()) out << "  shared by several streams lately: its submissions are marked at once\n";
  return out.str();
}

}  // namespace ferry::inline FERRY_ABI::detail
