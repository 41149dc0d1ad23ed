#if defined(FERRY_HAS_NCCL)
#include "watch.hpp"

#include <cstdio>

#include "ferry/core/error.hpp"

namespace ferry::nccl {

watch::watch(communicators& comms, std::mutex& mutex, processes& all)
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
  if (waiting_.empty() || all_.patience() == std::chrono::steady_clock::duration{}) return {};
  const auto waited = std::chrono::steady_clock::now() - waiting_.front().since;
  if (waited < all_.patience()) return {};
  return "process " + std::to_string(all_.rank()) + " waited " +
         std::to_string(std::chrono::duration_cast<std::chrono::seconds>(waited).count()) + " s in " +
         waiting_.front().what + " (FERRY_COLLECTIVE_TIMEOUT sets the limit)";
}

std::string watch::trouble() {
  try {
    if (const std::string text = all_.trouble(); !text.empty()) return text;
    if (const std::string text = overdue(); !text.empty()) return text;
    std::lock_guard lock(mutex_);
    return comms_.has_failed() ? comms_.why() : std::string();
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
    std::lock_guard lock(mutex_);
    comms_.abort(why);
    return;
  }
}

}  // namespace ferry::nccl
#endif
