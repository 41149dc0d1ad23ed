#include "ferry/core/array.hpp"

#include "ferry/core/machine.hpp"
#include "ferry/core/pool.hpp"

namespace ferry {

allocation_ref allocate_array(memory_kind kind, device d, std::size_t count, std::size_t element_bytes) {
  pool* const chosen = pool_scope::of(d.index());
  memory_pool& from = chosen ? chosen->of(kind) : machine::current().pool(kind, d.index());
  std::size_t bytes = 0;
  if (__builtin_mul_overflow(count, element_bytes, &bytes))
    throw invalid_argument(std::to_string(count) + " elements of " + std::to_string(element_bytes) +
                           " bytes are more than 2^64 bytes");
  if (bytes == 0) return {};
  return from.allocate(bytes);
}

}  // namespace ferry
