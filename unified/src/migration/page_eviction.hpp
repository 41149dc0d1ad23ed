// Out-of-memory handlers of unified arrays: drop contents that the program no longer needs, or move pages to the CPU.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "ferry/core/memory_handlers.hpp"
#include "ferry/core/runtime.hpp"
#include "migration/array_records.hpp"
#include "migration/migration_settings.hpp"
#include "migration/migration_streams.hpp"
#include "migration/move_plan.hpp"

namespace ferry::inline FERRY_ABI::detail {

class page_eviction {
 public:
  // Adds two out-of-memory handlers (see reclaim_handler), which the destructor removes. One drops discardable
  // contents, the other moves pages to the CPU with their contents: least recently used first. They take only unused
  // pages.
  page_eviction(runtime& m, const migration_settings& settings, array_records& records, migration_streams& streams);
  ~page_eviction();
  page_eviction(const page_eviction&) = delete;
  page_eviction& operator=(const page_eviction&) = delete;

  // Marks the current contents as discardable when memory runs out, until the next use of the array.
  void mark_discardable(allocation& a, byte_range where);
  bool is_discardable(allocation& a, byte_range where);

 private:
  // An array with pages on a device that is short of memory.
  struct candidate {
    array_record* of;
    std::uint64_t used;
  };
  // Returns the number of bytes that it has freed.
  std::size_t evict(const memory_demand& d, page_step how);
  std::vector<candidate> candidates(page_step how);
  std::size_t take_from(array_record& r, const memory_demand& d, page_step how, std::size_t enough);
  bool send_away(array_record& r, byte_range where, int device, page_step how, std::uint64_t& access_epoch);

  runtime& runtime_;
  const migration_settings& settings_;
  array_records& records_;
  migration_streams& streams_;
  std::uint64_t handlers_[2] = {};
};

}  // namespace ferry::inline FERRY_ABI::detail
