#include "migration/move_failures.hpp"

#include <cstdio>

namespace ferry::inline FERRY_ABI::detail {

void move_failures::add(const std::string& why) {
  constexpr int most = 8;
  lock_guard lock(mutex_);
  if (++count_ != most) return;
  why_ended_ = why;
  are_too_many_.store(true);
  std::fprintf(
      stderr,
      "ferry: automatic migration has ended, because %d moves of pages failed, the last one so: %s. Pages move "
      "by faults from now on\n",
      most, why.c_str());
}

std::string move_failures::why_ended() const {
  lock_guard lock(mutex_);
  return why_ended_;
}

}  // namespace ferry::inline FERRY_ABI::detail
