// The evaluator on the CPU: interprets a program over blocks that fit the first cache.
#pragma once
#include "ferry/core/detail/operations/evaluation.hpp"

namespace ferry::inline FERRY_ABI::detail {

// Evaluates. Blocks until done. Large evaluations run on several threads, at most `most_threads`; 0: as many as there
// are cores. Calls nothing of ferry.
void interpret(const evaluation& e, unsigned most_threads = 0);

}  // namespace ferry::inline FERRY_ABI::detail
