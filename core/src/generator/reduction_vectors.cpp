#include "generator/reduction_vectors.hpp"

#include <algorithm>
#include <cstdint>

namespace ferry::inline FERRY_ABI::detail::generator {
namespace {

// True if groups of `lanes` successive elements along axis 0 are neighbors in memory, and aligned.
bool are_vectors(const evaluation_operand& o, std::size_t rank, unsigned lanes) {
  const std::size_t size = size_of(o.type);
  const auto bytes = static_cast<std::ptrdiff_t>(lanes * size);
  if (o.stride_bytes[0] != static_cast<std::ptrdiff_t>(size)) return false;
  if (reinterpret_cast<std::uintptr_t>(o.data) % static_cast<std::size_t>(bytes) != 0) return false;
  for (std::size_t d = 1; d != rank; ++d)
    if (o.stride_bytes[d] % bytes != 0) return false;
  return true;
}

}  // namespace

bool can_load(const reduction_evaluation& r, unsigned lanes) {
  if (lanes == 1 || r.input.rank == 0 || r.input.extent[0] % lanes != 0) return false;
  for (const evaluation_operand& o : r.input.operands) {
    if (o.is_gathered) return false;
    if (o.stride_bytes[0] != 0 && !are_vectors(o, r.input.rank, lanes)) return false;
  }
  return true;
}

bool can_store(const reduction_evaluation& r, const evaluation_operand& to, unsigned lanes) {
  return lanes > 1 && r.input.extent[0] % lanes == 0 && lanes * size_of(to.type) <= 16 &&
         are_vectors(to, r.input.rank, lanes);
}

std::size_t widest_operand(const reduction_evaluation& r) {
  std::size_t most = 1;
  for (const evaluation_operand& o : r.input.operands) most = std::max(most, size_of(o.type));
  return most;
}

}  // namespace ferry::inline FERRY_ABI::detail::generator
