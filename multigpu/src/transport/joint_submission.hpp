// Common part of the transports that work on streams: one ordered submission to the streams of several members.
#pragma once
#include <span>
#include <vector>

#include "ferry/core/detail/runtime/submission.hpp"
#include "ferry/core/detail/support/thread_object.hpp"
#include "ferry/multigpu/detail/transport/transport.hpp"

namespace ferry::inline FERRY_ABI::detail {

// The accesses of each member's calls. Reuse needs no allocation.
class joint_uses {
 public:
  void assign(std::span<const collective_call> calls);
  // Members that take part, in order.
  struct member {
    std::size_t place;
    std::size_t begin, end;  // of uses()
  };
  std::span<const member> members() const { return members_; }
  std::span<access> uses(const member& m) { return {uses_.data() + m.begin, m.end - m.begin}; }

 private:
  std::vector<member> members_;
  std::vector<access> uses_;
};

struct joint_scratch {
  joint_uses all;
  std::vector<joint_guard::part> parts;
};

// Calls enqueue(uses) when the streams of all members that take part are ordered after work that conflicts with the
// calls.
template <class Give>
void submit_jointly(std::span<const collective_call> calls, std::span<const stream_ref> streams, Give enqueue) {
  joint_scratch& scratch = thread_object<joint_scratch>::get();  // collectives are not nested
  joint_uses& all = scratch.all;
  std::vector<joint_guard::part>& parts = scratch.parts;
  all.assign(calls);
  parts.clear();
  for (const joint_uses::member& m : all.members())
    parts.emplace_back(admit(streams[m.place], all.uses(m), reach::by_library));
  joint_guard guard(parts);
  enqueue(all);
}

}  // namespace ferry::inline FERRY_ABI::detail
