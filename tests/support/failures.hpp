// What a call throws, as text.
#pragma once
#include <ferry/core/error.hpp>
#include <string>

namespace support {

// The text of an error of type Error; empty if nothing is thrown. Other exceptions propagate.
template <class Error = ferry::invalid_argument>
std::string failure_of(auto call) {
  try {
    call();
  } catch (const Error& e) {
    return e.what();
  }
  return {};
}

inline bool has(const std::string& text, const std::string& part) { return text.find(part) != text.npos; }

}  // namespace support
