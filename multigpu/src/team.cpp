#include "ferry/multigpu/team.hpp"

#include <string>

#include "ferry/core/error.hpp"

namespace ferry {

team::team(std::span<const device> members) {
  if (members.empty()) throw invalid_argument("a team needs at least one device");
  for (std::size_t i = 0; i < members.size(); ++i) {
    (void)members[i].properties();
    for (std::size_t j = 0; j < i; ++j)
      if (members[j] == members[i])
        throw invalid_argument("device " + std::to_string(members[i].index()) +
                               " is named twice in a team: use it once");
    streams_.emplace_back(members[i]);
  }
}

team team::all() { return team(devices()); }

stream_ref team::operator[](std::size_t member) const {
  if (member >= size())
    throw invalid_argument("member " + std::to_string(member) + " of a team of " + std::to_string(size()));
  return streams_[member];
}

part team::part_of(std::size_t member, std::size_t count) const {
  if (member >= size())
    throw invalid_argument("member " + std::to_string(member) + " of a team of " + std::to_string(size()));
  const std::size_t each = count / size(), more = count % size();
  const std::size_t begin = member * each + (member < more ? member : more);
  return {begin, begin + each + (member < more ? 1 : 0)};
}

void team::synchronize() const {
  for (const stream& s : streams_) s.synchronize();
}

}  // namespace ferry
