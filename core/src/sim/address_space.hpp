// All memory allocated from a simulated machine: the kind of each address, access rights, and the location of managed
// pages.
#pragma once
#include <atomic>
#include <deque>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "ferry/core/detail/backend/backend.hpp"
#include "ferry/core/detail/backend/page_events.hpp"
#include "ferry/core/detail/backend/sim_options.hpp"
#include "ferry/core/detail/support/mutex.hpp"

namespace ferry::inline FERRY_ABI::detail::sim {

// How an operation reaches memory. mapped: the executing device loads and stores, as kernels do. copied: the driver
// transfers the bytes, wherever they are.
enum class reach : std::uint8_t { mapped, copied };

enum class address_state : std::uint8_t { pageable, unborn, live, freed };

// Properties of an address. `room` is the number of bytes from it to the end of its allocation.
struct place {
  address_state state = address_state::pageable;
  memory_kind kind = memory_kind::host;
  int device = -1;
  std::size_t room = 0;
  std::uint64_t pool = 0;  // a pool of the driver; 0: none
};

struct usage {
  std::size_t allocations = 0, bytes = 0;
};

// Bytes of pages that moved by prefetches, by faults of kernels, or without their contents (discarded). evicted: moved
// to the CPU because other pages needed the device's memory.
struct traffic {
  std::size_t prefetched = 0, faulted = 0, discarded = 0, evicted = 0;
};

// Number of guard bytes on each side of a block of device memory.
inline constexpr std::size_t guard_bytes = 256;

// Thread-safe. Device memory is memory of the CPU, aligned to 256 bytes. It is filled with 0xA5 when it is allocated,
// and with 0xDD when it is released. The CPU as a device does this only with all checks.
class address_space {
 public:
  static constexpr std::size_t page_bytes = std::size_t{2} << 20;
  static constexpr std::size_t quarantine_bytes = std::size_t{256} << 20;

  explicit address_space(const options& how);
  ~address_space();
  address_space(const address_space&) = delete;
  address_space& operator=(const address_space&) = delete;

  // Throws out_of_memory. Only device memory has a limit, which managed pages on the device share. An allocation does
  // not evict such pages, like a driver that cannot evict them. Zero bytes return a null pointer, as in CUDA. Blocks of
  // a driver's pool (pool != 0) begin to live when the stream reaches the allocation. They may live again, and are
  // accessible to devices that the pool is granted to.
  void* allocate(memory_kind kind, int device, std::size_t bytes, std::uint64_t pool = 0);
  void begin_life(void* p);
  bool end_life(void* p);  // true if it lived
  void release_block(memory_kind kind, int device, void* p, std::size_t bytes);
  void grant_pool(std::uint64_t pool, int device);
  // Fills the bytes and puts the block into quarantine, so that late reads return poison instead of crashing. Without
  // the fill, returns the block to the system at once.
  void release(memory_kind kind, int device, void* p, std::size_t bytes);

  // Pageable memory of the CPU becomes pinned memory, and pageable again.
  void pin(void* p, std::size_t bytes);
  void unpin(void* p, std::size_t bytes);

  place at(const void* p) const;
  // For device memory: its block with the guard bytes around it. No operation may write outside the block. Empty for
  // other memory.
  std::span<const std::byte> guarded(const void* p) const;
  usage held(memory_kind kind, int device) const;  // device counts for memory_kind::device only
  std::size_t resident(int device) const;          // bytes of managed pages on the device

  void grant(int device, int peer);
  void revoke(int device, int peer);
  bool is_granted(int device, int peer) const;
  // Returns why `device` must not access these bytes, or "".
  std::string forbids(int device, std::span<const kernel_use> uses, reach how) const;

  // As forbids(), for blocks of the driver's pools that are not alive: known only when the operation runs.
  std::string lifeless(std::span<const kernel_use> uses) const;
  // True if streams of the device may copy from and to this memory: that of a pool needs a grant.
  bool may_copy(int device, const void* p) const;

  // Managed pages. move: a prefetch. touch: migration by a kernel's accesses. Both ignore memory of other kinds. On a
  // full device they evict the least recently used pages, as the driver does. If there are none, the pages stay where
  // they are.
  void move(const void* p, std::size_t bytes, memory_location to);
  void discard(void* p, std::size_t bytes);  // fills with 0xFF, so that later reads are noticed
  void touch(int device, std::span<const kernel_use> uses);
  void advise(const void* p, std::size_t bytes, memory_advice advice, memory_location where);
  std::map<int, std::size_t> residency(const void* p, std::size_t bytes) const;  // bytes by device, -1 the CPU
  traffic moved() const;

  // As moved(), but event by event, while enabled. A fault is the first access to a page by a device that does not have
  // it. Accesses of the CPU move no pages here and are not recorded.
  void count_events(bool on);
  static std::uint64_t clock();
  std::size_t waiting_events() const;
  void take_events(std::vector<page_event>& to);
  std::uint64_t lost_events() const;

 private:
  struct page {
    int device = -1;
    bool read_mostly = false, has_preferred = false, discarded = false;
    int preferred = -1;
    std::uint64_t accessed_by = 0;  // bit d: mapped into device d, so its accesses do not fault
    std::uint64_t used = 0;         // the last operation that used it
  };
  struct allocation {
    memory_kind kind = memory_kind::device;
    int device = -1;
    std::size_t bytes = 0, alignment = 0;
    bool freed = false;
    bool pinned_later = false;  // the program's own memory
    std::vector<page> pages;    // managed memory only
    std::uint64_t pool = 0;     // a pool of the driver; 0: none
    bool born = true;
  };
  // The part of a page that an operation uses; the size of the page, and its begin.
  struct part_of_page {
    const std::byte* begin = nullptr;
    std::size_t bytes = 0, whole = 0;
    const std::byte* page = nullptr;
  };
  using table = std::map<const std::byte*, allocation>;

  table::const_iterator find(const std::byte* p) const FERRY_LOCKED(mutex_);
  std::string forbids(int device, const kernel_use& use, reach how) const;
  bool is_granted_pool(std::uint64_t pool, int device) const FERRY_LOCKED(mutex_);
  usage& account(memory_kind kind, int device) FERRY_LOCKED(mutex_);
  template <class Self, class F>
  static void each_page(Self& self, const void* p, std::size_t bytes,
                        F&& f) FERRY_UNCHECKED_LOCKS;  // with the mutex locked
  static std::size_t size_of_page(const allocation& a, std::size_t index);
  void carry(page& g, const part_of_page& part, int to, page_event_cause why) FERRY_LOCKED(mutex_);
  bool eviction(int device, std::size_t bytes) FERRY_LOCKED(mutex_);
  void settle(page& g, std::size_t whole, int to) FERRY_LOCKED(mutex_);
  void count(page_event_kind kind, page_event_cause why, const std::byte* at, std::size_t bytes) FERRY_LOCKED(mutex_);
  static void give_back(const std::byte* p, const allocation& a);
  bool overwrites() const { return !how_.are_cpus || how_.check == check_level::all; }
  void overwrite(void* p, int pattern, std::size_t bytes) const;

  mutable mutex mutex_;
  const options how_;
  table table_ FERRY_GUARDED_BY(mutex_);
  std::vector<usage> usage_ FERRY_GUARDED_BY(mutex_);            // per device, then unified, then host
  std::vector<std::size_t> resident_ FERRY_GUARDED_BY(mutex_);   // bytes of managed pages, per device
  std::uint64_t operations_ FERRY_GUARDED_BY(mutex_) = 0;        // operations on managed pages
  std::vector<std::uint64_t> granted_ FERRY_GUARDED_BY(mutex_);  // granted_[d], bit p: d may use the memory of p
  std::map<std::uint64_t, std::uint64_t> pool_grants_ FERRY_GUARDED_BY(mutex_);  // by pool, bit d: d may use its memory
  std::atomic<bool> has_pools_{false};  // true after a driver's pool was created
  traffic moved_ FERRY_GUARDED_BY(mutex_);
  static constexpr std::size_t most_events = std::size_t{1} << 20;
  bool counting_ FERRY_GUARDED_BY(mutex_) = false;
  std::vector<page_event> events_ FERRY_GUARDED_BY(mutex_);
  std::uint64_t lost_events_ FERRY_GUARDED_BY(mutex_) = 0;
  std::deque<const std::byte*> quarantine_;
  std::size_t quarantined_ = 0;
};

std::string readable_bytes(std::size_t bytes);
std::string readable_address(const void* p);

}  // namespace ferry::inline FERRY_ABI::detail::sim
