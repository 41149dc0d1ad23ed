// Devices: properties, peers, the current device.
#include <algorithm>
#include <array>
#include <cctype>

#include "backend_class.hpp"
#include "ferry/core/detail/support/concat.hpp"

namespace ferry::inline FERRY_ABI::detail::cuda {

std::unique_ptr<detail::backend> make_backend() {
  if (probe() != presence::usable)
    throw device_error(
        "there is no CUDA driver or no visible device (CUDA_VISIBLE_DEVICES?). "
        "Set FERRY_BACKEND=sim to run on the simulator");
  int devices = 0;
  check(cudaGetDeviceCount(&devices), "make_backend");
  return std::make_unique<cuda_backend>(devices);
}

namespace {

// Returns the bus ID in lower case, as Linux names it; "" if the query fails.
std::string pci_bus_id_of(int device) {
  std::array<char, 32> text{};
  if (cudaDeviceGetPCIBusId(text.data(), static_cast<int>(text.size()), device) != cudaSuccess)
    return clear_pending(), "";
  std::string id(text.data());
  std::transform(id.begin(), id.end(), id.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return id;
}

}  // namespace

cuda_backend::cuda_backend(int devices)
    : quirks_{.managed_pools_lose_bytes = true,
              .aligned_arrays_delay_loads = true,
              .read_mostly_keeps_old_mappings = devices > 1,
              .links_may_lose_bytes = devices > 1,
              .discarded_pages_lose_writes = can_discard,
              .faults_fetch_neighbours = true} {
  for (int d = 0; d < devices; ++d) {
    cudaDeviceProp p{};
    check(cudaGetDeviceProperties(&p, d), "properties", d);
    device_entry entry;
    entry.properties = {.name = p.name,
                        .memory_bytes = p.totalGlobalMem,
                        .multiprocessors = p.multiProcessorCount,
                        .compute_major = p.major,
                        .compute_minor = p.minor,
                        .concurrent_managed_access = p.concurrentManagedAccess != 0,
                        .pageable_memory_access = p.pageableMemoryAccess != 0,
                        .pci_bus_id = pci_bus_id_of(d)};
    entry.most_pitch = p.memPitch;
    entry.most_blocks = static_cast<unsigned>(std::max(1, p.multiProcessorCount)) * 32u;
    managed_ = managed_ && p.managedMemory != 0 && p.concurrentManagedAccess != 0;
    devices_.push_back(std::move(entry));
  }
  pools_ = std::make_unique<driver_pools>(devices);
  std::vector<jit::architecture> targets;
  for (const device_entry& d : devices_) targets.push_back({d.properties.compute_major, d.properties.compute_minor});
  kernels_ = std::make_unique<expression_kernels>(std::move(targets));
}

const cuda_backend::device_entry& cuda_backend::at(int device, std::string_view verb) const {
  if (device < 0 || device >= device_count())
    throw invalid_argument(concat(verb, ": there is no device ", device, "; this process sees ", device_count(),
                                  ". Check the number and CUDA_VISIBLE_DEVICES"));
  return devices_[static_cast<std::size_t>(device)];
}

device_properties cuda_backend::properties(int device) const { return at(device, "properties").properties; }

device_memory cuda_backend::memory(int device) const {
  at(device, "memory");
  const relaxed_scope relaxed;
  const device_scope current(device, "memory");
  device_memory m;
  check(cudaMemGetInfo(&m.free_bytes, &m.total_bytes), "memory", device);
  return m;
}

bool cuda_backend::can_access_peer(int device, int peer) const {
  at(device, "can_access_peer");
  at(peer, "can_access_peer");
  if (device == peer) return true;
  int can = 0;
  check(cudaDeviceCanAccessPeer(&can, device, peer), "can_access_peer", device);
  return can != 0;
}

void cuda_backend::enable_peer_access(int device, int peer) {
  if (!can_access_peer(device, peer))
    throw peer_access_error(concat(
        "enable_peer_access: device ", device, " (", devices_[static_cast<std::size_t>(device)].properties.name,
        ") has no way to the memory of device ", peer, " (", devices_[static_cast<std::size_t>(peer)].properties.name,
        "). Copies between them still work (staged); for kernels copy the array first (ferry::clone_on), or use a "
        "unified array"));
  if (device == peer) return;
  const relaxed_scope relaxed;
  const device_scope current(device, "enable_peer_access");
  const cudaError_t e = cudaDeviceEnablePeerAccess(peer, 0);
  if (e == cudaErrorPeerAccessAlreadyEnabled) return clear_pending();
  check(e, "enable_peer_access", device);
}

void cuda_backend::disable_peer_access(int device, int peer) {
  at(device, "disable_peer_access");
  at(peer, "disable_peer_access");
  if (device == peer) return;
  const relaxed_scope relaxed;
  const device_scope current(device, "disable_peer_access");
  const cudaError_t e = cudaDeviceDisablePeerAccess(peer);
  if (e == cudaErrorPeerAccessNotEnabled) return clear_pending();
  check(e, "disable_peer_access", device);
}

peer_properties cuda_backend::peer(int device, int peer) const {
  peer_properties p;
  p.access = can_access_peer(device, peer);
  if (device == peer) return {true, true, 0};
  int atomics = 0;
  check(cudaDeviceGetP2PAttribute(&p.rank, cudaDevP2PAttrPerformanceRank, device, peer), "peer", device);
  check(cudaDeviceGetP2PAttribute(&atomics, cudaDevP2PAttrNativeAtomicSupported, device, peer), "peer", device);
  p.atomics = atomics != 0;
  return p;
}

int cuda_backend::exchange_current_device(int device) {
  at(device, "exchange_current_device");
  int before = 0;
  check(cudaGetDevice(&before), "exchange_current_device", device);
  if (before != device) check(cudaSetDevice(device), "exchange_current_device", device);
  return before;
}

}  // namespace ferry::inline FERRY_ABI::detail::cuda
