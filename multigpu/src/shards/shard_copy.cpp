#include "ferry/multigpu/shard_copy.hpp"

#include <system_error>

#include "ferry/core/detail/ordering/access_guard.hpp"
#include "ferry/core/detail/support/concat.hpp"
#include "ferry/core/error.hpp"
#include "ferry/core/route.hpp"
#include "ferry/core/workspace.hpp"
#include "teams/submitters.hpp"

namespace ferry::inline FERRY_ABI::detail {
void throw_other_count(std::size_t given, const array_look& a, source_line at) {
  throw invalid_argument(concat("a copy between ", given, " elements and ", array_text(a), in_line(at),
                                ": the numbers of elements must be equal"));
}

void for_each_waiting_copy(const team& t, memory_kind kind, bool are_in_order, std::size_t bytes,
                           function_ref<void(std::size_t member)> f) {
  refuse_inside_submission("copy");  // the threads could not detect that
  const std::size_t first = t.first_local();
  submitters* threads = nullptr;
  if (t.local_size() > 1 && kind == memory_kind::device && are_in_order &&
      bytes >= current_copy_options().parallel_from_bytes && !this_thread_state.capture && !workspace_scope::current())
    try {
      threads = &t.waiting_threads();
    } catch (const std::system_error&) {  // no more threads can be started
    }
  if (threads) return threads->run([&](std::size_t i) { f(first + i); });
  for (std::size_t i = 0; i < t.local_size(); ++i) f(first + i);
}

}  // namespace ferry::inline FERRY_ABI::detail
