#include "ferry/multigpu/sharded_array.hpp"

#include <cstdint>

#include "ferry/core/machine.hpp"

namespace ferry::detail {
namespace {
constexpr std::size_t edge = std::size_t{2} << 20;       // what managed memory moves by
constexpr std::size_t staggers = std::size_t{16} << 10;  // where pools let large arrays begin

std::size_t up_to_edge(std::size_t n) { return (n + edge - 1) / edge * edge; }
}  // namespace

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

}  // namespace ferry::detail
