// The parts of reduce_on_cpu() for scans and histograms.
#pragma once
#include "ferry/core/detail/operations/reduction_evaluation.hpp"

namespace ferry::inline FERRY_ABI::detail {

void scan_on_cpu(const reduction_evaluation& r, unsigned most_threads);
void count_on_cpu(const reduction_evaluation& r, unsigned most_threads);

}  // namespace ferry::inline FERRY_ABI::detail
