#include "pools/segment_supply.hpp"

#include <exception>
#include <vector>

#include "ferry/core/error.hpp"
#include "ferry/core/memory_limits.hpp"
#include "pools/block_release.hpp"

namespace ferry::inline FERRY_ABI::detail {
namespace {

// Requests of at least this size get a dedicated segment; completed free segments are released first. Otherwise free
// segments too small for large requests would accumulate. Measured on random sizes to 1 GiB: a peak of 1.26 instead of
// 1.36 times the bytes in use.
constexpr std::size_t huge = std::size_t{128} << 20;

std::size_t gc_limit_of(const memory_source& pool, detail::backend& backend, const pool_options& options) {
  if (!options.gc_threshold) return SIZE_MAX;
  const std::size_t all =
      pool.kind() == memory_kind::host ? system_memory_bytes() : backend.properties(pool.device()).memory_bytes;
  return static_cast<std::size_t>(*options.gc_threshold * static_cast<double>(all));
}

}  // namespace

segment_supply::segment_supply(memory_source& pool, memory_accounting& accounting, const pool_options& options,
                               bool merges, pool_shards& shards, segment_blocks& blocks)
    : pool_(pool),
      accounting_(accounting),
      backend_(accounting.backend()),
      shards_(shards),
      blocks_(blocks),
      merges_(merges),
      gc_limit_(gc_limit_of(pool, backend_, options)) {}

void segment_supply::drain_shards() noexcept {
  shards_.drain([this](allocation* all) { blocks_.store(all); });
}

// No lock is held while out-of-memory handlers run.
allocation& segment_supply::grow(std::size_t size, const timeline* on) {
  std::size_t segment = blocks_.segment_for(size);
  void* p = nullptr;
  allocation* found = nullptr;
  const auto ask_backend = [&] { p = backend_.allocate(pool_.kind(), pool_.device(), segment); };
  try {
    std::lock_guard one(growing_);
    drain_shards();
    if ((found = blocks_.take(size, on, segment_blocks::search::thorough))) return *found;
    if (size >= huge && merges_) release(release_depth::finished, size);
    collect_garbage(segment);
    accounting_.acquire_once(pool_, segment, ask_backend);
  } catch (const out_of_memory&) {
    segment = size;  // no spare room this time
    const auto ask_alone = [&] {
      std::lock_guard one(growing_);
      ask_backend();
    };
    const auto look_again = [&] {
      std::lock_guard one(growing_);
      drain_shards();
      return (found = blocks_.take(size, on, segment_blocks::search::tight)) != nullptr;
    };
    // If blocks are never merged, releases no more than the request needs. The out-of-memory handlers would release
    // everything, and the next sizes would have to be allocated again.
    const auto in_exchange = [&] {
      std::lock_guard one(growing_);
      if (merges_ || release(release_depth::finished, segment) == 0) return false;
      try {
        accounting_.acquire_once(pool_, segment, ask_backend);
        return true;
      } catch (const out_of_memory&) {
        return false;
      }
    };
    if (look_again()) return *found;
    if (!in_exchange() && !accounting_.acquire(pool_, segment, ask_alone, look_again)) return *found;
  }
  accounting_.reserved(pool_, p, segment);
  try {
    return blocks_.add_segment(p, segment, size);
  } catch (...) {
    backend_.release(pool_.kind(), pool_.device(), p, segment);
    accounting_.returned(pool_, segment);
    throw;
  }
}

// The segments leave the pool before any wait for their uses, and the wait holds no lock of blocks (R7, R14).
std::size_t segment_supply::release(release_depth how, std::size_t enough) {
  drain_shards();
  std::size_t bytes = 0;
  allocation* kept = nullptr;
  std::exception_ptr first;
  for (allocation* a : blocks_.take_free_segments()) {
    if (bytes < enough && release_if_unused(*a, how, pool_, accounting_, first)) {
      bytes += a->bytes;
      blocks_.remove_segment(*a);
    } else {
      a->next = kept;
      kept = a;
    }
  }
  if (kept) blocks_.store(kept);
  if (first) std::rethrow_exception(first);
  return bytes;
}

// Called before the pool grows beyond its share. Releases the least recently used completed segments. Never waits for
// devices, because growing_ is held.
void segment_supply::collect_garbage(std::size_t segment) {
  if (gc_limit_ == SIZE_MAX) return;
  const std::size_t held = blocks_.reserved_bytes();
  if (held + segment > gc_limit_) release(release_depth::finished, held + segment - gc_limit_);
}

}  // namespace ferry::inline FERRY_ABI::detail
