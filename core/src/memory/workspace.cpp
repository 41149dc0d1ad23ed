#include "ferry/core/workspace.hpp"

#include <algorithm>
#include <vector>

#include "checking/memory_checker.hpp"
#include "ferry/core/detail/support/mutex.hpp"
#include "ferry/core/error.hpp"
#include "ferry/core/runtime.hpp"
#include "pools/array_blocks.hpp"
#include "runtime/other_runtime.hpp"

namespace ferry::inline FERRY_ABI {

using namespace detail;

namespace detail {

class workspace_blocks final : public memory_resource {
 public:
  explicit workspace_blocks(runtime& m) : memory_resource(m.backend()), runtime_(m) {
    ungranted_.store(~std::uint64_t{0}, std::memory_order_relaxed);  // the blocks' own resources track grants
  }
  virtual ~workspace_blocks() = default;

  allocation_ref take(memory_kind kind, int device, std::size_t bytes, std::size_t wanted) {
    if (&runtime::current() != &runtime_) throw_other_runtime("the workspace");
    if (is_closed()) return allocate_block(runtime_, kind, device, bytes);
    if (allocation_ref r = reuse(kind, device, bytes, wanted)) {
      if (runtime_.checks.has(check::poison)) runtime_.checker().poison(r.get());
      return r;
    }
    allocation_ref r = allocate_block(runtime_, kind, device, bytes);
    allocation& a = r.get();
    lock_guard lock(mutex_);
    if (closed_) return r;
    slots_.insert(slots_.begin() + static_cast<std::ptrdiff_t>(std::min(wanted, slots_.size())),
                  slot{&a, a.resource, false});
    a.resource = this;
    ++statistics_.taken;
    ++statistics_.blocks;
    ++statistics_.in_use;
    statistics_.bytes += a.bytes;
    return r;
  }

  void deallocate(allocation& a) noexcept override {
    slot gone{};
    bool last = false, ends = false;
    {
      lock_guard lock(mutex_);
      gone = *slot_of(a);
      --statistics_.in_use;
      ends = closed_;
    }
    if (!ends) gone.resource->retain(a);
    {
      lock_guard lock(mutex_);
      const auto at = slot_of(a);
      if (!closed_) {
        std::lock_guard log(a.history);
        a.history.invalidate();  // views of the freed array must check again
        at->is_free = true;
        return;
      }
      slots_.erase(at);
      last = is_last();
    }
    give_back(gone);
    if (last) delete this;
  }

  void rename(allocation& a, std::string text) override {
    memory_resource* resource = nullptr;
    {
      lock_guard lock(mutex_);
      resource = slot_of(a)->resource;
    }
    resource->rename(a, std::move(text));
  }

  void grant_peer(const allocation& a, int device) override {
    memory_resource* resource = nullptr;
    {
      lock_guard lock(mutex_);
      const auto at = slot_of(a);
      if (at == slots_.end()) return;  // freed concurrently
      resource = at->resource;
    }
    resource->need_peer(a, device);
  }

  void clear() noexcept {
    for (;;) {
      slot s{};
      {
        lock_guard lock(mutex_);
        const auto at = std::find_if(slots_.begin(), slots_.end(), [](const slot& t) { return t.is_free; });
        if (at == slots_.end()) return;
        s = *at;
        slots_.erase(at);
        --statistics_.blocks;
        statistics_.bytes -= s.what->bytes;
      }
      give_back(s);
    }
  }

  // For scopes. leave() deletes this after the last scope, if the workspace and all its arrays are gone.
  void enter() noexcept {
    lock_guard lock(mutex_);
    ++scopes_;
  }
  void leave() noexcept {
    bool last = false;
    {
      lock_guard lock(mutex_);
      --scopes_;
      last = is_last();
    }
    if (last) delete this;
  }

  // Retains no more blocks. Deletes this when the last array is freed and the last scope has ended.
  void close() noexcept {
    bool last = false;
    {
      lock_guard lock(mutex_);
      closed_ = true;
    }
    clear();
    {
      lock_guard lock(mutex_);
      is_abandoned_ = true;
      last = is_last();
    }
    if (last) delete this;
  }

  std::size_t block_for(memory_kind kind, int device, std::size_t bytes, std::size_t wanted) {
    if (&runtime::current() != &runtime_) return 0;
    lock_guard lock(mutex_);
    const slot* const s = find(kind, device, bytes, wanted);
    if (!s) return 0;
    const bool is_checked = s->resource == &runtime_.checker();  // then the pool's block counts, with its red zones
    return (is_checked ? s->what->after : s->what)->bytes;
  }

  std::size_t retained_bytes(memory_kind kind, int device) const {
    if (&runtime::current() != &runtime_) return 0;
    lock_guard lock(mutex_);
    std::size_t bytes = 0;
    for (const slot& s : slots_)
      if (s.is_free && s.what->kind == kind && s.what->device == device) bytes += s.what->bytes;
    return bytes;
  }

  workspace_statistics statistics() const {
    lock_guard lock(mutex_);
    return statistics_;
  }

 private:
  bool is_last() const FERRY_LOCKED(mutex_) { return is_abandoned_ && slots_.empty() && scopes_ == 0; }
  bool is_closed() const {
    lock_guard lock(mutex_);
    return closed_;
  }
  struct slot {
    allocation* what = nullptr;
    memory_resource* resource = nullptr;  // the block's own resource
    bool is_free = false;
  };
  // Blocks of more than twice the needed size would waste memory in a long loop.
  static bool fits(const slot& s, memory_kind kind, int device, std::size_t bytes) {
    constexpr std::size_t small = 4096;
    return s.is_free && s.what->kind == kind && s.what->device == device && s.what->bytes >= bytes &&
           s.what->bytes <= 2 * std::max(bytes, small);
  }
  slot* find(memory_kind kind, int device, std::size_t bytes, std::size_t wanted) FERRY_LOCKED(mutex_) {
    if (wanted < slots_.size() && fits(slots_[wanted], kind, device, bytes)) return &slots_[wanted];
    slot* best = nullptr;
    for (slot& s : slots_)
      if (fits(s, kind, device, bytes) && (!best || s.what->bytes < best->what->bytes)) best = &s;
    return best;
  }
  std::vector<slot>::iterator slot_of(const allocation& a) FERRY_LOCKED(mutex_) {
    return std::find_if(slots_.begin(), slots_.end(), [&](const slot& s) { return s.what == &a; });
  }
  allocation_ref reuse(memory_kind kind, int device, std::size_t bytes, std::size_t wanted) {
    slot taken{};
    {
      lock_guard lock(mutex_);
      slot* const s = find(kind, device, bytes, wanted);
      if (!s) return {};
      s->is_free = false;
      taken = *s;
    }
    try {
      taken.resource->reissue(*taken.what);
    } catch (const out_of_memory&) {  // the block is larger than the request: a limit may have room for the request
      lock_guard lock(mutex_);
      slot_of(*taken.what)->is_free = true;
      return {};
    } catch (...) {
      lock_guard lock(mutex_);
      slot_of(*taken.what)->is_free = true;
      throw;
    }
    lock_guard lock(mutex_);
    ++statistics_.reused;
    ++statistics_.in_use;
    return allocation_ref::first(*taken.what);
  }
  static void give_back(const slot& s) noexcept {
    s.what->resource = s.resource;
    s.resource->deallocate(*s.what);
  }

  runtime& runtime_;
  mutable mutex mutex_;
  std::vector<slot> slots_ FERRY_GUARDED_BY(mutex_);    // in the order of the allocations of an iteration
  bool closed_ FERRY_GUARDED_BY(mutex_) = false;        // freed blocks return to their pools
  bool is_abandoned_ FERRY_GUARDED_BY(mutex_) = false;  // the workspace is destroyed
  std::size_t scopes_ FERRY_GUARDED_BY(mutex_) = 0;     // open scopes
  workspace_statistics statistics_ FERRY_GUARDED_BY(mutex_);
};

}  // namespace detail

workspace::workspace() : blocks_(new detail::workspace_blocks(runtime::current())) {}
workspace::~workspace() { blocks_->close(); }
void workspace::clear() noexcept { blocks_->clear(); }
workspace_statistics workspace::statistics() const { return blocks_->statistics(); }

namespace detail {

workspace_turn::workspace_turn(workspace& w) : blocks_(w.blocks_) { blocks_->enter(); }
workspace_turn::~workspace_turn() {
  if (blocks_) blocks_->leave();
}

allocation_ref workspace_turn::allocate(memory_kind kind, int device, std::size_t bytes) {
  return blocks_->take(kind, device, bytes, next_++);
}

std::size_t workspace_turn::block_for(memory_kind kind, int device, std::size_t bytes) const {
  return blocks_->block_for(kind, device, bytes, next_);
}

std::size_t workspace_turn::retained_bytes(memory_kind kind, int device) const {
  return blocks_->retained_bytes(kind, device);
}

}  // namespace detail
}  // namespace ferry::inline FERRY_ABI
