// What the driver is told about the use of unified memory.
#include <algorithm>
#include <vector>

#include "backend_class.hpp"

namespace ferry::cuda {

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

void tell(void* p, std::size_t bytes, memory_advice advice, memory_location where) {
  check(cudaMemAdvise(p, bytes, native(advice), to_place(where)), "advise", where.device);
}

// The preferred location of all these bytes, in `where`: no if they have none, or several.
bool have_one_place(const void* p, std::size_t bytes, memory_location& where) {
  int id = cudaInvalidDeviceId;
  check(cudaMemRangeGetAttribute(&id, sizeof id, cudaMemRangeAttributePreferredLocation, p, bytes), "advise", 0);
  if (id == cudaInvalidDeviceId) return false;
  where = id == cudaCpuDeviceId ? memory_location{} : memory_location{id};
  return true;
}

// Which of the bytes prefer to be where. Those of a step of 2 MiB that differ among themselves are left out.
std::vector<page_move> preferences(void* p, std::size_t bytes) {
  memory_location where;
  if (have_one_place(p, bytes, where)) return {{static_cast<std::byte*>(p), bytes, where}};
  std::vector<page_move> found;
  auto* const begin = static_cast<std::byte*>(p);
  for (std::size_t at = 0, n = 0; at < bytes; at += n) {
    n = std::min<std::size_t>(bytes - at,
                              placed_pages::step - reinterpret_cast<std::uintptr_t>(begin + at) % placed_pages::step);
    if (have_one_place(begin + at, n, where)) found.push_back({begin + at, n, where});
  }
  return found;
}

}  // namespace

void cuda_backend::advise(void* p, std::size_t bytes, memory_advice advice, memory_location where) {
  if (!where.is_host()) at(where.device, "advise");
  if (!managed_ || bytes == 0) return;
  const relaxed_scope relaxed;
  if (advice == memory_advice::preferred_location && !where.is_host() && device_count() > 1) placed_.add(p, bytes);
  if (advice == memory_advice::read_mostly && placed_.meet(p, bytes)) return duplicate_placed(p, bytes);
  tell(p, bytes, advice, where);
}

// Driver 580 gives wrong bytes when pages that live on a device, and that another device has mapped there, are then read
// mostly: duplicates and writes later leave that mapping behind (docs/decisions/0027). Leaving all devices ends mappings, and
// without a preferred location none comes back before the advice holds.
void cuda_backend::duplicate_placed(void* p, std::size_t bytes) {
  const std::vector<page_move> preferred = preferences(p, bytes);
  tell(p, bytes, memory_advice::unset_preferred_location, {});
  {
    const std::lock_guard lock(leaving_mutex_);
    if (!leaving_) {
      const device_scope first(0, "advise");
      check(cudaStreamCreateWithFlags(&leaving_, cudaStreamNonBlocking), "advise", 0);
    }
    check(prefetch_async(p, bytes, to_place({}), leaving_), "advise", 0);
    check(cudaStreamSynchronize(leaving_), "advise", 0);
  }
  tell(p, bytes, memory_advice::read_mostly, {});
  for (const page_move& m : preferred) tell(m.begin, m.bytes, memory_advice::preferred_location, m.to);
}

}  // namespace ferry::cuda
