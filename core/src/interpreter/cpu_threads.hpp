// Large evaluations run on several threads of the CPU.
#pragma once
#include <functional>

#include "ferry/core/detail/operations/evaluation.hpp"

namespace ferry::inline FERRY_ABI::detail {

// How many threads are worth the bytes that an evaluation reads and writes: at most `most`, or 0 for the number of
// cores.
unsigned threads_for(const evaluation& e, unsigned most);
// Calls run(k) for all k below n, each on a thread of its own where there are threads. Throws what run(k) throws for
// the lowest k, when all have ended.
void on_threads(unsigned n, const std::function<void(unsigned)>& run);

}  // namespace ferry::inline FERRY_ABI::detail
