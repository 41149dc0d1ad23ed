// Which work is lost with a failed device, and which because it was computed from lost data (R19).
#include <algorithm>
#include <mutex>

#include "ferry/core/detail/ordering/access_guard.hpp"
#include "ferry/core/detail/ordering/timeline.hpp"
#include "ferry/core/detail/ordering/timelines.hpp"

namespace ferry::inline FERRY_ABI::detail {

int timeline::lost_by(ticket t) const {
  if (t == open_ticket) t = pointers_end();
  const unsigned count = loss_count_.load(std::memory_order_acquire);
  for (unsigned i = 0; i < count; ++i)
    if (losses_[i].first.load() <= t && t <= losses_[i].last.load()) return losses_[i].device;
  return -1;
}

bool timeline::loses_all_later() const {
  const unsigned count = loss_count_.load(std::memory_order_acquire);
  return std::any_of(losses_.begin(), losses_.begin() + count,
                     [](const loss& l) { return l.last.load() == open_ticket; });
}

// The caller holds the lock of the list of timelines, so that one thread at a time adds. Each failure has one entry,
// whose range may grow with each search of the dependences. If the entries are used up, the last one grows. Returns
// true if more is lost.
bool timeline::add_loss(ticket first, ticket last, int device, unsigned number) noexcept {
  const unsigned count = loss_count_.load(std::memory_order_relaxed);
  if (count == losses_.size() || (count > 0 && losses_[count - 1].number.load() == number)) {
    loss& l = losses_[count - 1];
    l.number.store(number);
    const bool is_earlier = lower(l.first, first);
    return raise(l.last, last) || is_earlier;
  }
  loss& l = losses_[count];
  l.first.store(first), l.last.store(last), l.number.store(number), l.device = device;
  loss_count_.store(count + 1, std::memory_order_release);
  return true;
}

int timeline::was_lost(ticket behind, unsigned seen) const {
  const unsigned count = loss_count_.load(std::memory_order_acquire);
  for (unsigned i = 0; i < count; ++i)
    if (losses_[i].number.load() > seen && losses_[i].first.load() <= behind) return losses_[i].device;
  return -1;
}

// Holds the ticket lock. A concurrent submission either has its ticket before and is lost, or sees afterwards that the
// stream is damaged and searches again.
bool timeline::spread_losses(unsigned number, std::uint64_t failed_devices) {
  if (is_broken()) return false;
  std::lock_guard lock(mutex_);
  ticket first = open_ticket;
  int cause = -1;
  std::erase_if(dependences_, [&](const dependence& d) {
    if (finished(d.latest)) return true;
    const bool with_device = d.seen < number && (timelines::device_bit(d.device) & failed_devices) != 0;
    const int by = d.of ? d.of->was_lost(d.behind, d.seen) : with_device ? d.device : -1;
    if (by >= 0 && d.since < first) first = std::max(d.since, finished_.load() + 1), cause = by;
    return by >= 0;
  });
  if (first == open_ticket) return false;
  std::lock_guard tickets(*this);
  const bool more = add_loss(first, pointers_end() == open_ticket ? open_ticket : reserved_, cause, number);
  flags_.fetch_or(damaged, std::memory_order_release);
  return more;
}

void timeline::lose_late(ticket t, unsigned seen) noexcept {
  const unsigned count = loss_count_.load(std::memory_order_acquire);
  for (unsigned i = 0; i < count; ++i)
    if (losses_[i].number.load() > seen) raise(losses_[i].last, t);
}

// If this thread is inside a submission, no fence is possible. The uses then stay open and count as those of the next
// owner.
void timeline::end_pointers() {
  if (pointers_end() == open_ticket && !this_thread_state.submitting) pointers_end_.store(fence());
}

void timeline::ask_device() {
  native_event newest;
  {
    std::lock_guard lock(mutex_);
    newest = events_[newest_].event;
  }
  (void)backend_.is_done(newest);
}

// Records that all work from the next ticket on may read what ticket t of another stream wrote. Failures known by now
// are excluded: that work is refused the lost data, now or when its turn comes.
void timeline::depend(timeline& of, ticket t) {
  clock_entry& f = clock_[of.id_];
  if (f.owed >= t) return;
  f.owed = t;
  dependences_.push_back({last() + 1, last() + 1, t, &of, of.device_, registry_.failures() & ~1u});
  note_suspects(timelines::device_bit(of.device_) | of.suspects_, last() + 1);
}

void timeline::depend_on_device(int device) {
  if (device == device_) return;
  std::lock_guard lock(mutex_);
  if (!dependences_.empty())
    if (const dependence& d = dependences_.back(); !d.of && d.device == device && d.since == last() + 1) return;
  make_room_for_dependence();
  dependences_.push_back({last() + 1, last() + 1, 0, nullptr, device, registry_.failures() & ~1u});
  note_suspects(timelines::device_bit(device), last() + 1);
}

void timeline::reserve_dependence() {
  std::lock_guard lock(mutex_);
  make_room_for_dependence();
}

void timeline::depend_on_part(ticket at, timeline& of, ticket part, std::uint64_t devices, unsigned seen) noexcept {
  std::lock_guard lock(mutex_);
  dependences_.push_back({at, at, part, &of, of.device_, seen & ~1u});
  note_suspects(devices, at);
}

std::uint64_t timeline::devices_needed() {
  std::lock_guard lock(mutex_);
  return suspects_ | timelines::device_bit(device_);
}

void timeline::make_room_for_dependence() {
  if (dependences_.size() >= most_dependences_) join_dependences();
  constexpr std::size_t spare = 8;  // other threads may use some before the caller does
  if (dependences_.size() + spare > dependences_.capacity()) dependences_.reserve(2 * (dependences_.size() + spare));
}

// Erases dependences that are known to be complete and intact. If many remain, merges those with equal timeline, device
// and number of known failures: from the earliest ticket, on the latest one. That may lose too much, never too little.
// Dependences from before and after a failure are not merged. Otherwise work that reads nothing lost by the failure
// would be lost with it.
void timeline::join_dependences() {
  std::erase_if(dependences_, [&](const dependence& d) {
    return finished(d.latest) || (d.of && d.of->finished(d.behind) && d.of->was_lost(d.behind, d.seen) < 0);
  });
  if (2 * dependences_.size() > most_dependences_) {
    std::size_t kept = 0;
    for (std::size_t i = 0; i < dependences_.size(); ++i) {
      const dependence d = dependences_[i];
      std::size_t k = 0;
      const auto is_like = [&](const dependence& e) {
        return e.of == d.of && e.device == d.device && e.seen == d.seen;
      };
      while (k < kept && !is_like(dependences_[k])) ++k;
      if (k == kept) {
        dependences_[kept++] = d;
        continue;
      }
      dependence& into = dependences_[k];
      into.since = std::min(into.since, d.since), into.latest = std::max(into.latest, d.latest);
      into.behind = std::max(into.behind, d.behind);
    }
    dependences_.resize(kept);
  }
  most_dependences_ = std::max(usual_dependences, 2 * dependences_.size());
}

}  // namespace ferry::inline FERRY_ABI::detail
