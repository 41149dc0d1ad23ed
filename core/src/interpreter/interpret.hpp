// The evaluator on the CPU: interprets a program over blocks that fit the first cache.
#pragma once
#include "ferry/core/detail/operations/evaluation.hpp"

namespace ferry::inline FERRY_ABI::detail {

// Runs the evaluation, and blocks until it is done. Large evaluations run on several threads: at most `most_threads`,
// or the number of cores if that is 0. Does not call other parts of ferry.
void interpret(const evaluation& e, unsigned most_threads = 0);

}  // namespace ferry::inline FERRY_ABI::detail
