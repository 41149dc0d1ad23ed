// The list of kernels that a process needed, for programs that must not compile at run time (FERRY_JIT_LOG).
#pragma once
#include <string>
#include <utility>

#include "ferry/version.hpp"
#include "jit/kernel.hpp"

namespace ferry::inline FERRY_ABI::detail::jit {

// Appends JSON objects, one on each line. Several processes may append to one file. If that fails, stderr reports it
// once.
class shape_log {
 public:
  // file: empty for no log.
  explicit shape_log(std::string file) : file_(std::move(file)) {}
  // Appends a kernel that is not pending. Called by one thread at a time.
  void add(const kernel& k, architecture target);

 private:
  const std::string file_;
  bool has_failed_ = false;
};

// Returns the line without its end: shape, device, architecture, state, milliseconds, and why it failed.
std::string log_line(const kernel& k, architecture target);

}  // namespace ferry::inline FERRY_ABI::detail::jit
