#include "migration/host_prefetcher.hpp"

#include <unistd.h>
#include <thread>

#include <algorithm>
#include <system_error>

#include "ferry/core/detail/ordering/access_guard.hpp"
#include "ferry/core/detail/support/cpu_quota.hpp"
#include "ferry/core/detail/support/unique_lock.hpp"
#include "ferry/core/error.hpp"

namespace ferry::inline FERRY_ABI::detail {
namespace {

unsigned helping_threads() { return static_cast<unsigned>(std::clamp<std::size_t>(parallel_threads() / 2, 1, 8)); }

// Writes a byte back unchanged, atomically: a concurrent write by another thread is never undone.
#if defined(__x86_64__)
void write_as_it_is(std::byte* p) { asm volatile("lock; orb $0, (%0)" : : "r"(p) : "memory"); }
#else
void write_as_it_is(std::byte* p) {
  auto* c = reinterpret_cast<unsigned char*>(p);
  unsigned char now = __atomic_load_n(c, __ATOMIC_RELAXED);
  while (!__atomic_compare_exchange_n(c, &now, now, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
  }
}
#endif

}  // namespace

void arrival::wait_for_first() const {
  const std::size_t first = will_write_ ? helping_threads() : 0;
  give_way_until([&] { return is_over() || (sent() > 0 && touched_.load(std::memory_order_acquire) >= first); });
}

void arrival::stop() {
  stopped_.store(true);
  give_way_until([&] { return is_over(); });
}

// One submission for all pieces, published when the last one has arrived: a new owner of the bytes waits until then.
void arrival::send(runtime& m, unsigned helpers, const std::function<void(const std::string&)>& on_failure) noexcept {
  try {
    access_guard guard(admission::unchecked(line_, {&use_, 1}));
    try {
      for (const page_move& p : pieces_) {
        if (stopped_.load(std::memory_order_relaxed)) break;
        m.backend().prefetch(line_.stream(), p.begin, p.bytes, p.to);
        m.backend().synchronize(line_.stream());
        sent_.fetch_add(1, std::memory_order_release);
      }
    } catch (const error& e) {
      on_failure(plain_what(e));
    }
    stopped_.store(true);
    if (will_write_) give_way_until([&] { return touched_.load(std::memory_order_acquire) == sent() * helpers; });
  } catch (const error& e) {
    stopped_.store(true);
    on_failure(plain_what(e));
  }
  over_.store(true, std::memory_order_release);
}

void arrival::help(unsigned helpers) {
  if (!will_write_) return;
  for (;;) {
    const std::size_t part = taken_.fetch_add(1, std::memory_order_relaxed);
    if (part >= pieces_.size() * helpers) return;
    give_way_until([&] { return is_over() || sent() * helpers > part; });
    if (sent() * helpers <= part) return;
    touch(part, helpers);
    touched_.fetch_add(1, std::memory_order_release);
  }
}

void arrival::touch(std::size_t part, unsigned helpers) const {
  static const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  const page_move& p = pieces_[part / helpers];
  const std::size_t pages = (p.bytes + page - 1) / page, of = part % helpers;
  for (std::size_t i = pages * of / helpers; i < pages * (of + 1) / helpers; ++i) write_as_it_is(p.begin + i * page);
}

std::shared_ptr<arrival> host_prefetcher::start(timeline& line, const access& use, const std::vector<page_move>& moves,
                                                std::size_t piece, bool will_write) {
  std::vector<page_move> pieces;
  for (const page_move& m : moves)
    for (std::size_t at = 0; at < m.bytes; at += piece)
      pieces.push_back({m.begin + at, std::min(piece, m.bytes - at), m.to});
  auto a = std::make_shared<arrival>(line, use, std::move(pieces), will_write);
  {
    lock_guard lock(mutex_);
    try {
      while (threads_.size() < 1 + helping_threads())
        threads_.emplace_back([this, sends = threads_.empty()] { work(sends); });
    } catch (const std::system_error&) {  // retried at the next call
      return nullptr;
    }
    waiting_.push_back(a);
  }
  changed_.notify_all();
  a->wait_for_first();
  return a;
}

void host_prefetcher::work(bool sends) {
  unique_lock lock(mutex_);
  for (std::uint64_t seen = 0;;) {
    while (!leaving_ && (sends ? waiting_.empty() : !now_ || round_ == seen)) lock.wait(changed_);
    if (leaving_) return;
    if (sends) {
      now_ = std::move(waiting_.front());
      waiting_.pop_front();
      ++round_;
    }
    seen = round_;
    const std::shared_ptr<arrival> mine = now_;
    lock.unlock();
    changed_.notify_all();
    if (sends)
      mine->send(runtime_, helping_threads(), on_failure_);
    else
      mine->help(helping_threads());
    lock.lock();
    if (!sends) continue;
    now_.reset();
    changed_.notify_all();
  }
}

host_prefetcher::~host_prefetcher() {
  {
    unique_lock lock(mutex_);
    while (!waiting_.empty() || now_) lock.wait(changed_);
    leaving_ = true;
  }
  changed_.notify_all();
  for (std::thread& t : threads_) t.join();
}

}  // namespace ferry::inline FERRY_ABI::detail
