#include "ferry/core/detail/copies/out_of_reach.hpp"

#include <algorithm>

#include "copies/copy_engine.hpp"
#include "ferry/core/detail/runtime/peer.hpp"
#include "ferry/core/detail/runtime/submission.hpp"
#include "ferry/core/runtime.hpp"

namespace ferry::inline FERRY_ABI::detail {

bool is_out_of_reach(int device, const access& a) { return !runtime::current().copies().reaches(device, *a.what); }

bool needs_staging(stream_ref s, std::span<const access> uses) {
  if (!runtime::current().peers().stages_kernels()) return false;
  need_current(s, uses);
  return std::any_of(uses.begin(), uses.end(),
                     [&](const access& a) { return is_out_of_reach(s.timeline().device(), a); });
}

}  // namespace ferry::inline FERRY_ABI::detail
