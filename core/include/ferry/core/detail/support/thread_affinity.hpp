// Where threads of the CPU run.
#pragma once
#include <vector>

namespace ferry {

// Cores that the calling thread may use.
std::vector<int> usable_cores();
// Cores that this process may use: those of its first thread when they were asked for first. Other threads may be bound to a
// few of them, as those of OpenMP are.
const std::vector<int>& process_cores();
// Keeps the calling thread on those of the cores that the process may use, whatever it was bound to; where there is no such
// core it stays where it is.
void run_this_thread_on(const std::vector<int>& cores);

// The calling thread runs on some cores, for a scope: memory that it touches first lies near them. With no cores nothing
// changes.
class cores_scope {
 public:
  explicit cores_scope(const std::vector<int>& cores);
  ~cores_scope();
  cores_scope(const cores_scope&) = delete;
  cores_scope& operator=(const cores_scope&) = delete;

 private:
  std::vector<int> before_;
};

}  // namespace ferry
