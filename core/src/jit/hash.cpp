#include "jit/hash.hpp"

#include <cinttypes>
#include <cstdio>

namespace ferry::inline FERRY_ABI::detail::jit {

std::string hash_digits(std::string_view text) {
  char digits[33];
  std::snprintf(digits, sizeof digits, "%016" PRIx64 "%016" PRIx64, hash_bytes(text, 1), hash_bytes(text, 2));
  return digits;
}

}  // namespace ferry::inline FERRY_ABI::detail::jit
