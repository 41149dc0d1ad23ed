// Functions of the program that have a text (FERRY_FUNCTION), and calls of them in expressions.
#pragma once
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "ferry/core/detail/operations/scalar_type.hpp"
#include "ferry/core/detail/support/internal.hpp"

namespace ferry::inline FERRY_ABI::detail {

inline constexpr std::size_t most_parameters = 8;

// to[i] = function(operands[0][i], operands[1][i], ...) for i < n. Elements are as in registers: half and bfloat16 are
// float, bool is one byte. `to` may be an operand.
using function_loop = void (*)(std::byte* to, const std::byte* const* operands, std::size_t n);

// Constant data of the source that defines the function. Programs refer to it by its address.
struct function_definition {
  const char* name;
  const char* result_text;     // such as "float"
  const char* parameter_text;  // such as "(float x, float y)"
  const char* body;            // in braces
  const char* file;
  unsigned line;
  scalar_type result;
  std::uint8_t parameters;  // their number
  std::array<scalar_type, most_parameters> parameter;
  function_loop loop;
  std::span<const function_definition* const> uses;  // functions that the body calls
  std::atomic<std::uint32_t>& number;                // see number_of()
};

// A call in a program, and the values of its arguments, of computed_as() the types of the parameters.
struct function_call {
  const function_definition* function;
  std::array<std::uint8_t, most_parameters> value;
  bool operator==(const function_call&) const = default;
};

// Returns the function in CUDA C++, without its return type, with a directive that names the lines of the user's
// source.
std::string source_of(const function_definition& f);

// Returns a number above 0, which is the same in this process for functions of equal source that use equal functions.
// After the first call for a definition it takes no lock.
std::uint32_t number_of(const function_definition& f);

}  // namespace ferry::inline FERRY_ABI::detail
