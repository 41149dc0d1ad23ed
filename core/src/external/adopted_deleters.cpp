#include "external/adopted_deleters.hpp"

#include <algorithm>
#include <cstdio>
#include <exception>

#include "ferry/core/detail/ordering/access_guard.hpp"
#include "ferry/core/detail/ordering/host_wait.hpp"
#include "ferry/core/error.hpp"
#include "pools/block_uses.hpp"

namespace ferry::inline FERRY_ABI::detail {
namespace {

void say(const char* what, const char* why) noexcept { std::fprintf(stderr, "ferry: %s: %s\n", what, why); }

}  // namespace

adopted_deleters::adopted_deleters(timelines& streams, std::size_t devices, foreign_blocks& blocks)
    : blocks_(blocks),
      streams_(streams, devices) {}

adopted_deleters::~adopted_deleters() { run(true); }

void adopted_deleters::deallocate(allocation& a) noexcept {
  a.history.invalidate();
  if (this_thread_state.submitting) {
    ++waiting_;
    late_.add(a);
    return;
  }
  foreign_blocks::iterator e;
  bool at_once = false;
  {
    std::lock_guard lock(blocks_);
    e = blocks_.find(a);
    if (e->is_ending) return;
    e->is_ending = true;
    at_once = e->wants_stream;
    e->is_being_deleted = at_once;
    if (!at_once) ++waiting_;
  }
  if (!at_once) return run(false);
  const bool handed_over = hand_to_stream(*e);
  std::lock_guard lock(blocks_);
  e->is_being_deleted = false;
  if (handed_over)
    blocks_.erase(e);
  else
    ++waiting_;
}

// The caller holds the lock.
void adopted_deleters::take_over_late_ones() noexcept {
  late_.take_all([this](allocation& a) { blocks_.find(a)->is_ending = true; });
}

// Calls the deleter with a stream that is ordered behind all uses. Holds no lock, because the deleter is the program's
// code.
bool adopted_deleters::hand_to_stream(foreign_block& e) noexcept {
  try {
    timeline* line = nullptr;
    {
      std::lock_guard lock(blocks_);
      line = &streams_.of(e.what->device);
    }
    follow_all_uses(*line, *e.what, e.bytes);
    const stream_ref s(*line);
    e.deleter(e.what->begin, &s);
    return true;
  } catch (const device_error& error) {
    say("the deleter of an adopted array could not be called", plain_what(error));
    return !error.is_sticky();
  } catch (const std::exception& error) {
    say("the deleter of an adopted array threw", plain_what(error));
    return true;
  }
}

void adopted_deleters::run(bool wait) noexcept {
  for (;;) {
    foreign_blocks::iterator found;
    {
      std::lock_guard lock(blocks_);
      take_over_late_ones();
      found = std::find_if(blocks_.begin(), blocks_.end(), [&](foreign_block& e) {
        if (!e.is_ending || e.is_being_deleted || !e.deleter) return false;
        try {
          if (wait) wait_for_all_uses(*e.what, e.bytes);
          return wait || are_uses_complete(*e.what, e.bytes, true);
        } catch (const error&) {  // the device failed: its work counts as complete next time
          return wait;
        }
      });
      if (found == blocks_.end()) return;
      found->is_being_deleted = true;
    }
    if (found->wants_stream) {
      (void)hand_to_stream(*found);
    } else {
      try {
        found->deleter(found->what->begin, nullptr);
      } catch (const std::exception& e) {
        say("the deleter of an adopted array threw", plain_what(e));
      }
    }
    std::lock_guard lock(blocks_);
    blocks_.erase(found);
    --waiting_;
  }
}

}  // namespace ferry::inline FERRY_ABI::detail
