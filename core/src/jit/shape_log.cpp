#include "jit/shape_log.hpp"

#include <fcntl.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "ferry/core/detail/support/concat.hpp"
#include "ferry/core/detail/support/plain_text.hpp"
#include "jit/owned_files.hpp"

namespace ferry::inline FERRY_ABI::detail::jit {

std::string log_line(const kernel& k, architecture target) {
  const bool ready = k.state() == kernel_state::ready;
  std::string line = concat("{\"shape\": ", json_string(k.source.shape), ", \"device\": ", k.device,
                            ", \"architecture\": \"sm_", target.number(), "\", \"state\": ");
  line += !ready ? "\"failed\"" : k.origin == kernel_origin::disk ? "\"disk\"" : "\"compiled\"";
  line += ", \"ms\": " + fixed_text(k.milliseconds, 3);
  if (!ready) line += ", \"why\": " + json_string(k.failure);
  return line + "}";
}

void shape_log::add(const kernel& k, architecture target) {
  if (file_.empty()) return;
  const std::string line = log_line(k, target) + "\n";
  const descriptor file(::open(file_.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644));
  // Writes the line at once, so that lines of several processes do not mix.
  if (file && ::write(file.get(), line.data(), line.size()) == static_cast<ssize_t>(line.size())) return;
  if (std::exchange(has_failed_, true)) return;
  std::fprintf(stderr, "ferry: kernels cannot be listed in %s (FERRY_JIT_LOG): %s\n", file_.c_str(),
               std::strerror(errno));
}

}  // namespace ferry::inline FERRY_ABI::detail::jit
