#if defined(FERRY_HAS_NCCL)
#include "watchdog.hpp"

#include <cstdio>

#include "ferry/core/error.hpp"

namespace ferry::inline FERRY_ABI::detail::nccl {
namespace {

// A call of NCCL that takes longer counts as waiting forever.
constexpr std::chrono::seconds call_time{2};

}  // namespace

watch::watch(communicators& comms, std::timed_mutex& mutex, processes& all)
    : comms_(comms),
      mutex_(mutex),
      all_(all),
      thread_([this] { run(); }) {}

watch::~watch() {
  {
    lock_guard lock(own_);
    stop_ = true;
  }
  wake_.notify_all();
  thread_.join();
}

void watch::giving(std::span<timeline* const> on, needed_parts needs, std::string what) {
  add(std::move(needs), std::move(what), std::make_unique<enqueued_operation>(events_, on));
}

void watch::launched(timeline& on, needed_parts needs, std::string what) {
  add(std::move(needs), std::move(what), std::make_unique<enqueued_operation>(events_, on));
}

void watch::add(needed_parts needs, std::string what, std::unique_ptr<stream_progress> progress) {
  std::list<waiting_operations::operation> one;
  one.push_back({std::move(what), std::move(needs), std::move(progress), {}});
  lock_guard lock(own_);
  fresh_.splice(fresh_.end(), one);
}

// Holds no lock while it queries devices, and processes, which an exchange of another thread may keep busy.
std::string watch::overdue() {
  std::list<waiting_operations::operation> fresh;
  {
    lock_guard lock(own_);
    fresh.swap(fresh_);
  }
  waiting_.add(std::move(fresh));
  return waiting_.overdue(all_, waiting_operations::clock::now());
}

std::string watch::trouble() {
  try {
    if (const std::string text = all_.trouble(); !text.empty()) return text;
    if (const std::string text = overdue(); !text.empty()) return text;
    std::unique_lock lock(mutex_, std::try_to_lock);  // a call of NCCL may hold the lock while it waits
    return lock && comms_.has_failed() ? comms_.why() : std::string();
  } catch (const error& e) {  // a device failed: threads that wait for it throw
    return plain_what(e);
  }
}

void watch::run() {
  constexpr std::chrono::milliseconds pause{50};
  for (;;) {
    {
      unique_lock lock(own_);
      if (!stop_) lock.wait_for(wake_, pause);
      if (stop_) return;
    }
    const std::string why = trouble();
    if (why.empty()) continue;
    std::fprintf(stderr, "ferry: process %zu ends its collectives: %s\n", all_.rank(), why.c_str());
    all_.fail(why);
    std::unique_lock lock(mutex_, std::defer_lock);
    if (!lock.try_lock_for(call_time) || graphs_.use_count() > 1) all_.end_all(why);
    comms_.abort(why);
    return;
  }
}

}  // namespace ferry::inline FERRY_ABI::detail::nccl
#endif
