// State shared by the copies of one runtime: lanes, threads, options, link sharing, and the count of copied bytes.
#pragma once
#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "copies/copy_lane.hpp"
#include "copies/copy_workers.hpp"
#include "ferry/core/detail/accounting/memory_accounting.hpp"
#include "ferry/core/detail/ordering/allocation.hpp"
#include "ferry/core/detail/runtime/peer.hpp"
#include "ferry/core/detail/support/mutex.hpp"
#include "ferry/core/route.hpp"

namespace ferry::inline FERRY_ABI {
class runtime;
}  // namespace ferry::inline FERRY_ABI

namespace ferry::inline FERRY_ABI::detail {

// The route of one contiguous copy. Cheap to compute; explain() describes it in words.
struct route_choice {
  enum class reason : std::uint8_t {
    one_place,    // the copy involves at most one device
    link,         // the devices are peers
    no_link,      // the devices are not peers
    in_graph,     // the devices are not peers, inside a capture
    threads,      // pageable memory
    small,        // pageable memory, too few bytes for threads
    few_threads,  // pageable memory, and only one core
    on_cpu,       // from pageable memory to pageable memory
    helpers       // large copy through links of other devices
  };
  route_kind kind = route_kind::direct;
  reason why = reason::one_place;
  int from = 0, to = 0;                                                      // devices; equal if there is one
  peer_memory sort_from = peer_memory::plain, sort_to = peer_memory::plain;  // how their memory was allocated
};

class copy_engine {
 public:
  copy_engine(runtime& of, peer_grants& peers, copy_options options);
  // All enqueued copies must be complete.
  ~copy_engine();

  detail::backend& backend() { return backend_; }
  lane_stock& lanes() { return lanes_; }
  peer_grants& peers() { return peers_; }
  copy_options options() const;
  void options(const copy_options& o);

  // Bytes of all copies enqueued so far.
  std::uint64_t copied_bytes() const { return copied_bytes_.load(std::memory_order_relaxed); }
  void count(std::size_t bytes) { copied_bytes_.fetch_add(bytes, std::memory_order_relaxed); }

  // Returns the route of a copy. May block on first use of a pair of devices.
  route_choice choose(const copy_end& from, const copy_end& to, std::size_t bytes);
  std::string explain(const route_choice& c, std::size_t bytes) const;
  // True if kernels of a device reach memory of another one. Enables and tests peer access on first use. False if the
  // driver refuses it this time, or if there is no memory for the test.
  bool links(int device, int owner, peer_memory sort = peer_memory::plain);
  // True if kernels and peer copies of a device reach these bytes. Requests the grants of pools that are needed, too.
  bool reaches(int device, const allocation& a);
  // Returns the devices whose PCIe links help copies between pinned memory and a device: its NVLink neighbours.
  std::vector<int> helpers(int device);
  // Returns the threads near a device. Each device has its own, so that copies of several devices do not wait for each
  // other.
  copy_workers& workers(int device);
  std::size_t thread_count(int device) const;

  // Allows large copies of these devices to use each other's PCIe links. Returns the number for end_sharing().
  std::uint64_t share_links(std::vector<int> devices);
  void end_sharing(std::uint64_t id);

 private:
  int nvlinks(int a, int b);
  runtime& runtime_;
  memory_accounting& memory_;
  detail::backend& backend_;
  peer_grants& peers_;
  lane_stock lanes_;
  std::atomic<std::uint64_t> copied_bytes_{0};
  mutable mutex mutex_;
  copy_options options_ FERRY_GUARDED_BY(mutex_);
  std::map<std::uint64_t, std::vector<int>> shared_ FERRY_GUARDED_BY(mutex_);
  std::map<std::pair<int, int>, int> nvlinks_ FERRY_GUARDED_BY(mutex_);  // pairs that were queried
  std::uint64_t last_sharing_ FERRY_GUARDED_BY(mutex_) = 0;
  std::uint64_t handler_ = 0;
  // by device and count
  std::map<std::pair<int, std::size_t>, std::unique_ptr<copy_workers>> workers_ FERRY_GUARDED_BY(mutex_);
};

}  // namespace ferry::inline FERRY_ABI::detail
