// What a call throws, as text.
#pragma once
#include <ferry/core/error.hpp>
#include <string>

namespace support {

// Of an error of that type; nothing if nothing is thrown. Others go on.
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
