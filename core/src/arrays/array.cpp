#include "ferry/core/basic_array.hpp"

#include "checking/memory_checker.hpp"
#include "ferry/core/detail/pools/memory_pool.hpp"
#include "ferry/core/detail/pools/runtime_pools.hpp"
#include "ferry/core/detail/runtime/peer.hpp"
#include "ferry/core/detail/support/concat.hpp"
#include "ferry/core/error.hpp"
#include "ferry/core/memory_shortage.hpp"
#include "ferry/core/pool.hpp"
#include "ferry/core/runtime.hpp"
#include "ferry/core/workspace.hpp"
#include "pools/array_blocks.hpp"

namespace ferry::inline FERRY_ABI {

using namespace detail;

namespace {

// Removes the memory advice of a previous owner of the bytes. A page that extends beyond the block loses it as a whole.
// Never blocks.
void forget_advice(backend& b, allocation& a) {
  a.history.set_advised(false);
  const auto unset = [&](memory_advice what, memory_location where) {
    try {
      b.advise(a.begin, a.bytes, what, where);
    } catch (const device_error&) {  // a failed device: hints about it do no harm
    }
  };
  unset(memory_advice::unset_read_mostly, {});
  unset(memory_advice::unset_preferred_location, {});
  unset(memory_advice::unset_accessed_by, {});
  for (int d = 0; d < b.device_count(); ++d) unset(memory_advice::unset_accessed_by, {d});
}

// Allocates on the device with the most free memory, among those whose memory kernels of `device` can reach. Null if
// there is none.
allocation_ref allocate_on_a_peer(runtime& m, int device, std::size_t bytes) {
  int best = device;
  std::size_t most = 0;
  for (const ferry::device d : m.devices()) {
    const int peer = d.index();
    if (peer == device || !m.can_reach(device, peer)) continue;
    const std::size_t room =
        m.backend().memory(peer).free_bytes + m.pool(memory_kind::device, peer).state().largest_free_bytes;
    if (room >= bytes && room > most) best = peer, most = room;
  }
  if (best == device) return {};
  try {
    return m.pool(memory_kind::device, best).allocate(bytes);
  } catch (const out_of_memory&) {  // the caller reports its first error
    return {};
  }
}

allocation_ref allocate_or_spill(runtime& m, memory_pool& from, bool may_spill, std::size_t bytes) {
  try {
    return from.allocate(bytes);
  } catch (const out_of_memory& e) {
    if (!may_spill || from.kind() != memory_kind::device || !m.memory().handlers().policy().spill_to_peers) throw;
    if (allocation_ref elsewhere = allocate_on_a_peer(m, from.device(), bytes)) return elsewhere;
    if (!e.shortage()) throw;
    memory_shortage s = *e.shortage();
    s.tried.push_back({"placing the array on a peer, of which none has room", 0});
    const std::string text = s.text();
    throw out_of_memory(text, e.requested(), std::make_shared<const memory_shortage>(std::move(s)));
  }
}

}  // namespace

memory_pool& detail::pool_of_new_arrays(runtime& m, memory_kind kind, int device, std::size_t bytes) {
  pool* const chosen = pool_scope::of(device);
  return chosen ? chosen->of(kind) : m.pools().for_array(kind, device, bytes);
}

allocation_ref detail::allocate_block(runtime& m, memory_kind kind, int device, std::size_t bytes) {
  const auto take = [&](std::size_t all) {
    memory_pool& from = pool_of_new_arrays(m, kind, device, all);
    allocation_ref fresh = allocate_or_spill(m, from, !pool_scope::of(device), all);
    if (fresh.get().history.is_advised() && !m.peers().loses_pages())
        [[unlikely]]  // if links lose pages, other blocks of the page need the advice
      forget_advice(m.backend(), fresh.get());
    return fresh;
  };
  if (m.checker().is_on()) [[unlikely]]
    return m.checker().allocate(bytes, take);
  return take(bytes);
}

allocation_ref detail::allocate_array(memory_kind kind, device d, std::size_t count, std::size_t element_bytes) {
  runtime& m = runtime::current();
  (void)m.properties(d.index());
  std::size_t bytes = 0;
  if (__builtin_mul_overflow(count, element_bytes, &bytes))
    throw invalid_argument(concat(count, " elements of ", element_bytes, " bytes are more than 2^64 bytes"));
  if (bytes == 0) return {};
  if (workspace_turn* const w = workspace_scope::current()) return w->allocate(kind, d.index(), bytes);
  return allocate_block(m, kind, d.index(), bytes);
}

void detail::name_allocation(allocation& a, std::string text) { a.resource->rename(a, std::move(text)); }

}  // namespace ferry::inline FERRY_ABI
