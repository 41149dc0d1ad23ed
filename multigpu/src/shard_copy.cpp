#include "ferry/multigpu/shard_copy.hpp"

#include "ferry/core/access_guard.hpp"
#include "ferry/core/error.hpp"
#include "ferry/core/route.hpp"
#include "ferry/core/workspace.hpp"
#include "submitters.hpp"

namespace ferry::detail {
void throw_other_count(std::size_t given, const std::string& shape) {
  throw invalid_argument("a copy between " + std::to_string(given) + " elements and a sharded array of shape " + shape);
}

void for_each_waiting_copy(const team& t, memory_kind kind, std::size_t bytes,
                           const std::function<void(std::size_t)>& f) {
  const std::size_t first = t.first_local();
  if (t.local_size() > 1 && kind == memory_kind::device && bytes >= current_copy_options().parallel_from_bytes &&
      !this_thread_state.capture && !workspace_scope::current())
    return t.waiting_threads().run([&](std::size_t i) { f(first + i); });
  for (std::size_t i = 0; i < t.local_size(); ++i) f(first + i);
}

}  // namespace ferry::detail
