#include "pools/allocation_nodes.hpp"

#include <mutex>

namespace ferry::inline FERRY_ABI::detail {

allocation_nodes::~allocation_nodes() {
  static std::mutex burying;
  static auto* graveyard = new std::vector<std::unique_ptr<allocation[]>>;
  std::lock_guard lock(burying);
  for (auto& some : all_) graveyard->push_back(std::move(some));
}

allocation& allocation_nodes::take() {
  if (!spare_) make_more();
  allocation& a = *spare_;
  spare_ = a.next;
  a.next = nullptr;
  ++in_use_;
  return a;
}

void allocation_nodes::give_back(allocation& a) noexcept {
  a.begin = nullptr;
  a.bytes = 0;
  a.before = a.after = a.previous = nullptr;
  a.is_free = true;
  a.was_used = false;
  a.history.clip_to({});
  a.next = spare_;
  spare_ = &a;
  --in_use_;
}

void allocation_nodes::make_more() {
  all_.push_back(std::make_unique<allocation[]>(batch));
  for (std::size_t i = batch; i-- > 0;) {  // nodes are taken in the order of their addresses, in which guards lock them
    allocation& a = all_.back()[i];
    a.resource = &home_;
    a.kind = kind_;
    a.device = static_cast<std::int8_t>(device_);
    a.next = spare_;
    spare_ = &a;
  }
}

}  // namespace ferry::inline FERRY_ABI::detail
