#if defined(FERRY_HAS_NCCL)
#include "communicators.hpp"

#include <cstring>
#include <map>

#include "ferry/core/detail/runtime/submission.hpp"
#include "ferry/core/detail/support/concat.hpp"
#include "ferry/core/detail/support/mutex.hpp"

namespace ferry::inline FERRY_ABI::detail::nccl {

communicators::communicators(const std::vector<int>& devices)
    : nccl_(library::get()),
      devices_(devices),
      comms_(devices.size()) {
  const detail::current_device_scope keep(runtime::current(), devices.front());
  nccl_.check(nccl_.init_all(comms_.data(), static_cast<int>(devices.size()), devices.data()),
              "setting up communication between the devices of a team");
}

communicators::communicators(const std::vector<int>& devices, std::size_t first, std::size_t ranks, const unique_id& id)
    : nccl_(library::get()),
      devices_(devices),
      comms_(devices.size()) {
  static_assert(sizeof(ncclUniqueId) == sizeof(unique_id));
  ncclUniqueId native;
  std::memcpy(&native, id.data(), sizeof native);
  const std::string what = "setting up communication between the processes of a team";
  const detail::current_device_scope keep(runtime::current(), devices.front());
  nccl_.check(nccl_.group_start(), what);
  ncclResult_t bad = ncclSuccess;
  for (std::size_t m = 0; m < devices.size() && bad == ncclSuccess; ++m) {
    runtime::current().backend().exchange_current_device(devices[m]);
    bad = nccl_.init_rank(&comms_[m], static_cast<int>(ranks), native, static_cast<int>(first + m));
  }
  const ncclResult_t end = nccl_.group_end();
  nccl_.check(bad, what);
  nccl_.check(end, what);
}

bool communicators::has_failed() {
  if (!why_.empty()) return true;
  const unsigned next = next_.load(std::memory_order_relaxed);  // two threads may query the same one
  next_.store(next + 1, std::memory_order_relaxed);
  const ncclComm_t c = comms_[next % comms_.size()];
  ncclResult_t state = ncclSuccess;
  if (nccl_.async_error(c, &state) == ncclSuccess && (state == ncclSuccess || state == ncclInProgress)) return false;
  std::string text = concat("NCCL reports: ", nccl_.error_string(state));
  if (nccl_.last_error) text += concat(" (", nccl_.last_error(c), ")");
  abort(text);
  return true;
}

void communicators::abort(const std::string& why) {
  if (why_.empty()) why_ = why;
  for (ncclComm_t& c : comms_)
    if (c) nccl_.abort(std::exchange(c, nullptr));
}

namespace {

struct stock_type {
  detail::mutex mutex;
  std::multimap<std::vector<int>, std::unique_ptr<communicators>> kept FERRY_GUARDED_BY(mutex);
};
stock_type& stock() {
  static auto& s = *new stock_type;  // never destroyed
  return s;
}

}  // namespace

std::unique_ptr<communicators> take_from_stock(const std::vector<int>& devices) {
  {
    stock_type& all = stock();
    lock_guard lock(all.mutex);
    if (const auto found = all.kept.find(devices); found != all.kept.end())
      return std::move(all.kept.extract(found).mapped());
  }
  return std::make_unique<communicators>(devices);
}

void give_to_stock(std::unique_ptr<communicators> c) noexcept {
  if (!c->why().empty()) return;
  try {
    stock_type& all = stock();
    lock_guard lock(all.mutex);
    auto key = c->devices();
    all.kept.emplace(std::move(key), std::move(c));
  } catch (...) {
    (void)c.release();
  }
}

}  // namespace ferry::inline FERRY_ABI::detail::nccl
#endif
