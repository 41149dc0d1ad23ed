// What the copies of one machine share: lanes, threads, options, and who lends links to whom.
#pragma once
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "copies/copy_lane.hpp"
#include "copies/copy_workers.hpp"
#include "ferry/core/detail/accounting/memory_accounting.hpp"
#include "ferry/core/detail/ordering/allocation.hpp"
#include "ferry/core/detail/runtime/peer.hpp"
#include "ferry/core/route.hpp"

namespace ferry {

class runtime;

// The way of one contiguous copy, cheap to find; in words only when asked.
struct route_choice {
  enum class reason : std::uint8_t {
    one_place,    // no device, or one, is involved
    link,         // peers
    no_link,      // no peers
    in_graph,     // no peers, and inside a capture
    threads,      // pageable memory
    small,        // pageable memory, too little
    few_threads,  // pageable memory, and one core
    on_cpu,       // from pageable memory to pageable memory
    helpers       // large
  };
  route_kind kind = route_kind::direct;
  reason why = reason::one_place;
  int from = 0, to = 0;                                                      // devices; both the same where it is one
  peer_memory sort_from = peer_memory::plain, sort_to = peer_memory::plain;  // and how their memory was allocated
};

class copy_engine {
 public:
  copy_engine(runtime& of, peer_grants& peers, copy_options options);
  // All that was given must be over.
  ~copy_engine();

  ferry::backend& backend() { return backend_; }
  lane_stock& lanes() { return lanes_; }
  peer_grants& peers() { return peers_; }
  copy_options options() const;
  void options(const copy_options& o);

  // May block on first use of a pair of devices.
  route_choice choose(const copy_end& from, const copy_end& to, std::size_t bytes);
  std::string explain(const route_choice& c, std::size_t bytes) const;
  // Whether kernels of a device reach memory of another, which is granted and tested on first use. A grant that is
  // refused this time counts as no.
  bool links(int device, int owner, peer_memory sort = peer_memory::plain);
  // Whether kernels of a device, and peer copies, reach these bytes; asks for what grants of pools are needed, too.
  bool reaches(int device, const allocation& a);
  // The devices whose PCIe links help copies between pinned memory and a device: its neighbours by NVLink.
  std::vector<int> helpers(int device);
  // Threads near a device, of its own, so that copies of several devices do not wait for each other's.
  copy_workers& workers(int device);
  std::size_t thread_count(int device) const;

  std::uint64_t lend(std::vector<int> devices);
  void end_loan(std::uint64_t id);

 private:
  int nvlinks(int a, int b);
  runtime& runtime_;
  memory_accounting& memory_;
  ferry::backend& backend_;
  peer_grants& peers_;
  lane_stock lanes_;
  mutable std::mutex mutex_;
  copy_options options_;
  std::map<std::uint64_t, std::vector<int>> loans_;
  std::map<std::pair<int, int>, int> nvlinks_;  // that were asked for
  std::uint64_t last_loan_ = 0, rung_ = 0;
  std::map<std::pair<int, std::size_t>, std::unique_ptr<copy_workers>> workers_;  // by device and count
};

}  // namespace ferry
