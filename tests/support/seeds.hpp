#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <stdexcept>
#include <string>

namespace support {

// An environment variable as a number, else what is usual. Throws std::invalid_argument where it is none.
inline std::size_t number(const char* variable, std::size_t usual) {
  const char* const text = std::getenv(variable);
  if (!text) return usual;
  const std::string whole = text;
  if (whole.empty() || whole.find_first_not_of("0123456789") != whole.npos)
    throw std::invalid_argument(std::string(variable) + "='" + whole + "' is no number");
  return std::stoul(whole);
}

// How many seeds the caller asks for: at least one, else nothing would be tested.
inline std::size_t asked_seeds(std::size_t usual) {
  const std::size_t n = number("FERRY_TEST_SEEDS", usual);
  if (n == 0) throw std::invalid_argument("FERRY_TEST_SEEDS=0 would test nothing");
  return n;
}

// How many seeds, or other rounds, a case runs: as many as usual, or $FERRY_TEST_SEEDS if that is less (for sanitizers, which
// are slow).
inline std::size_t seeds(std::size_t usual) { return std::min(usual, asked_seeds(usual)); }

}  // namespace support
