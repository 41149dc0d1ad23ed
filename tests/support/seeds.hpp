// Numbers of seeds from environment variables, for random tests.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <stdexcept>
#include <string>

namespace support {

// The value of an environment variable as a number, or `usual` if unset. Throws std::invalid_argument if it is not a
// number.
inline std::size_t number(const char* variable, std::size_t usual) {
  const char* const text = std::getenv(variable);
  if (!text) return usual;
  const std::string whole = text;
  if (whole.empty() || whole.find_first_not_of("0123456789") != whole.npos)
    throw std::invalid_argument(std::string(variable) + "='" + whole + "' is no number");
  return std::stoul(whole);
}

// The requested number of seeds; at least one, so that a test never passes without running.
inline std::size_t asked_seeds(std::size_t usual) {
  const std::size_t n = number("FERRY_TEST_SEEDS", usual);
  if (n == 0) throw std::invalid_argument("FERRY_TEST_SEEDS=0 would test nothing");
  return n;
}

// The number of seeds (or other rounds) of a case: the smaller of `usual` and $FERRY_TEST_SEEDS, which sanitizer runs
// lower.
inline std::size_t seeds(std::size_t usual) { return std::min(usual, asked_seeds(usual)); }

}  // namespace support
