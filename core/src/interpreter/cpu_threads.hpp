// Threads of the CPU for large evaluations.
#pragma once
#include <functional>

#include "ferry/core/detail/operations/evaluation.hpp"

namespace ferry::inline FERRY_ABI::detail {

// Returns a number of threads that suits the bytes that an evaluation reads and writes. It is at most `most`, or the
// number of cores if `most` is 0.
unsigned threads_for(const evaluation& e, unsigned most);
// Calls run(k) for all k below n: on the workers of this thread if it has some, else each on a thread of its own if the
// system allows so many. Returns when all calls have ended. Rethrows the exception of the lowest k.
void on_threads(unsigned n, const std::function<void(unsigned)>& run);
// Returns the number of parts, at most `all`, into which to divide work for on_threads(): several for each thread if
// workers run them, so that a thread that the system delays holds up little.
unsigned parts_for(unsigned threads, std::size_t all);

}  // namespace ferry::inline FERRY_ABI::detail
