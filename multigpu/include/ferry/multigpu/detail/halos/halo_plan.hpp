// The halo exchange of one array.
#pragma once
#include <span>
#include <vector>

#include "ferry/core/detail/support/internal.hpp"
#include "ferry/multigpu/detail/halos/halo_box.hpp"
#include "ferry/multigpu/shard_layout.hpp"

namespace ferry::inline FERRY_ABI::detail {

class halo_routes;
class member_exchange;
struct halo_message;

// The planned exchange of one array, for the members of this process.
class halo_plan {
 public:
  halo_plan(const team& t, std::vector<halo_box> boxes, halo_method how);
  ~halo_plan();
  halo_plan(const halo_plan&) = delete;
  halo_plan& operator=(const halo_plan&) = delete;

  // Executes the plans of several arrays of one team for one member, in at most one kernel. Call start() for all
  // members, then carry(), then finish() for all. start() stores or copies the cells of the member to the members that
  // mirror them. finish() unpacks, on the stream, the cells that arrived packed.
  static void start(std::span<halo_plan* const> plans, const team& t, std::size_t member, halo_streams where);
  static void finish(std::span<halo_plan* const> plans, std::size_t member, stream_ref on);
  // Exchanges cells with members of other processes, if there are any, in one submission to one stream for each member.
  // Blocks for them if the processes communicate through the CPU.
  static void carry(std::span<halo_plan* const> plans, const team& t, halo_streams where);
  // True if finish has work for some member.
  bool packs() const { return packs_; }

 private:
  // Plan boxes that travel packed as one message: to a member of this process, to another process, and from one.
  void plan_packed(std::size_t from, std::size_t to, const box_list& boxes, const halo_routes& routes);
  void plan_sending(std::size_t from, std::size_t to, const box_list& boxes);
  void plan_receiving(std::size_t from, std::size_t to, const box_list& boxes);
  member_exchange& of(std::size_t member);
  team team_;
  std::vector<member_exchange> members_;
  std::vector<halo_message> messages_;
  bool packs_ = false;
};

}  // namespace ferry::inline FERRY_ABI::detail
