// Reductions, scans and counts on the CPU.
#pragma once
#include "ferry/core/detail/operations/reduction_evaluation.hpp"

namespace ferry::inline FERRY_ABI::detail {

// Runs the reduction, and blocks until it is done. Large ones run on several threads: at most `most_threads`, or the
// number of cores if that is 0. The result does not depend on the number of threads. Does not call other parts of
// ferry.
void reduce_on_cpu(const reduction_evaluation& r, unsigned most_threads = 0);

}  // namespace ferry::inline FERRY_ABI::detail
