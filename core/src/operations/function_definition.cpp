#include "ferry/core/detail/operations/function_definition.hpp"

#include <map>
#include <mutex>
#include <utility>

#include "ferry/core/detail/support/concat.hpp"

namespace ferry::inline FERRY_ABI::detail {
namespace {

// As in a literal.
std::string quoted_path(const char* path) {
  std::string text = "\"";
  for (const char* c = path; *c; ++c) {
    if (*c == '"' || *c == '\\') text += '\\';
    text += *c;
  }
  return text + "\"";
}

}  // namespace

std::string source_of(const function_definition& f) {
  return concat("#line ", f.line, " ", quoted_path(f.file), "\n__device__ inline ", f.result_text, " ", f.name,
                f.parameter_text, " ", f.body, "\n");
}

std::uint32_t number_of(const function_definition& f) {
  if (const std::uint32_t known = f.number.load(std::memory_order_acquire)) return known;
  std::string key;
  for (const function_definition* used : f.uses) key += concat(number_of(*used), " ");
  key += source_of(f);
  static std::mutex mutex;
  // Never destroyed: expressions may be evaluated while the process ends.
  static auto* const numbers = new std::map<std::string, std::uint32_t>();
  const std::lock_guard lock(mutex);
  const auto next = static_cast<std::uint32_t>(numbers->size() + 1);
  const std::uint32_t number = numbers->emplace(std::move(key), next).first->second;
  f.number.store(number, std::memory_order_release);
  return number;
}

}  // namespace ferry::inline FERRY_ABI::detail
