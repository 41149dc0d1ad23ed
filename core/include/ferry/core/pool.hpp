// A caching pool over one kind of memory of one device. Bytes that are free keep their log, so the next user comes after
// the last one; nobody else waits.
#pragma once
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <vector>

#include "ferry/core/allocation.hpp"
#include "ferry/core/memory_ledger.hpp"

namespace ferry {

struct pool_options {
  std::size_t granularity = 512;                      // every block's size and offset is a multiple of it
  std::size_t small_segment = std::size_t{2} << 20;   // what is taken from the backend for small blocks
  std::size_t large_segment = std::size_t{32} << 20;  // and for larger ones; beyond it, a segment of their own
};

struct pool_statistics {
  std::size_t allocated_bytes = 0, reserved_bytes = 0;  // in use by arrays; taken from the backend
  std::size_t allocations = 0, blocks = 0, segments = 0;
};

class caching_pool : public memory_source {
 public:
  caching_pool(memory_ledger& ledger, memory_kind kind, int device, pool_options options = {});
  // Gives everything back; all of it must be free.
  ~caching_pool();
  caching_pool(const caching_pool&) = delete;
  caching_pool& operator=(const caching_pool&) = delete;

  // At least `bytes` bytes (0 counts as 1), best fit, aligned to the granularity. Takes a segment from the backend when
  // no block fits (may block), climbing the ledger's ladder if the backend has none left. Throws out_of_memory.
  allocation_ref allocate(std::size_t bytes);
  // Never blocks and never throws; the uses of the bytes may still be running.
  void deallocate(allocation& a) noexcept;
  // Gives segments that are free as a whole back to the backend, after waiting for their uses. Returns the bytes.
  std::size_t trim() { return release_cached(release_depth::unused); }
  std::size_t release_cached(release_depth how) override;
  memory_kind kind() const override { return kind_; }
  int device() const override { return device_; }
  source_state state() const override;
  pool_statistics statistics() const;
  const backend& verbs() const { return verbs_; }

 private:
  struct smaller {
    using is_transparent = void;
    bool operator()(const allocation* a, const allocation* b) const {
      return a->bytes != b->bytes ? a->bytes < b->bytes : std::less<>{}(a->begin, b->begin);
    }
    bool operator()(const allocation* a, std::size_t bytes) const { return a->bytes < bytes; }
  };
  using free_set = std::set<allocation*, smaller>;
  allocation* node();
  allocation* grow(std::size_t bytes, std::unique_lock<std::mutex>& lock);
  void split(allocation& a, std::size_t bytes);
  void swallow_next(allocation& a);
  void offer(allocation& a) noexcept;
  void withdraw(free_set::iterator at);
  void retire(allocation& a);

  memory_ledger& ledger_;
  backend& verbs_;
  const memory_kind kind_;
  const int device_;
  const pool_options options_;
  mutable std::mutex mutex_;
  free_set free_;
  std::vector<free_set::node_type> handles_;        // one for each node that is not offered: the set never allocates
  std::vector<std::unique_ptr<allocation>> nodes_;  // all there ever were
  std::vector<allocation*> spare_;
  pool_statistics statistics_;
};

}  // namespace ferry
