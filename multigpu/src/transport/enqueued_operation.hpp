// An operation of some streams: whether its turn has come, and whether it is over.
#pragma once
#include <map>
#include <mutex>
#include <span>
#include <vector>

#include "ferry/core/detail/ordering/timeline.hpp"
#include "transport/waiting_operations.hpp"

namespace ferry {

// Events, which are used again. May be called from any thread.
class event_stock {
 public:
  event_stock() = default;
  ~event_stock();
  event_stock(const event_stock&) = delete;
  event_stock& operator=(const event_stock&) = delete;
  native_event take(ferry::backend& backend, int device);
  void give_back(ferry::backend& backend, int device, native_event e) noexcept;

 private:
  std::mutex mutex_;
  std::map<std::pair<backend*, int>, std::vector<native_event>> kept_;
};

class enqueued_operation final : public stream_progress {
 public:
  // Inside a submission, in the turns of the streams: what they are given next. An event tells when they come to it.
  enqueued_operation(event_stock& events, std::span<timeline* const> on);
  // What a stream was given last.
  enqueued_operation(event_stock& events, timeline& on);
  ~enqueued_operation() override;
  enqueued_operation(const enqueued_operation&) = delete;
  enqueued_operation& operator=(const enqueued_operation&) = delete;

  std::vector<const timeline*> streams() const override;
  // Also while it is being given, which may wait for others as well as for what the streams had to do before.
  bool has_begun() override;
  bool is_over() override;

 private:
  struct part {
    timeline* on;
    ticket at;
    native_event before;  // null: reached, or not known
  };
  void let_go(part& p) noexcept;
  event_stock& events_;
  std::vector<part> parts_;
};

}  // namespace ferry
