#include "interpreter/cpu_threads.hpp"

#include <algorithm>
#include <exception>
#include <system_error>
#include <thread>
#include <vector>

#include "ferry/core/detail/support/cpu_quota.hpp"
#include "ferry/core/detail/support/cpu_workers.hpp"

namespace ferry::inline FERRY_ABI::detail {

unsigned threads_for(const evaluation& e, unsigned most) {
  constexpr std::size_t bytes_of_a_thread = 2 << 20;  // for fewer bytes, starting a thread costs more than it saves
  std::size_t bytes = 0;
  const std::size_t count = e.count();
  for (const evaluation_operand& o : e.operands) bytes += count * size_of(o.type);
  for (const evaluation_output& o : e.outputs) bytes += count * size_of(o.to.type);
  if (bytes < 2 * bytes_of_a_thread) return 1;
  if (most == 0 && workers_of_this_thread()) most = workers_of_this_thread()->threads();
  if (most == 0) most = static_cast<unsigned>(std::min<std::size_t>(parallel_threads(), 16));
  return static_cast<unsigned>(std::min<std::size_t>(most, bytes / bytes_of_a_thread));
}

unsigned parts_for(unsigned threads, std::size_t all) {
  constexpr unsigned parts_of_a_thread = 4;
  const unsigned parts = threads > 1 && workers_of_this_thread() ? parts_of_a_thread * threads : threads;
  return static_cast<unsigned>(std::min<std::size_t>(parts, all));
}

void on_threads(unsigned n, const std::function<void(unsigned)>& run) {
  if (cpu_workers* const workers = workers_of_this_thread())
    return workers->run(n, [&run](std::size_t k) { run(static_cast<unsigned>(k)); });
  std::vector<std::exception_ptr> errors(n);
  const auto part = [&run, &errors](unsigned k) noexcept {
    try {
      run(k);
    } catch (...) {
      errors[k] = std::current_exception();
    }
  };
  {
    std::vector<std::jthread> others;
    others.reserve(n);
    unsigned begun = 1;
    try {
      for (; begun < n; ++begun) others.emplace_back(part, begun);
    } catch (const std::system_error&) {  // the system allows no more threads: this one does their part
    }
    part(0);
    for (unsigned k = begun; k < n; ++k) part(k);
  }
  for (const std::exception_ptr& e : errors)
    if (e) std::rethrow_exception(e);
}

}  // namespace ferry::inline FERRY_ABI::detail
