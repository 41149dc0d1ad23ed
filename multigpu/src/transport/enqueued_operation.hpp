// An operation that is enqueued on some streams: whether they have reached it, and whether it is complete.
#pragma once
#include <map>
#include <span>
#include <vector>

#include "ferry/core/detail/ordering/timeline.hpp"
#include "ferry/core/detail/support/mutex.hpp"
#include "transport/waiting_operations.hpp"

namespace ferry::inline FERRY_ABI::detail {

// A pool of events. Thread-safe.
class event_stock {
 public:
  event_stock() = default;
  ~event_stock();
  event_stock(const event_stock&) = delete;
  event_stock& operator=(const event_stock&) = delete;
  native_event take(detail::backend& backend, int device);
  void give_back(detail::backend& backend, int device, native_event e) noexcept;

 private:
  mutex mutex_;
  std::map<std::pair<backend*, int>, std::vector<native_event>> unused_ FERRY_GUARDED_BY(mutex_);
};

class enqueued_operation final : public stream_progress {
 public:
  // The next work on these streams. Construct it inside a submission, in the order slots of the streams. An event on
  // each stream shows when the stream reaches the operation.
  enqueued_operation(event_stock& events, std::span<timeline* const> on);
  // The work that was enqueued last on a stream.
  enqueued_operation(event_stock& events, timeline& on);
  ~enqueued_operation() override;
  enqueued_operation(const enqueued_operation&) = delete;
  enqueued_operation& operator=(const enqueued_operation&) = delete;

  std::vector<const timeline*> streams() const override;
  // May be called while the operation is being enqueued: enqueueing may block for other processes, as well as for
  // earlier work of the streams.
  bool has_begun() override;
  bool is_over() override;

 private:
  struct part {
    timeline* on;
    ticket at;
    native_event before;  // null: reached, or unknown
  };
  void let_go(part& p) noexcept;
  event_stock& events_;
  std::vector<part> parts_;
};

}  // namespace ferry::inline FERRY_ABI::detail
