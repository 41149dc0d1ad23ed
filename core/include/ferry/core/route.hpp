/// @file
/// The route that the bytes of a copy take, and why.
#pragma once
#include <iosfwd>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ferry/core/array_view.hpp"
#include "ferry/core/detail/support/concat.hpp"
#include "ferry/core/device.hpp"
#include "ferry/version.hpp"

namespace ferry::inline FERRY_ABI {

/// @addtogroup copies
/// @{

/// Routes of copies.
enum class route_kind : std::uint8_t {
  direct,    ///< one copy by the driver
  peer,      ///< directly between devices
  staged,    ///< between devices, through a ring of pinned staging buffers: both halves at once
  parallel,  ///< from or to pageable memory: CPU threads fill or empty pinned staging buffers
  multipath  ///< between pinned memory and one device, also over the PCIe links of its neighbors
};
/// Name of a route, such as "staged".
const char* route_name(route_kind k);

/// The route of a copy, with the reason.
struct route_info {
  route_kind kind = route_kind::direct;
  std::string why;
  std::vector<int> through;  ///< multipath: the devices whose links help
  /// Such as "staged: devices 0 and 1 cannot be peers".
  std::string text() const { return detail::concat(route_name(kind), ": ", why); }
};
/// Prints text().
std::ostream& operator<<(std::ostream& out, const route_info& r);

/// One end of a copy, for queries about routes.
struct copy_end {
  /// Kinds of memory, for routes.
  enum class memory : std::uint8_t { pageable, pinned, unified, device };
  memory where = memory::device;
  int on = 0;  ///< the device, for memory::device
  std::optional<detail::peer_memory> sort =
      {};  ///< class of memory for memory::device; empty: that of the runtime's arrays
  copy_end() = default;
  /// @param m kind of memory
  /// @param device index of the device, for memory::device
  /// @param s class of the memory; empty for that of the runtime's arrays
  copy_end(memory m, int device, std::optional<detail::peer_memory> s = {}) : where(m), on(device), sort(s) {}
  /// Device memory of a device.
  copy_end(ferry::device d) : on(d.index()) {}
  /// Memory of a view.
  template <class T, std::size_t Rank, memory_kind Kind>
  copy_end(const array_view<T, Rank, Kind>& v)
      : where(Kind == memory_kind::device    ? memory::device
              : Kind == memory_kind::unified ? memory::unified
                                             : memory::pinned),
        on(v.device().index()) {
    if (v.owner()) sort = v.owner().get().peer_class();
  }
};
/// Host memory that ferry does not track.
inline const copy_end pageable_memory{copy_end::memory::pageable, 0};
/// Pinned memory.
inline const copy_end pinned_memory{copy_end::memory::pinned, 0};

/// The route of a contiguous copy. May block on the first use of a pair of devices, to test their link.
/// @param from source
/// @param to destination
/// @param bytes size of the copy
/// @throws invalid_argument if a device does not exist
route_info route(const copy_end& from, const copy_end& to, std::size_t bytes = std::size_t{1} << 30);
/// @overload
template <class T, std::size_t Rank, memory_kind Kind>
route_info route(const array_view<T, Rank, Kind>& from, const copy_end& to) {
  return route(copy_end(from), to, from.size_bytes());
}

/// When large copies also use the PCIe links of other devices.
enum class multipath_use : std::uint8_t {
  teams,   ///< links of devices that a shared_links names
  always,  ///< links of all devices
  never
};

/// Options of the copy engine. Change them only while no copies run.
struct copy_options {
  std::size_t chunk_bytes = std::size_t{16} << 20;  ///< staged: one staging buffer of the ring
  std::size_t chunks = 4;
  std::size_t small_chunk_bytes = std::size_t{1} << 20;    ///< staged: the same, in the ring for copies up to this size
  std::size_t parallel_from_bytes = std::size_t{1} << 20;  ///< pageable: the driver does smaller copies
  /// pageable: one staging buffer. 1 GiB to an H200: 54.5 GB/s; with 16 buffers of 2 MiB: 52.1 GB/s.
  std::size_t parallel_chunk_bytes = std::size_t{8} << 20;
  std::size_t parallel_chunks = 8;
  std::size_t threads = 0;  ///< CPU threads that copy host memory; 0: up to 12 for each device, by the cores near it
  std::size_t scratch_bytes = std::size_t{256} << 20;  ///< for each device: larger strided copies run in parts
  multipath_use multipath = multipath_use::teams;
  std::size_t multipath_from_bytes = std::size_t{64} << 20;
  std::size_t multipath_chunk_bytes = std::size_t{8} << 20;
  /// Options of the environment: FERRY_MULTIPATH=teams|always|never, FERRY_COPY_THREADS=N.
  /// @throws parse_error for other values
  static copy_options from_environment();
};
/// Options of the current runtime.
copy_options current_copy_options();
/// Sets the options of the current runtime. Call it only while no copies run.
void set_copy_options(const copy_options& o);

/// While it lives, large copies between pinned memory and one of its devices also use the PCIe links of the others. For
/// teams, whose devices work together.
class shared_links {
 public:
  shared_links() = default;  ///< shares no links
  /// Shares the links of these devices until the destructor.
  explicit shared_links(std::span<const device> devices);
  ~shared_links();
  shared_links(shared_links&& o) noexcept : id_(std::exchange(o.id_, 0)), serial_(o.serial_) {}
  shared_links& operator=(shared_links&& o) noexcept {
    std::swap(id_, o.id_);
    std::swap(serial_, o.serial_);
    return *this;
  }

 private:
  std::uint64_t id_ = 0, serial_ = 0;
};

/// @}

}  // namespace ferry::inline FERRY_ABI
