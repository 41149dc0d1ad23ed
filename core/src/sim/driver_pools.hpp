// The driver's pools of a simulated machine, with CUDA's rules: allocations and frees are stream-ordered, and each pool
// needs its own grants.
#pragma once
#include <map>
#include <memory>
#include <vector>

#include "ferry/core/detail/backend/pool_backend.hpp"
#include "scheduler.hpp"

namespace ferry::inline FERRY_ABI::detail::sim {

class machine;

// The scheduler's mutex guards the tables. Pools are shared within one process only.
class driver_pools final : public pool_backend {
 public:
  explicit driver_pools(machine& m) : machine_(m) {}

  bool has_pools(memory_kind kind, int device) const override;
  native_pool create_pool(memory_kind kind, int device, const pool_options& options) override;
  native_pool default_pool(int device, const pool_options& options) override;
  native_pool_usage usage(native_pool p) override;
  void trim(native_pool p, std::size_t keep) override;
  void grant(native_pool p, int device) override;
  void* allocate(native_pool p, std::size_t bytes, native_stream s) override;
  void free(void* p, native_stream s) override;

  int export_pool(native_pool p) override;
  native_pool import_pool(int device, int descriptor) override;
  shared_pointer_key export_pointer(void* p) override;
  void* import_pointer(native_pool p, const shared_pointer_key& key) override;
  native_event create_shared_event(int device) override;
  shared_event_key export_event(native_event e) override;
  native_event import_event(const shared_event_key& key) override;

  // Records that the CPU has seen completion of all work on a stream before that place. A trim counts only such frees:
  // the driver does not query by itself, nor does it conclude completion from other events.
  void seen(std::uint64_t stream, std::uint64_t place);
  // Returns the place of a record or free, in the order of the calls.
  std::uint64_t next_place() { return ++places_; }
  // Called after the CPU waited for a stream: releases free bytes above the release thresholds.
  void after_synchronization(const scheduler::lock& l);

 private:
  struct block {
    void* p = nullptr;
    std::size_t bytes = 0;
    std::shared_ptr<signal> freed;  // null while the block is in use
    std::uint64_t freed_on = 0;     // the stream
    std::uint64_t place = 0;
    bool seen = false;  // the CPU has seen its completion
  };
  struct pool {
    memory_kind kind = memory_kind::device;
    int device = 0;
    pool_options options;
    std::vector<block> free;
    native_pool_usage usage;
  };
  pool& find(native_pool p);
  enum class frees : std::uint8_t { seen_by_cpu, over };
  std::shared_ptr<const footprint> footprint_of(std::string_view verb, const void* p, std::size_t bytes,
                                                bool begins_life) const;
  static void release_down_to(machine& m, pool& p, std::size_t keep, frees which);
  bool take_free(pool& p, std::size_t bytes, std::uint64_t stream, block& into);
  [[noreturn]] static void refuse_sharing();

  machine& machine_;
  std::uint64_t places_ = 0;
  std::map<std::uint64_t, pool> pools_;
  std::map<int, std::uint64_t> defaults_;
  struct used_block {
    std::uint64_t pool = 0;
    std::size_t bytes = 0;
  };
  std::map<void*, used_block> used_;
};

}  // namespace ferry::inline FERRY_ABI::detail::sim
