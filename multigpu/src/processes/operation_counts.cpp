#include "processes/operation_counts.hpp"

namespace ferry::inline FERRY_ABI::detail {

bool needed_parts::has(std::size_t process, const part_counts& given) const {
  if (given.collectives < collectives) return false;
  const auto found = exchanges.find(process);
  return found == exchanges.end() || (given.sends >= found->second.sends && given.receives >= found->second.receives);
}

needed_parts operation_counts::enqueue(const joint_part& p) {
  lock_guard lock(mutex_);
  needed_parts needs;
  collectives_ += p.collectives;
  if (p.collectives > 0) needs.collectives = collectives_;
  for (const std::size_t to : p.sends_to) needs.exchanges[to].receives = ++exchanges_[to].sends;
  for (const std::size_t from : p.receives_from) needs.exchanges[from].sends = ++exchanges_[from].receives;
  return needs;
}

void operation_counts::take_back(const joint_part& p) {
  lock_guard lock(mutex_);
  collectives_ -= p.collectives;
  for (const std::size_t to : p.sends_to) --exchanges_[to].sends;
  for (const std::size_t from : p.receives_from) --exchanges_[from].receives;
}

part_counts operation_counts::given(std::size_t other) const {
  lock_guard lock(mutex_);
  const auto found = exchanges_.find(other);
  part_counts all = found == exchanges_.end() ? part_counts{} : found->second;
  all.collectives = collectives_;
  return all;
}

}  // namespace ferry::inline FERRY_ABI::detail
