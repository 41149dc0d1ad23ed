#include "driver_pools.hpp"

#include <cstring>

#include <ferry/core/detail/support/concat.hpp>
#include <ferry/core/error.hpp>

#include "backend_class.hpp"

namespace ferry::inline FERRY_ABI::detail::cuda {
namespace {

cudaMemPool_t raw(native_pool p) { return static_cast<cudaMemPool_t>(p.handle); }

void set_options(cudaMemPool_t p, const pool_options& o, int device) {
  const auto set = [&](cudaMemPoolAttr what, auto value) {
    check(cudaMemPoolSetAttribute(p, what, &value), "set an attribute of a pool", device);
  };
  set(cudaMemPoolAttrReleaseThreshold, std::uint64_t{o.release_threshold});
  set(cudaMemPoolReuseFollowEventDependencies, int{o.reuse.follow_events});
  set(cudaMemPoolReuseAllowOpportunistic, int{o.reuse.opportunistic});
  set(cudaMemPoolReuseAllowInternalDependencies, int{o.reuse.internal_dependencies});
}

void set_access(cudaMemPool_t p, int device) {
  cudaMemAccessDesc one{};
  one.location = {cudaMemLocationTypeDevice, device};
  one.flags = cudaMemAccessFlagsProtReadWrite;
  check(cudaMemPoolSetAccess(p, &one, 1), "grant access to a pool", device);
}

}  // namespace

bool driver_pools::has_pools(memory_kind kind, int device) const {
  const auto has = [&](cudaDeviceAttr what) {
    int value = 0;
    check(cudaDeviceGetAttribute(&value, what, device), "has_pools", device);
    return value != 0;
  };
  if (!has(cudaDevAttrMemoryPoolsSupported)) return false;
  switch (kind) {
    case memory_kind::device: return true;
#if CUDART_VERSION >= 13000
    case memory_kind::host: return has(cudaDevAttrHostMemoryPoolsSupported);
#endif
    default: return false;  // of unified memory: driver_quirks::managed_pools_lose_bytes
  }
  return false;
}

native_pool driver_pools::create_pool(memory_kind kind, int device, const pool_options& options) {
  if (!has_pools(kind, device))
    throw not_supported("the driver has no pools for this kind of memory: use pool_kind::split");
  const relaxed_scope relaxed;
  cudaMemPoolProps props{};
  props.allocType = cudaMemAllocationTypePinned;
  props.handleTypes = options.shareable ? cudaMemHandleTypePosixFileDescriptor : cudaMemHandleTypeNone;
  props.location = {cudaMemLocationTypeDevice, device};
#if CUDART_VERSION >= 13000
  if (kind == memory_kind::host) props.location = {cudaMemLocationTypeHost, 0};
#endif
#if CUDART_VERSION >= 12020
  props.maxSize = options.max_bytes;
#endif
  cudaMemPool_t p = nullptr;
  check(cudaMemPoolCreate(&p, &props), "create_pool", device);
  set_options(p, options, device);
  if (kind == memory_kind::host)
    for (int d = 0; d < devices_; ++d) set_access(p, d);
  return keep(p, {kind, device});
}

native_pool driver_pools::default_pool(int device, const pool_options& options) {
  cudaMemPool_t p = nullptr;
  check(cudaDeviceGetDefaultMemPool(&p, device), "default_pool", device);
  set_options(p, options, device);
  return keep(p, {memory_kind::device, device});
}

native_pool_usage driver_pools::usage(native_pool p) {
  const auto value = [&](cudaMemPoolAttr what) {
    std::uint64_t bytes = 0;
    check(cudaMemPoolGetAttribute(raw(p), what, &bytes), "usage of a pool");
    return static_cast<std::size_t>(bytes);
  };
  return {value(cudaMemPoolAttrUsedMemCurrent), value(cudaMemPoolAttrReservedMemCurrent),
          value(cudaMemPoolAttrUsedMemHigh), value(cudaMemPoolAttrReservedMemHigh)};
}

void driver_pools::trim(native_pool p, std::size_t keep_bytes) {
  const relaxed_scope relaxed;
  check(cudaMemPoolTrimTo(raw(p), keep_bytes), "trim a pool");
}

// Grants one peer per call, never the owner, and checks peer support first. One bad entry would reject all of them.
// Without the check the call can succeed on an empty pool, and the next allocation fail.
void driver_pools::grant(native_pool p, int device) {
  const owner of = owner_of(p);
  if (of.kind != memory_kind::device || of.device == device) return;
  int can = 0;
  check(cudaDeviceCanAccessPeer(&can, device, of.device), "grant access to a pool", device);
  if (!can)
    throw peer_access_error(concat("device ", device, " has no way to the memory of device ", of.device,
                                   ", so not to its pools: copy the array first (ferry::clone_on)"));
  const relaxed_scope relaxed;
  set_access(raw(p), device);
}

void* driver_pools::allocate(native_pool p, std::size_t bytes, native_stream s) {
  const relaxed_scope relaxed;
  void* found = nullptr;
  const cudaError_t e = cudaMallocFromPoolAsync(&found, bytes, raw(p), cuda::raw(s));
  if (e == cudaErrorMemoryAllocation) {
    clear_pending();
    const owner of = owner_of(p);
    device_memory left;
    const device_scope current(of.device, "allocate from a pool");
    if (cudaMemGetInfo(&left.free_bytes, &left.total_bytes) != cudaSuccess) {
      clear_pending();
      left = {};
    }
    throw out_of_memory(out_of_memory_text(of.kind, of.device, bytes, left), bytes);
  }
  check(e, "allocate from a pool");
  return found;
}

void driver_pools::free(void* p, native_stream s) {
  const relaxed_scope relaxed;
  check(cudaFreeAsync(p, cuda::raw(s)), "free to a pool");
}

int driver_pools::export_pool(native_pool p) {
  int descriptor = -1;
  check(cudaMemPoolExportToShareableHandle(&descriptor, raw(p), cudaMemHandleTypePosixFileDescriptor, 0),
        "export_pool");
  return descriptor;
}

// An imported pool inherits no access, not even that of its own device.
native_pool driver_pools::import_pool(int device, int descriptor) {
  cudaMemPool_t p = nullptr;
  const device_scope current(device, "import_pool");
  check(cudaMemPoolImportFromShareableHandle(&p, reinterpret_cast<void*>(static_cast<std::intptr_t>(descriptor)),
                                             cudaMemHandleTypePosixFileDescriptor, 0),
        "import_pool", device);
  set_access(p, device);
  return keep(p, {memory_kind::device, device});
}

shared_pointer_key driver_pools::export_pointer(void* p) {
  cudaMemPoolPtrExportData data{};
  check(cudaMemPoolExportPointer(&data, p), "export_pointer");
  shared_pointer_key key{};
  static_assert(sizeof data <= sizeof key);
  std::memcpy(key.data(), &data, sizeof data);
  return key;
}

void* driver_pools::import_pointer(native_pool p, const shared_pointer_key& key) {
  cudaMemPoolPtrExportData data{};
  std::memcpy(&data, key.data(), sizeof data);
  void* found = nullptr;
  check(cudaMemPoolImportPointer(&found, raw(p), &data), "import_pointer");
  return found;
}

native_event driver_pools::create_shared_event(int device) {
  const relaxed_scope relaxed;
  const device_scope current(device, "create_shared_event");
  cudaEvent_t e = nullptr;
  check(cudaEventCreateWithFlags(&e, unsigned{cudaEventDisableTiming} | unsigned{cudaEventInterprocess}),
        "create_shared_event", device);
  return {e};
}

shared_event_key driver_pools::export_event(native_event e) {
  cudaIpcEventHandle_t data{};
  check(cudaIpcGetEventHandle(&data, cuda::raw(e)), "export_event");
  shared_event_key key{};
  static_assert(sizeof data <= sizeof key);
  std::memcpy(key.data(), &data, sizeof data);
  return key;
}

native_event driver_pools::import_event(const shared_event_key& key) {
  cudaIpcEventHandle_t data{};
  std::memcpy(&data, key.data(), sizeof data);
  cudaEvent_t e = nullptr;
  check(cudaIpcOpenEventHandle(&e, data), "import_event");
  return {e};
}

driver_pools::owner driver_pools::owner_of(native_pool p) const {
  lock_guard lock(mutex_);
  const auto found = owners_.find(p.handle);
  return found == owners_.end() ? owner{} : found->second;
}

native_pool driver_pools::keep(cudaMemPool_t p, owner o) {
  lock_guard lock(mutex_);
  owners_[p] = o;
  return {p};
}

}  // namespace ferry::inline FERRY_ABI::detail::cuda
