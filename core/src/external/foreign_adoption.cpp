// Arrays that own foreign memory: a deleter releases each block after its last use is complete.
#include <algorithm>
#include <cstdio>
#include <exception>
#include <utility>

#include "external/foreign_memory.hpp"
#include "external/foreign_uses.hpp"
#include "ferry/core/detail/ordering/access_guard.hpp"
#include "ferry/core/detail/ordering/host_wait.hpp"
#include "ferry/core/error.hpp"
#include "ferry/core/runtime.hpp"

namespace ferry::inline FERRY_ABI::detail {
namespace {

void say(const char* what, const char* why) noexcept { std::fprintf(stderr, "ferry: %s: %s\n", what, why); }

}  // namespace

allocation_ref foreign_memory::adopt(byte_range bytes, memory_kind kind, const borrow_options& how, bool wants_stream,
                                     block_deleter deleter) {
  refuse_inside_submission("adopt");
  refuse_inside_capture("adopt");
  check_stream(how);
  refuse_own(bytes, verb::adopt);
  collect();
  std::lock_guard lock(mutex_);
  take_over_late_ones();
  const known_memory memory = look_at(bytes, kind, verb::adopt, how.name);
  if (!memory.is_known)
    throw invalid_argument(
        "adopt of " + text_of(bytes, how.name) +
        ": this is memory of the CPU that the driver does not know (malloc, new, std::vector): copy it "
        "into an array with array::from, or pin it with ferry::pin(span) for as long as it is used");
  for (const entry& e : entries_)
    if (!e.ending && e.bytes.overlaps(bytes))
      throw invalid_argument("adopt of " + text_of(bytes, how.name) +
                             ": some of them are borrowed, pinned or adopted already, and would be freed under their "
                             "user: end that first");
  const int device = kind == memory_kind::host ? default_device().index() : memory.device;
  const auto e = enter(bytes, kind, device, how);
  e->wants_stream = wants_stream;
  e->deleter = std::move(deleter);
  return allocation_ref::first(*e->what);
}

// For adopted blocks. For the last reference of a borrow it returns early: end() erases that entry.
void foreign_memory::deallocate(allocation& a) noexcept {
  a.history.invalidate();
  if (this_thread_state.submitting) {
    ++waiting_;
    late_.add(a);
    return;
  }
  entries::iterator e;
  bool at_once = false;
  {
    std::lock_guard lock(mutex_);
    e = find(a);
    if (e->ending) return;
    e->ending = true;
    at_once = e->wants_stream;
    e->is_being_deleted = at_once;
    if (!at_once) ++waiting_;
  }
  if (!at_once) return run_deleters(false);
  const bool handed_over = hand_to_stream(*e);
  std::lock_guard lock(mutex_);
  e->is_being_deleted = false;
  if (handed_over)
    erase(e);
  else
    ++waiting_;
}

// The caller holds the lock.
void foreign_memory::take_over_late_ones() noexcept {
  late_.take_all([this](allocation& a) { find(a)->ending = true; });
}

// Calls the deleter with a stream that is ordered behind all uses. Holds no lock, because the deleter is the program's
// code.
bool foreign_memory::hand_to_stream(entry& e) noexcept {
  try {
    const auto device = static_cast<std::size_t>(e.what->device);
    timeline* line = nullptr;
    {
      std::lock_guard lock(mutex_);
      if (!giving_back_[device]) giving_back_[device] = &runtime_.streams().take(e.what->device, 0);
      line = giving_back_[device];
    }
    follow_all_uses(*line, *e.what, e.bytes);
    const stream_ref s(*line);
    e.deleter(e.what->begin, &s);
    return true;
  } catch (const device_error& error) {
    say("an adopted array could not be given to its deleter", plain_what(error));
    return !error.is_sticky();
  } catch (const std::exception& error) {
    say("the deleter of an adopted array threw", plain_what(error));
    return true;
  }
}

void foreign_memory::run_deleters(bool wait) noexcept {
  for (;;) {
    entries::iterator found;
    {
      std::lock_guard lock(mutex_);
      take_over_late_ones();
      found = std::find_if(entries_.begin(), entries_.end(), [&](entry& e) {
        if (!e.ending || e.is_being_deleted || !e.deleter) return false;
        try {
          if (wait) wait_for_all_uses(*e.what, e.bytes);
          return wait || are_uses_complete(*e.what, e.bytes, true);
        } catch (const error&) {  // the device failed: its work counts as complete next time
          return wait;
        }
      });
      if (found == entries_.end()) return;
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
    std::lock_guard lock(mutex_);
    erase(found);
    --waiting_;
  }
}

}  // namespace ferry::inline FERRY_ABI::detail
