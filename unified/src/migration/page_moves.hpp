// Executes the planned steps of an access: moves of pages, and their mapping.
#pragma once
#include <span>
#include <vector>

#include "ferry/core/runtime.hpp"
#include "migration/array_records.hpp"
#include "migration/host_prefetcher.hpp"
#include "migration/migration_settings.hpp"
#include "migration/migration_streams.hpp"
#include "migration/move_failures.hpp"
#include "migration/move_plan.hpp"

namespace ferry::inline FERRY_ABI::detail {

class page_moves {
 public:
  page_moves(runtime& m, const migration_settings& settings, array_records& records, migration_streams& streams,
             move_failures& failures);
  // Maps pages, and enqueues the moves of a plan. A failure is not an error of the program: its access works without
  // the move, by faults.
  void carry_out(const coming_access& a, const std::vector<planned>& plan);
  // Large moves to the CPU continue while its loop runs. True if such a host prefetch has started; else, nothing has
  // moved. Blocks until the loop may start.
  bool start_beside_loop(const coming_access& a, const std::vector<planned>& plan);
  // Blocks until a host prefetch of the array has ended.
  void wait_for_arrival(allocation& a);

 private:
  void send(const coming_access& a, timeline& on, std::span<const planned> plan, page_step what);

  runtime& runtime_;
  const migration_settings& settings_;
  array_records& records_;
  migration_streams& streams_;
  move_failures& failures_;
  host_prefetcher host_prefetcher_;
};

}  // namespace ferry::inline FERRY_ABI::detail
