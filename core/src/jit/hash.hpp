// Hashes of bytes, for tables and for checksums against damage. They are not cryptographic.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>

#include "ferry/version.hpp"

namespace ferry::inline FERRY_ABI::detail::jit {

// Multiplies to 128 bits, and combines the halves by exclusive or, as wyhash does (Wang Yi).
inline std::uint64_t fold(std::uint64_t a, std::uint64_t b) {
  __extension__ using wide = unsigned __int128;
  const wide product = static_cast<wide>(a) * b;
  return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
}

inline std::uint64_t hash_bytes(const void* data, std::size_t bytes, std::uint64_t seed = 0) {
  constexpr std::uint64_t first = 0xa0761d6478bd642full, second = 0xe7037ed1a0b428dbull;
  const auto* at = static_cast<const unsigned char*>(data);
  std::uint64_t h = seed ^ first;
  std::size_t left = bytes;
  for (; left >= 8; left -= 8, at += 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, at, 8);
    h = fold(h ^ word, second);
  }
  std::uint64_t last = 0;
  if (left != 0) std::memcpy(&last, at, left);
  return fold(fold(h ^ last, second) ^ bytes, first);
}
inline std::uint64_t hash_bytes(std::string_view text, std::uint64_t seed = 0) {
  return hash_bytes(text.data(), text.size(), seed);
}

// Returns a hash of 128 bits as 32 hexadecimal digits.
std::string hash_digits(std::string_view text);

}  // namespace ferry::inline FERRY_ABI::detail::jit
