#include "ferry/core/detail/accounting/early_reclaim.hpp"

#include <algorithm>
#include <chrono>
#include <utility>
#include <vector>

#include "accounting/reclaim_pacer.hpp"
#include "ferry/core/detail/accounting/handler_chain.hpp"
#include "ferry/core/detail/support/mutex.hpp"
#include "ferry/core/detail/support/thread_context.hpp"

namespace ferry::inline FERRY_ABI::detail {

struct early_reclaim::progress {
  std::atomic<bool> busy{false};  // not a mutex: a callback may call reclaim again
  reclaim_pacer pacer;            // used by the thread that set busy
  std::size_t next_pool = 0;      // where the last pause stopped
  detail::mutex mutex;
  std::vector<std::pair<std::uint64_t, std::shared_ptr<const callback>>> callbacks FERRY_GUARDED_BY(mutex);
};

early_reclaim::early_reclaim(const limit_enforcer& limits, const pool_registry& pools)
    : limits_(limits),
      pools_(pools),
      progress_(make_owning<progress>()) {}

early_reclaim::~early_reclaim() = default;

void early_reclaim::look() {
  if (limits_.any()) under_pressure_.store(!limits_.crossed().empty(), std::memory_order_relaxed);
}

// Releases completed bytes in pieces, one pool after the other, until the limit holds or the time slice ends. The next
// pause continues with the next pool.
void early_reclaim::run() {
  using clock = reclaim_pacer::clock;
  constexpr auto slice = std::chrono::milliseconds(2);
  constexpr std::size_t piece = std::size_t{32} << 20;
  if (this_thread_state.submitting || this_thread_state.capture) return;
  progress& at = *progress_;
  if (at.busy.exchange(true, std::memory_order_acquire)) return;  // another thread, or a callback that synchronizes
  const struct release {
    std::atomic<bool>& busy;
    ~release() { busy.store(false, std::memory_order_release); }
  } at_end{at.busy};
  const auto begin = clock::now();
  const std::vector<memory_pressure> crossed = limits_.crossed();
  if (crossed.empty()) return under_pressure_.store(false, std::memory_order_relaxed);
  double worst = 0;
  for (const memory_pressure& p : crossed) worst = std::max(worst, p.pressure());
  if (!at.pacer.is_due(begin, worst)) return;
  std::vector<std::shared_ptr<const callback>> callbacks;
  {
    lock_guard lock(at.mutex);
    for (const auto& [id, f] : at.callbacks) callbacks.push_back(f);
  }
  std::size_t freed = 0, wanted = 0;
  for (const memory_pressure& p : crossed) {
    const std::size_t excess = p.used_bytes - p.soft_bytes;
    const auto is_crossed = [&] { return limits_.used_bytes(p.scope) > p.soft_bytes; };
    std::size_t got = 0, passed = 0;
    wanted += excess;
    for (const auto& f : callbacks) got += (*f)(p);
    if (p.scope.tag.empty())
      pools_.each_from(at.next_pool, [&](memory_source& s) {
        if (!is_crossed()) return false;
        if (p.scope.covers(s.kind(), s.device())) {
          std::size_t bytes = 0;
          do {
            bytes = s.release_some(release_depth::finished, std::min(piece, excess));
            got += bytes;
          } while (bytes > 0 && is_crossed() && clock::now() - begin < slice);
          if (clock::now() - begin >= slice) {
            at.next_pool += passed;
            return false;
          }
        }
        ++passed;
        return true;
      });
    freed += got;
  }
  at.pacer.ran(begin, clock::now(), freed, wanted);
  look();
}

std::uint64_t early_reclaim::add_callback(callback f) {
  auto shared = std::make_shared<const callback>(std::move(f));
  lock_guard lock(progress_->mutex);
  return progress_->callbacks.emplace_back(handler_chain::next_id(), std::move(shared)).first;
}

void early_reclaim::remove_callback(std::uint64_t id) noexcept {
  lock_guard lock(progress_->mutex);
  std::erase_if(progress_->callbacks, [&](const auto& c) { return c.first == id; });
}

}  // namespace ferry::inline FERRY_ABI::detail
