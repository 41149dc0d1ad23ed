// Advice to the driver about the use of unified memory (cudaMemAdvise).
#include <algorithm>
#include <vector>

#include "backend_class.hpp"

namespace ferry::inline FERRY_ABI::detail::cuda {

namespace {

cudaMemoryAdvise native(memory_advice advice) {
  switch (advice) {
    case memory_advice::read_mostly: return cudaMemAdviseSetReadMostly;
    case memory_advice::unset_read_mostly: return cudaMemAdviseUnsetReadMostly;
    case memory_advice::preferred_location: return cudaMemAdviseSetPreferredLocation;
    case memory_advice::unset_preferred_location: return cudaMemAdviseUnsetPreferredLocation;
    case memory_advice::accessed_by: return cudaMemAdviseSetAccessedBy;
    case memory_advice::unset_accessed_by: return cudaMemAdviseUnsetAccessedBy;
  }
  return cudaMemAdviseSetReadMostly;
}

// CUDA maps memory for the CPU as a whole, and refuses NUMA nodes in this advice.
void tell(void* p, std::size_t bytes, memory_advice advice, memory_location where) {
  if (advice == memory_advice::accessed_by || advice == memory_advice::unset_accessed_by) where.numa_node = -1;
  check(cuda::advise(p, bytes, native(advice), where), "advise", where.device);
}

int attribute(const void* p, std::size_t bytes, cudaMemRangeAttribute what) {
  int value = 0;
  check(cudaMemRangeGetAttribute(&value, sizeof value, what, p, bytes), "advise", 0);
  return value;
}

// Returns the parts of the bytes that have a preferred location, whether ferry or another library set it. Omits steps
// of 2 MiB with different locations inside, because the driver reports none for them.
std::vector<page_move> preferences(void* p, std::size_t bytes) {
  std::vector<page_move> found;
  auto* const begin = static_cast<std::byte*>(p);
  const auto ask = [&](std::byte* at, std::size_t n) {
    const int id = attribute(at, n, cudaMemRangeAttributePreferredLocation);
    if (id == cudaInvalidDeviceId) return false;
    const memory_location where = id == cudaCpuDeviceId ? memory_location{} : memory_location{id};
    if (!found.empty() && found.back().to == where && found.back().begin + found.back().bytes == at)
      found.back().bytes += n;
    else
      found.push_back({at, n, where});
    return true;
  };
  if (ask(begin, bytes)) return found;
  for (std::size_t at = 0, n = 0; at < bytes; at += n) {
    const std::size_t into = reinterpret_cast<std::uintptr_t>(begin + at) % placed_pages::step;
    n = std::min<std::size_t>(bytes - at, placed_pages::step - into);
    (void)ask(begin + at, n);
  }
  return found;
}

}  // namespace

void cuda_backend::advise(void* p, std::size_t bytes, memory_advice advice, memory_location where) {
  if (!where.is_host()) at(where.device, "advise");
  if (!managed_ || bytes == 0) return;
  const relaxed_scope relaxed;
  if (!quirks_.read_mostly_keeps_old_mappings) return tell(p, bytes, advice, where);
  // Small arrays share pages: two threads that advise about one page must not interleave.
  const lock_guard lock(advice_mutex_);
  if (advice == memory_advice::preferred_location && !where.is_host()) placed_.add(p, bytes);
  if (advice == memory_advice::read_mostly) return duplicate(p, bytes);
  tell(p, bytes, advice, where);
}

// The workaround for read_mostly_keeps_old_mappings: moving the pages off all devices ends their mappings. Without a
// preferred location none is created again before the advice takes effect.
void cuda_backend::duplicate(void* p, std::size_t bytes) {
  if (attribute(p, bytes, cudaMemRangeAttributeReadMostly) != 0) return;
  // Placed by ferry, or by other code if all the bytes prefer one device.
  const bool placed = placed_.meets(p, bytes) || attribute(p, bytes, cudaMemRangeAttributePreferredLocation) >= 0;
  if (!placed) return tell(p, bytes, memory_advice::read_mostly, {});
  const std::vector<page_move> preferred = preferences(p, bytes);
  if (!leaving_) {
    const device_scope first(0, "advise");
    check(cudaStreamCreateWithFlags(&leaving_, cudaStreamNonBlocking), "advise", 0);
  }
  try {
    tell(p, bytes, memory_advice::unset_preferred_location, {});
    check(prefetch_async(p, bytes, {}, leaving_), "advise", 0);
    check(cudaStreamSynchronize(leaving_), "advise", 0);
    tell(p, bytes, memory_advice::read_mostly, {});
  } catch (...) {
    for (const page_move& m : preferred)
      if (cuda::advise(m.begin, m.bytes, cudaMemAdviseSetPreferredLocation, m.to) != cudaSuccess) clear_pending();
    throw;
  }
  for (const page_move& m : preferred) tell(m.begin, m.bytes, memory_advice::preferred_location, m.to);
}

}  // namespace ferry::inline FERRY_ABI::detail::cuda
