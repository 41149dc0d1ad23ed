#include "ferry/core/array.hpp"

#include "array_blocks.hpp"
#include "ferry/core/error.hpp"
#include "ferry/core/machine.hpp"
#include "ferry/core/pool.hpp"
#include "ferry/core/workspace.hpp"
#include "memory_checker.hpp"

namespace ferry {
namespace {

// What an earlier owner of the bytes has told the driver does not hold for the next. Pages that reach over the block lose
// the advice as a whole: it is a hint.
void forget_advice(machine& m, allocation& a) {
  a.log.set_advised(false);
  const auto unset = [&](memory_advice what, memory_location where) {
    try {
      m.verbs().advise(a.begin, a.bytes, what, where);
    } catch (const device_error&) {  // a broken device: nobody is misled by hints about it
    }
  };
  unset(memory_advice::unset_read_mostly, {});
  unset(memory_advice::unset_preferred_location, {});
  unset(memory_advice::unset_accessed_by, {});
  for (const device d : m.devices()) unset(memory_advice::unset_accessed_by, {d.index()});
}

}  // namespace

allocation_ref detail::allocate_block(machine& m, memory_kind kind, int device, std::size_t bytes) {
  pool* const chosen = pool_scope::of(device);
  memory_pool& from = chosen ? chosen->of(kind) : m.pool(kind, device);
  const auto take = [&](std::size_t all) {
    allocation_ref fresh = from.allocate(all);
    if (fresh.get().log.is_advised()) [[unlikely]]
      forget_advice(m, fresh.get());
    return fresh;
  };
  if (m.checks_arrays.load(std::memory_order_relaxed)) [[unlikely]]
    return m.checker().allocate(bytes, take);
  return take(bytes);
}

allocation_ref allocate_array(memory_kind kind, device d, std::size_t count, std::size_t element_bytes) {
  machine& m = machine::current();
  (void)m.properties(d.index());
  std::size_t bytes = 0;
  if (__builtin_mul_overflow(count, element_bytes, &bytes))
    throw invalid_argument(std::to_string(count) + " elements of " + std::to_string(element_bytes) +
                           " bytes are more than 2^64 bytes");
  if (bytes == 0) return {};
  if (workspace_scope* const w = workspace_scope::current()) return w->allocate(kind, d.index(), bytes);
  return detail::allocate_block(m, kind, d.index(), bytes);
}

}  // namespace ferry
