#include "jit/jit_settings.hpp"

#include "ferry/core/detail/support/environment.hpp"
#include "ferry/core/memory_size.hpp"

namespace ferry::inline FERRY_ABI::detail::jit {
namespace {

// Returns the default folder of the cache; empty if the user has no folder for caches.
std::string default_kernel_folder() {
  const std::string name = "/ferry/kernels";
  if (const auto cache = environment("XDG_CACHE_HOME")) return *cache + name;
  if (const auto home = environment("HOME")) return *home + "/.cache" + name;
  return {};
}

}  // namespace

jit_settings jit_settings::from_environment() {
  jit_settings s;
  s.how = environment_choice<mode>("FERRY_JIT", {"off", "on", "sync"}).value_or(s.how);
  const auto folder = environment("FERRY_JIT_CACHE");
  if (!folder)
    s.cache = default_kernel_folder();
  else if (*folder != "off")
    s.cache = *folder;
  with_variable("FERRY_JIT_CACHE_SIZE", [&](const char* text) {
    const memory_size size(text);
    if (size.is_percentage()) refuse_variable("FERRY_JIT_CACHE_SIZE", text, "amounts such as 256MiB");
    s.cache_bytes = size.bytes_of(0);
  });
  s.log = environment("FERRY_JIT_LOG").value_or("");
  return s;
}

}  // namespace ferry::inline FERRY_ABI::detail::jit
