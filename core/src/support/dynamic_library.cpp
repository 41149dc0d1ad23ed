#include "ferry/core/detail/support/dynamic_library.hpp"

#include <dlfcn.h>

#include "ferry/core/detail/support/environment.hpp"

namespace ferry::inline FERRY_ABI::detail {
namespace {

std::vector<std::string> chosen_files(const char* variable, const std::vector<std::string>& files) {
  if (const auto given = environment(variable)) return {*given};
  return files;
}

}  // namespace

dynamic_library::dynamic_library(const std::vector<std::string>& files, binding when) {
  for (const std::string& file : files)
    if (!handle_) load(file, when);
}

dynamic_library::dynamic_library(const char* variable, const std::vector<std::string>& files)
    : dynamic_library(chosen_files(variable, files)) {}

void dynamic_library::load(const std::string& file, binding when) {
  handle_ = dlopen(file.c_str(), (when == binding::now ? RTLD_NOW : RTLD_LAZY) | RTLD_LOCAL);
  if (handle_) return;
  const char* const why = dlerror();
  why_not_ += (why_not_.empty() ? "" : "; ") + (why ? why : file);
}

void* dynamic_library::address_of(const char* name) const { return handle_ ? dlsym(handle_, name) : nullptr; }

}  // namespace ferry::inline FERRY_ABI::detail
