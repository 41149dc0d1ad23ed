// CPU affinity of threads.
#pragma once
#include <vector>

#include "ferry/core/detail/support/internal.hpp"

namespace ferry::inline FERRY_ABI::detail {

// Cores that the calling thread may use.
std::vector<int> usable_cores();
// Cores that this process may use: those of its first thread at the first call. Other threads may be bound to a few of
// them, as those of OpenMP are.
const std::vector<int>& process_cores();
// Binds the calling thread to those of the cores that the process may use, whatever it was bound to before. Does
// nothing if there is no such core.
void run_this_thread_on(const std::vector<int>& cores);

// Binds the calling thread to cores for a scope, so that memory that it touches first is near them. Does nothing
// without cores.
class cores_scope {
 public:
  explicit cores_scope(const std::vector<int>& cores);
  ~cores_scope();
  cores_scope(const cores_scope&) = delete;
  cores_scope& operator=(const cores_scope&) = delete;

 private:
  std::vector<int> before_;
};

}  // namespace ferry::inline FERRY_ABI::detail
