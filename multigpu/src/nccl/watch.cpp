#if defined(FERRY_HAS_NCCL)
#include "watch.hpp"

#include <cstdio>

#include "ferry/core/error.hpp"

namespace ferry::nccl {
namespace {

// How long what a process sent before it ended may still be on its way, behind other work of a stream.
constexpr std::chrono::seconds last_words{10};
// How long a call of NCCL may take until it counts as waiting for ever.
constexpr std::chrono::seconds call_time{2};

}  // namespace

watch::watch(communicators& comms, std::timed_mutex& mutex, processes& all)
    : comms_(comms),
      mutex_(mutex),
      all_(all),
      thread_([this] { run(); }) {}

watch::~watch() {
  {
    std::lock_guard lock(own_);
    stop_ = true;
  }
  wake_.notify_all();
  thread_.join();
}

void watch::submitted(timeline& on, std::string what) {
  std::lock_guard lock(own_);
  waiting_.push_back({&on, on.last(), std::chrono::steady_clock::now(), std::move(what)});
}

// What has waited too long, in words; empty if nothing has.
std::string watch::overdue() {
  std::lock_guard lock(own_);
  while (!waiting_.empty() && waiting_.front().on->poll(waiting_.front().at)) waiting_.pop_front();
  if (waiting_.empty()) return {};
  const auto waited = std::chrono::steady_clock::now() - waiting_.front().since;
  const std::string who = "process " + std::to_string(all_.rank());
  if (waited > last_words)
    if (const std::string ended = all_.ended(last_words); !ended.empty())
      return who + " waited in " + waiting_.front().what + " for " + ended + ", which ended without taking part";
  if (all_.patience() == std::chrono::steady_clock::duration{} || waited < all_.patience()) return {};
  return who + " waited " + std::to_string(std::chrono::duration_cast<std::chrono::seconds>(waited).count()) +
         " s in " + waiting_.front().what + " (FERRY_COLLECTIVE_TIMEOUT sets the limit)";
}

std::string watch::trouble() {
  try {
    if (const std::string text = all_.trouble(); !text.empty()) return text;
    if (const std::string text = overdue(); !text.empty()) return text;
    std::unique_lock lock(mutex_, std::try_to_lock);  // a call of NCCL may wait for others with the lock held
    return lock && comms_.has_failed() ? comms_.why() : std::string();
  } catch (const error& e) {  // a device that broke: whoever waits for it finds out
    return e.what();
  }
}

void watch::run() {
  constexpr std::chrono::milliseconds pause{50};
  for (;;) {
    {
      std::unique_lock lock(own_);
      if (wake_.wait_for(lock, pause, [&] { return stop_; })) return;
    }
    const std::string why = trouble();
    if (why.empty()) continue;
    std::fprintf(stderr, "ferry: process %zu ends its collectives: %s\n", all_.rank(), why.c_str());
    all_.fail(why);
    std::unique_lock lock(mutex_, std::defer_lock);
    if (captured_.load(std::memory_order_relaxed) || !lock.try_lock_for(call_time)) all_.end_all(why);
    comms_.abort(why);
    return;
  }
}

}  // namespace ferry::nccl
#endif
