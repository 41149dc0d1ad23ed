#include "transport/joint_submission.hpp"

namespace ferry::inline FERRY_ABI::detail {

void joint_uses::assign(std::span<const collective_call> calls) {
  uses_.clear(), members_.clear();
  const auto use = [&](const collective_buffer& b, bool write) {
    if (!b.owner) return;
    access& a = uses_.emplace_back();
    a.what = b.owner, a.where = b.range(), a.write = write;
  };
  const auto add = [&](const collective_call& c) { use(c.from, false), use(c.to, true); };
  std::size_t members = 0;
  bool one_each = true;  // as in a single operation: each call is then visited once
  for (const collective_call& c : calls) {
    one_each = one_each && c.member == static_cast<std::size_t>(&c - calls.data());
    members = std::max(members, c.member + 1);
  }
  for (std::size_t place = 0; place < members; ++place) {
    const std::size_t begin = uses_.size();
    bool takes_part = one_each;
    if (one_each)
      add(calls[place]);
    else
      for (const collective_call& c : calls)
        if (c.member == place) takes_part = true, add(c);
    if (takes_part) members_.push_back({place, begin, uses_.size()});
  }
}

}  // namespace ferry::inline FERRY_ABI::detail
