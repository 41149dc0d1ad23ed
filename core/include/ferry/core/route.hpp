// Which way the bytes of a copy go, and why.
#pragma once
#include <iosfwd>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ferry/core/array_view.hpp"
#include "ferry/core/device.hpp"

namespace ferry {

enum class route_kind : std::uint8_t {
  direct,    // one copy by the driver
  peer,      // straight from device to device
  staged,    // between devices, through a ring of pinned chunks: both halves at once
  parallel,  // from or to pageable memory: threads of the CPU fill or empty pinned chunks
  multipath  // between pinned memory and one device, over the PCIe links of its neighbours too
};
const char* route_name(route_kind k);

struct route_info {
  route_kind kind = route_kind::direct;
  std::string why;
  std::vector<int> through;  // multipath: the devices whose links help
  // "staged: devices 0 and 1 cannot be peers"
  std::string text() const { return std::string(route_name(kind)) + ": " + why; }
};
std::ostream& operator<<(std::ostream& out, const route_info& r);

// One end of a copy, for questions about routes.
struct copy_end {
  enum class memory : std::uint8_t { pageable, pinned, unified, device };
  memory where = memory::device;
  int on = 0;                            // the device, for memory::device
  std::optional<peer_memory> sort = {};  // of memory::device; empty: that of the machine's arrays
  copy_end() = default;
  copy_end(memory m, int device, std::optional<peer_memory> s = {}) : where(m), on(device), sort(s) {}
  copy_end(ferry::device d) : on(d.index()) {}
  template <class T, std::size_t Rank, memory_kind Kind>
  copy_end(const array_view<T, Rank, Kind>& v)
      : where(Kind == memory_kind::device    ? memory::device
              : Kind == memory_kind::unified ? memory::unified
                                             : memory::pinned),
        on(v.device().index()) {
    if (v.owner()) sort = v.owner().get().peer_class();
  }
};
// Memory of the CPU that ferry knows nothing of; and pinned memory.
inline const copy_end pageable_memory{copy_end::memory::pageable, 0};
inline const copy_end pinned_memory{copy_end::memory::pinned, 0};

// The way that so many contiguous bytes go from one place to another. May block on first use of a pair of devices (the
// test of their link). Throws invalid_argument for a device that is not there.
route_info route(const copy_end& from, const copy_end& to, std::size_t bytes = std::size_t{1} << 30);
// The same for all bytes of a view.
template <class T, std::size_t Rank, memory_kind Kind>
route_info route(const array_view<T, Rank, Kind>& from, const copy_end& to) {
  return route(copy_end(from), to, from.size_bytes());
}

// When the PCIe links of other devices help a large copy.
enum class multipath_use : std::uint8_t {
  teams,   // those that a shared_links names
  always,  // those of all devices
  never
};

// Sizes of the copy engine. Change them while no copies run.
struct copy_options {
  std::size_t chunk_bytes = std::size_t{16} << 20;  // staged: one of the ring's chunks
  std::size_t chunks = 4;
  std::size_t small_chunk_bytes = std::size_t{1} << 20;     // and of the ring for copies up to that
  std::size_t parallel_from_bytes = std::size_t{1} << 20;   // pageable: smaller ones are left to the driver
  std::size_t parallel_chunk_bytes = std::size_t{8} << 20;  // 1 GiB to an H200: 54.5 GB/s, with 16 of 2 MiB 52.1
  std::size_t parallel_chunks = 8;
  std::size_t threads = 0;  // that copy memory of the CPU; 0: up to 12 a device, by the cores near it
  std::size_t scratch_bytes = std::size_t{256} << 20;  // of each device: larger strided copies are done in parts
  multipath_use multipath = multipath_use::teams;
  std::size_t multipath_from_bytes = std::size_t{64} << 20;
  std::size_t multipath_chunk_bytes = std::size_t{8} << 20;
  // FERRY_MULTIPATH=teams|always|never, FERRY_COPY_THREADS=N. Throws parse_error.
  static copy_options from_environment();
};
// Those of the current machine.
copy_options current_copy_options();
void set_copy_options(const copy_options& o);

// While it lives, large copies between pinned memory and one of the devices go over the PCIe links of the others, too:
// for teams, whose devices work together anyway.
class shared_links {
 public:
  shared_links() = default;  // lends nothing
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

}  // namespace ferry
