// Reductions, scans and counts on the CPU.
#pragma once
#include "ferry/core/detail/operations/reduction_evaluation.hpp"

namespace ferry::inline FERRY_ABI::detail {

// Runs the reduction. Blocks until done. Large ones run on several threads, at most `most_threads`; 0: as many as there
// are cores. The result is the same for any number of threads. Calls nothing of ferry.
void reduce_on_cpu(const reduction_evaluation& r, unsigned most_threads = 0);

}  // namespace ferry::inline FERRY_ABI::detail
