#include "ferry/core/operation.hpp"

namespace ferry::detail {

void need_peers(machine& m, int device, std::span<const access> uses) {
  for (const access& a : uses)
    if (a.what->kind == memory_kind::device) m.need_peer(device, a.what->device);
}

}  // namespace ferry::detail
