// Allocations of the three memory kinds, and the placement of unified memory.
#include <algorithm>
#include <cstdio>

#include "backend_class.hpp"
#include "ferry/core/detail/support/concat.hpp"
#include "ferry/core/detail/support/thread_affinity.hpp"
#include "platform/host_topology.hpp"

namespace ferry::inline FERRY_ABI::detail::cuda {

namespace {

void say_once_that_unified_is_pinned() {
  static std::once_flag said;
  std::call_once(said, [] {
    std::fputs(
        "ferry: this system lacks concurrent access to managed memory; unified arrays use pinned, mapped host memory\n",
        stderr);
  });
}

bool is_legacy(cudaStream_t s) { return s == nullptr || s == cudaStreamLegacy; }

// Returns the part that may be discarded: whole pages, because other data in a page must not be lost.
page_move whole_pages(const page_move& m) {
  constexpr std::uintptr_t page = std::uintptr_t{2} << 20;
  const auto at = reinterpret_cast<std::uintptr_t>(m.begin);
  const std::uintptr_t first = (at + page - 1) / page * page, end = (at + m.bytes) / page * page;
  if (first >= end) return {m.begin, 0, m.to};
  return {m.begin + (first - at), end - first, m.to};
}

}  // namespace

void* cuda_backend::allocate(memory_kind kind, int device, std::size_t bytes) {
  at(device, "allocate");
  const relaxed_scope relaxed;
  const device_scope current(device, "allocate");
  void* p = nullptr;
  cudaError_t e = cudaSuccess;
  switch (kind) {
    case memory_kind::device: e = cudaMalloc(&p, bytes); break;
    case memory_kind::unified:
      if (managed_) {
        e = cudaMallocManaged(&p, bytes, cudaMemAttachGlobal);
      } else {
        say_once_that_unified_is_pinned();
        e = cudaHostAlloc(&p, bytes, cudaHostAllocPortable | cudaHostAllocMapped);
      }
      break;
    case memory_kind::host: {
      const cores_scope near(nearer_cores(devices_[static_cast<std::size_t>(device)].properties.pci_bus_id));
      e = cudaHostAlloc(&p, bytes, cudaHostAllocPortable);
      break;
    }
  }
  if (e == cudaErrorMemoryAllocation) {
    clear_pending();
    device_memory left;
    if (cudaMemGetInfo(&left.free_bytes, &left.total_bytes) != cudaSuccess) {
      clear_pending();
      left = {};
    }
    throw out_of_memory(out_of_memory_text(kind, device, bytes, left), bytes);
  }
  check(e, "allocate", device);
  return p;
}

void cuda_backend::release(memory_kind kind, int device, void* p, std::size_t) {
  if (p == nullptr) return;
  const relaxed_scope relaxed;
  const device_scope current(device, "release");
  const bool pinned = kind == memory_kind::host || (kind == memory_kind::unified && !managed_);
  check(pinned ? cudaFreeHost(p) : cudaFree(p), "release", device);
}

pointer_attributes cuda_backend::attributes(const void* p) {
  const relaxed_scope relaxed;
  cudaPointerAttributes a{};
  check(cudaPointerGetAttributes(&a, p), "attributes");
  switch (a.type) {
    case cudaMemoryTypeDevice: return {true, memory_kind::device, a.device};
    case cudaMemoryTypeManaged: return {true, memory_kind::unified, std::max(a.device, 0)};
    case cudaMemoryTypeHost: return {true, memory_kind::host, std::max(a.device, 0)};
    default: return {};
  }
}

void cuda_backend::pin(void* p, std::size_t bytes) {
  const relaxed_scope relaxed;
  for (int d = 0; d < device_count(); ++d) {
    int same_address = 0;
    check(cudaDeviceGetAttribute(&same_address, cudaDevAttrCanUseHostPointerForRegisteredMem, d), "pin", d);
    if (same_address == 0)
      throw not_supported(
          concat("pin: device ", d, " sees memory that is pinned later at another address. Use a ferry::host_array"));
  }
  constexpr unsigned flags = cudaHostRegisterPortable | cudaHostRegisterMapped;
  cudaError_t e = cudaHostRegister(p, bytes, flags);
  if (e == cudaErrorInvalidValue) {  // pages that the process itself can only read, such as those of mapped files
    clear_pending();
    e = cudaHostRegister(p, bytes, flags | cudaHostRegisterReadOnly);
  }
  if (e == cudaErrorMemoryAllocation) {
    clear_pending();
    throw out_of_memory(concat("pin: the system pins no more: ", bytes,
                               " bytes. Pin less at a time; `ulimit -l` and the machine's RAM are the limits"),
                        bytes);
  }
  check(e, "pin");
}

void cuda_backend::unpin(void* p, std::size_t) {
  const relaxed_scope relaxed;
  check(cudaHostUnregister(p), "unpin");
}

// Both are hints: if unified memory is pinned, there is nothing to move or to advise.
void cuda_backend::prefetch(native_stream s, void* p, std::size_t bytes, memory_location to) {
  if (!to.is_host()) at(to.device, "prefetch");
  if (!managed_ || bytes == 0) return;
  check_on(prefetch_async(p, bytes, to, raw(s)), "prefetch", raw(s));
}

void cuda_backend::prefetch_many(native_stream s, std::span<const page_move> moves, bool discard_too) {
  for (const page_move& m : moves)
    if (!m.to.is_host()) at(m.to.device, "prefetch");
  if (!managed_ || moves.empty()) return;
  if (is_legacy(raw(s))) {  // the batch calls refuse it
    for (const page_move& m : moves) prefetch(s, m.begin, m.bytes, m.to);
    return;
  }
  std::vector<page_move> keep, drop;
  for (const page_move& m : moves) {
    const page_move inner = discard_too ? whole_pages(m) : page_move{m.begin, 0, m.to};
    const auto before = static_cast<std::size_t>(inner.begin - m.begin), after = m.bytes - before - inner.bytes;
    if (inner.bytes > 0) drop.push_back(inner);
    if (before > 0) keep.push_back({m.begin, before, m.to});
    if (after > 0) keep.push_back({inner.begin + inner.bytes, after, m.to});
  }
  if (!drop.empty()) check_on(prefetch_batch(drop, true, raw(s)), "prefetch without contents", raw(s));
  if (!keep.empty()) check_on(prefetch_batch(keep, false, raw(s)), "prefetch", raw(s));
}

void cuda_backend::discard(native_stream s, void* p, std::size_t bytes) {
  if (!managed_ || is_legacy(raw(s))) return;
  const page_move inner = whole_pages({static_cast<std::byte*>(p), bytes, {device_of(raw(s), "discard")}});
  if (inner.bytes == 0) return;
  const auto call = quirks_.discarded_pages_lose_writes ? discard_and_prefetch : discard_in_place;
  check_on(call(inner, raw(s)), "discard", raw(s));
}

std::optional<memory_location> cuda_backend::prefetched_to(const void* p, std::size_t bytes) const {
  if (!managed_ || bytes == 0) return {};
  int where = cudaInvalidDeviceId;
  const relaxed_scope relaxed;
  check(cudaMemRangeGetAttribute(&where, sizeof where, cudaMemRangeAttributeLastPrefetchLocation, p, bytes),
        "where pages were prefetched to", 0);
  if (where == cudaInvalidDeviceId) return {};
  return where == cudaCpuDeviceId ? memory_location{} : memory_location{where};
}

}  // namespace ferry::inline FERRY_ABI::detail::cuda
