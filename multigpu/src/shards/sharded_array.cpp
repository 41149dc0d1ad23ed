#include "ferry/multigpu/sharded_array.hpp"

#include <cstdint>
#include <string>

#include "ferry/core/detail/support/concat.hpp"
#include "ferry/core/runtime.hpp"

namespace ferry::inline FERRY_ABI::detail {
namespace {
constexpr std::size_t edge = std::size_t{2} << 20;       // granularity of moves of managed memory
constexpr std::size_t staggers = std::size_t{16} << 10;  // pools begin large arrays less than this beyond an edge

std::size_t up_to_edge(std::size_t n) { return (n + edge - 1) / edge * edge; }
}  // namespace

std::vector<std::size_t> checked_shard_bytes(std::span<const std::size_t> counts, std::size_t whole,
                                             std::size_t element_bytes, const std::string& shape) {
  std::size_t bytes = 0, all = 0;
  std::vector<std::size_t> each;
  bool fits = !__builtin_mul_overflow(whole, element_bytes, &bytes) && bytes <= PTRDIFF_MAX;
  for (const std::size_t n : counts) {
    std::size_t page = 0;  // up to its edge
    fits = fits && !__builtin_mul_overflow(n, element_bytes, &bytes) &&
           !__builtin_add_overflow(bytes, staggers + edge, &page) && !__builtin_add_overflow(all, page, &all);
    each.push_back(bytes);
  }
  if (!fits || all > PTRDIFF_MAX)
    throw invalid_argument(concat("a sharded array of shape ", shape, " with elements of ", element_bytes,
                                  " bytes has more than 2^63 bytes: make it smaller"));
  return each;
}

shared_allocation allocate_shards(const team& t, std::span<const std::size_t> bytes) {
  std::size_t all = 0;
  for (const std::size_t n : bytes) all += n ? up_to_edge(n + staggers) : 0;
  shared_allocation a;
  a.begin.assign(bytes.size(), nullptr);
  if (all == 0) return a;
  a.owner = allocate_array(memory_kind::unified, t.device(t.first_local()), all + edge, 1);
  const auto at = reinterpret_cast<std::uintptr_t>(a.owner.get().begin);
  const std::size_t beyond_edge = at % staggers;
  std::byte* next = a.owner.get().begin + (at % edge < staggers ? 0 : up_to_edge(at) - at + beyond_edge);
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    if (bytes[i] == 0) continue;
    a.begin[i] = next;
    advise_bytes(a.owner, {next, next + bytes[i]}, memory_advice::preferred_location,
                 memory_location{t.device(t.first_local() + i).index()});
    next += up_to_edge(bytes[i] + beyond_edge);
  }
  return a;
}

}  // namespace ferry::inline FERRY_ABI::detail
