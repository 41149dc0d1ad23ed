// A block from a pool, with its access history. Nodes are never destroyed, so that stale references can be detected.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include "ferry/core/detail/backend/backend.hpp"
#include "ferry/core/detail/ordering/access_history.hpp"
#include "ferry/core/detail/ordering/access_policy.hpp"
#include "ferry/core/detail/ordering/array_text.hpp"
#include "ferry/core/detail/ordering/memory_resource.hpp"
#include "ferry/core/detail/support/internal.hpp"
#include "ferry/core/detail/support/owning_ptr.hpp"

namespace ferry::inline FERRY_ABI::detail {

// Optional text in one pointer; most allocations have none.
class rare_text {
 public:
  const std::string& get() const { return text_ ? *text_ : none(); }
  operator const std::string&() const { return get(); }
  bool empty() const { return !text_ || text_->empty(); }
  // Stores nothing if there is no text: other threads may read the empty name.
  void clear() noexcept {
    if (text_) text_ = {};
  }
  rare_text& operator=(std::string text) {
    text_ = text.empty() ? owning_ptr<std::string>() : make_owning<std::string>(std::move(text));
    return *this;
  }

 private:
  static const std::string& none() {
    static const auto* empty = new std::string;
    return *empty;
  }
  owning_ptr<std::string> text_;
};

// Two cache lines: the first for submissions, the second for the owner of the bytes.
struct alignas(64) allocation {
  access_history history;
  // Generation (high half) and reference count (low half), so that free() and views need no second object. Generations
  // are even until free() leaves stale references behind, and odd from then on.
  std::atomic<std::uint64_t> state{0};
  memory_resource* resource = nullptr;

  std::byte* begin = nullptr;
  std::size_t bytes = 0;  // of the block, at least the requested size
  memory_kind kind = memory_kind::device;
  // Pool only, under its lock: the block is in the index of free blocks; the block was handed out before.
  bool is_free : 1 = true, was_used : 1 = false;
  std::int8_t device = 0;  // for host and unified memory: the home device
  bool is_pooled = false;  // device memory of a driver pool
  // Block in use: labels for the accounting, see allocation_labels. Free block: used by the pool.
  std::uint32_t tag = 0;
  rare_text name;

  // Pool only: neighbors in one backend segment, by address; links of a list of free blocks.
  allocation* before = nullptr;
  allocation* after = nullptr;
  allocation* next = nullptr;
  allocation* previous = nullptr;

  byte_range range() const { return {begin, begin + bytes}; }
  // True if stale references to earlier bytes of this node may exist.
  bool may_have_stale_references() const { return (state.load(std::memory_order_relaxed) >> 32 & 1) != 0; }
  // Peer memory class for access by other devices. Unused for pinned memory.
  peer_memory peer_class() const {
    return kind == memory_kind::unified ? peer_memory::unified : is_pooled ? peer_memory::pooled : peer_memory::plain;
  }
};
static_assert(sizeof(allocation) == 128);

inline void memory_resource::need_peer(const allocation& a, int device) {
  if (device != a.device && needs_grant(device)) grant_peer(a, device);
}

// Range of the allocation; takes the history's lock because a borrowed range may grow concurrently.
byte_range range_now(allocation& a);

// A counted reference to one generation of an allocation.
class allocation_ref {
 public:
  allocation_ref() = default;
  // Creates the first reference to bytes that a pool has just handed out.
  static allocation_ref first(allocation& a) {
    allocation_ref r;
    const std::uint64_t now =
        a.state.load(std::memory_order_relaxed);  // no other thread changes it: all other references are stale
    a.state.store(now + 1, std::memory_order_release);
    r.what_ = &a;
    r.generation_ = generation_of(now);
    return r;
  }
  // Another reference to bytes that the caller keeps referenced during the call.
  static allocation_ref another(allocation& a);
  allocation_ref(const allocation_ref& o);
  allocation_ref(allocation_ref&& o) noexcept : what_(std::exchange(o.what_, nullptr)), generation_(o.generation_) {}
  allocation_ref& operator=(allocation_ref o) noexcept {
    std::swap(what_, o.what_);
    std::swap(generation_, o.generation_);
    return *this;
  }
  ~allocation_ref() {
    if (what_) drop();
  }

  explicit operator bool() const { return what_ != nullptr; }
  // The allocation, without a check: it may belong to another array. For counters and comparisons only.
  allocation* unchecked() const { return what_; }
  // True if free() has released the bytes.
  bool is_freed() const { return what_ && generation_of(what_->state.load(std::memory_order_acquire)) != generation_; }
  // The allocation. Throws use_after_free naming the array and the line; invalid_argument for an empty reference. as:
  // shape and type for the message, where they are known.
  allocation& get(source_line at = {}, const array_look* as = nullptr) const {
    if (!what_) [[unlikely]]
      throw_none();
    if (is_freed()) [[unlikely]]
      throw_freed(what_, generation_, as, at);
    return *what_;
  }
  // Releases the bytes now, although other references exist. Does nothing if they are released already. Never blocks.
  void free(freed_by how = freed_by::free) noexcept;

 private:
  static std::uint32_t generation_of(std::uint64_t state) { return static_cast<std::uint32_t>(state >> 32); }
  [[noreturn]] static void throw_none();
  void drop() noexcept;
  allocation* what_ = nullptr;
  std::uint32_t generation_ = 0;
};

// One access of a submission to an allocation's bytes.
struct access {
  allocation* what = nullptr;
  byte_range where;
  bool write = false;
  bool whole = false;  // every byte is written and none is read
  source_line at = {};
};

// Throws device_error if these bytes are lost (R19). Requires the lock of the allocation's history.
void refuse_lost(const allocation& a, byte_range where, source_line at);

}  // namespace ferry::inline FERRY_ABI::detail
