// Operations on devices that several processes give together are counted, alike on all sides. A process that ends says how
// many it gave: what another has beyond that will never be over. Time cannot tell, for work may wait long behind other work.
#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <vector>

namespace ferry {

// What a process gave so far: collectives, and sends to and receives from one other process.
struct part_counts {
  std::uint64_t collectives = 0, sends = 0, receives = 0;
};

// What a process gives at once; a process is named as often as something goes to it, or comes from it.
struct joint_part {
  std::uint64_t collectives = 0;
  std::vector<std::size_t> sends_to, receives_from;
};

// How far the others must come, so that an operation of this process can end.
struct needed_parts {
  std::uint64_t collectives = 0;                 // all of them
  std::map<std::size_t, part_counts> exchanges;  // some of them: sends and receives
  // Whether a process that gave so much has taken part, or need not.
  bool has(std::size_t process, const part_counts& given) const;
};

// Members may be called from any thread.
class operation_counts {
 public:
  needed_parts enqueue(const joint_part& p);
  // It was not given after all.
  void take_back(const joint_part& p);
  // What concerns one of the others.
  part_counts given(std::size_t other) const;

 private:
  mutable std::mutex mutex_;
  std::uint64_t collectives_ = 0;
  std::map<std::size_t, part_counts> exchanges_;
};

}  // namespace ferry
