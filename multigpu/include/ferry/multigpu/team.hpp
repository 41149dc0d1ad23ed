// Several devices as one: which they are, in which order, and how a range is dealt out to them.
#pragma once
#include <cstddef>
#include <span>
#include <vector>

#include "ferry/core/stream.hpp"

namespace ferry {

// Rows [begin, end) that a member of a team owns.
struct part {
  std::size_t begin = 0, end = 0;
  std::size_t size() const { return end - begin; }
  bool operator==(const part&) const = default;
};

// Devices in order, with one stream each. Moves; the streams go back when it is destroyed.
class team {
 public:
  // Throws invalid_argument for no device, one that is not there, or one named twice.
  explicit team(std::span<const device> members);
  // All devices of this machine.
  static team all();

  std::size_t size() const { return streams_.size(); }
  // The stream of a member, by its place in the team.
  stream_ref operator[](std::size_t member) const;
  // How `count` elements are dealt out: contiguous parts in order, sizes differing by at most one; some are empty when
  // there are fewer elements than members.
  part part_of(std::size_t member, std::size_t count) const;
  // Blocks until the streams of all members are idle.
  void synchronize() const;

 private:
  std::vector<stream> streams_;
};

}  // namespace ferry
