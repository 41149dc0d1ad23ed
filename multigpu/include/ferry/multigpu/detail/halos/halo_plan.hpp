// The halo exchange of one array: how cells travel.
#pragma once
#include <memory>
#include <span>
#include <vector>

#include "ferry/core/detail/runtime/submission.hpp"
#include "ferry/core/detail/support/internal.hpp"
#include "ferry/multigpu/detail/halos/halo_box.hpp"
#include "ferry/multigpu/shard_layout.hpp"

namespace ferry::inline FERRY_ABI::detail {

// The planned exchange of one array, for the members of this process.
class halo_plan {
 public:
  halo_plan(const team& t, std::vector<halo_box> boxes, halo_method how);
  ~halo_plan();
  halo_plan(const halo_plan&) = delete;
  halo_plan& operator=(const halo_plan&) = delete;

  // Executes the plans of several arrays of one team for one member, in one kernel or none. Call start for all members,
  // then finish for all. start stores or copies the cells of the member to the members that mirror them. finish
  // unpacks, on the stream, the cells that arrived packed.
  static void start(std::span<halo_plan* const> plans, const team& t, std::size_t member, halo_streams where);
  static void finish(std::span<halo_plan* const> plans, std::size_t member, stream_ref on);
  // For teams that span processes, between start and finish: exchanges cells with members of other processes, in one
  // submission to one stream for each member. Blocks for them if the processes communicate through the CPU.
  static void carry(std::span<halo_plan* const> plans, const team& t, std::span<const stream_ref> streams);
  bool is_carried() const { return !messages_.empty(); }
  // True if finish has work for some member.
  bool packs() const { return packs_; }

 private:
  struct member_plan;
  // A message to or from a member of another process.
  struct message {
    std::size_t member, other;
    bool sends;
    allocation_ref owner;
    std::byte* data;
    std::size_t bytes;
  };
  using box_list = std::vector<const halo_box*>;
  void plan_sending(std::size_t from, std::size_t to, const box_list& boxes);
  void plan_receiving(std::size_t from, std::size_t to, const box_list& boxes);
  member_plan& of(std::size_t member) const;
  team team_;
  std::vector<std::unique_ptr<member_plan>> members_;
  std::vector<message> messages_;
  bool packs_ = false;
};

// Exchanges cells between members of different processes.
void carry_exchange(const team& t, std::span<halo_plan* const> plans, halo_streams where);

}  // namespace ferry::inline FERRY_ABI::detail
