// The books of a machine's memory: what pools took from the backend and handed out, who is told, and what is tried when
// there is no more. Pools call it; nothing of it costs more than a load on their hot path.
#pragma once
#include <array>
#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <vector>

#include "ferry/core/allocation_observer.hpp"
#include "ferry/core/error.hpp"
#include "ferry/core/memory_source.hpp"

namespace ferry {

// Bytes that a pool needs and could not get.
struct memory_demand {
  memory_kind kind = memory_kind::device;
  int device = 0;
  std::size_t bytes = 0;
  memory_source* asker = nullptr;
};

// One step of the ladder that is climbed when memory runs out. Called with no lock held and outside any submission, by the
// thread that needs the bytes; may free arrays, trim pools, move data. Returns the bytes it made free, as far as it knows:
// with any, the allocation is tried again.
struct reclaim_rung {
  std::string name;  // for reports: "trim of every pool on the device"
  int order = 0;     // rungs are climbed from low to high; ferry's own: see rung_order
  std::function<std::size_t(const memory_demand&)> reclaim;
};

// Where ferry's own rungs stand. Rungs of equal order are climbed as they were added.
struct rung_order {
  static constexpr int own_cache = 100, finished_frees = 200, every_pool = 300, callbacks = 400, synchronize = 500,
                       discard_scratch = 600, move_out = 700, to_peer = 800;
};

class memory_ledger {
 public:
  explicit memory_ledger(backend& verbs);
  ~memory_ledger();
  memory_ledger(const memory_ledger&) = delete;
  memory_ledger& operator=(const memory_ledger&) = delete;
  backend& verbs() const { return verbs_; }

  // For pools, on each allocation and free, with no lock held.

  // Before bytes are looked for. Throws out_of_memory when a limit on handed-out bytes forbids it.
  void before_allocate(memory_source&, std::size_t /*bytes*/) {}
  // The block was handed out; nobody else knows it yet.
  void allocated(allocation& a) {
    if (observed_.load(std::memory_order_relaxed)) tell([&](allocation_observer& o) { o.on_allocate(a); });
  }
  // The block is about to be taken back; its bytes and its log are still the owner's.
  void freed(allocation& a) noexcept {
    if (observed_.load(std::memory_order_relaxed)) tell([&](allocation_observer& o) { o.on_free(a); });
  }

  // For pools, when they need the backend, with no lock held.

  // Books `bytes` against the limits and calls attempt(), which asks the backend for them and throws out_of_memory when
  // there are none. Then the booking is undone.
  template <class Attempt>
  void acquire_once(memory_source& asker, std::size_t bytes, Attempt&& attempt) {
    admit(asker, bytes);
    try {
      attempt();
    } catch (...) {
      unbook(asker, bytes);
      throw;
    }
  }
  // The same, climbing the ladder of rungs while there is hope; attempt() may look at the pool's own free blocks first.
  // Throws out_of_memory that says where the memory went.
  template <class Attempt>
  void acquire(memory_source& asker, std::size_t bytes, Attempt&& attempt) {
    try {
      acquire_once(asker, bytes, attempt);
      return;
    } catch (const out_of_memory& e) {
      climb({asker.kind(), asker.device(), bytes, &asker}, e, [&] { acquire_once(asker, bytes, attempt); });
    }
  }
  // The backend gave these bytes (already booked): observers are told.
  void reserved(memory_source& by, const void* begin, std::size_t bytes) noexcept {
    if (observed_.load(std::memory_order_relaxed))
      tell([&](allocation_observer& o) { o.on_reserve(by.kind(), by.device(), begin, bytes); });
  }
  // They are about to go back to the backend.
  void returning(memory_source& by, const void* begin, std::size_t bytes) noexcept {
    if (observed_.load(std::memory_order_relaxed))
      tell([&](allocation_observer& o) { o.on_return(by.kind(), by.device(), begin, bytes); });
  }
  // They went back.
  void returned(memory_source& by, std::size_t bytes) noexcept { unbook(by, bytes); }

  void enroll(memory_source& s);
  void dismiss(memory_source& s) noexcept;
  // Calls f with each pool; none is destroyed meanwhile. f may not make or destroy pools.
  void each_source(const std::function<void(memory_source&)>& f) const;

  // For everybody else.

  // The observer must stay alive until it is removed; removal waits until nobody is calling it.
  void observe(allocation_observer& o);
  void stop_observing(allocation_observer& o) noexcept;
  // Adds a rung; the number removes it again.
  std::uint64_t add_rung(reclaim_rung r);
  void remove_rung(std::uint64_t id) noexcept;
  // What pools hold of the backend's bytes, for one kind and device.
  std::size_t reserved_bytes(memory_kind kind, int device) const { return cell(kind, device).load(); }

 private:
  struct numbered_rung {
    std::uint64_t id;
    std::shared_ptr<const reclaim_rung> what;
  };
  template <class Call>
  void tell(Call call) noexcept {
    std::shared_lock lock(observing_);
    for (allocation_observer* o : observers_) call(*o);
  }
  std::atomic<std::size_t>& cell(memory_kind kind, int device) const {
    return booked_[static_cast<std::size_t>(kind) * devices_ + static_cast<std::size_t>(device)];
  }
  void admit(memory_source& asker, std::size_t bytes);
  void unbook(memory_source& asker, std::size_t bytes) noexcept;
  void climb(const memory_demand& d, const out_of_memory& why, const std::function<void()>& again);
  void add_own_rungs();

  backend& verbs_;
  const std::size_t devices_;
  std::atomic<bool> observed_{false};
  mutable std::shared_mutex observing_;
  std::vector<allocation_observer*> observers_;
  mutable std::vector<std::atomic<std::size_t>> booked_;  // by kind and device
  mutable std::shared_mutex enrolling_;
  std::vector<memory_source*> sources_;
  mutable std::mutex rungs_mutex_;
  std::vector<numbered_rung> rungs_;  // in the order in which they are climbed
  std::uint64_t next_rung_ = 1;
};

}  // namespace ferry
