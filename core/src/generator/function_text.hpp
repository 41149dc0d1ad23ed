// CUDA C++ for functions of the user's program and their calls.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "ferry/core/detail/operations/evaluation.hpp"
#include "generator/source_builder.hpp"

namespace ferry::inline FERRY_ABI::detail::generator {

// What texts of the program may use besides the language and the compiler's own functions.
std::string_view function_prelude();

// The functions that a program calls, and those that these use: each once, behind those that it uses.
std::vector<const function_definition*> functions_of(const evaluation& e);
// True if the text of one of them contains a word.
bool functions_contain(const evaluation& e, const char* word);

// Writes the functions, each in a namespace of its own, behind what their texts may use. Errors of the compiler in
// their texts name the user's lines.
void write_functions(source_builder& s, const evaluation& e);
// The value of a call: see value_text().
std::string call_text(const evaluation& e, const instruction& i);
// "gelu (/home/me/model.cpp:12)" for each called function, separated by commas. "" if there is none.
std::string places_of_functions(const evaluation& e);
// Appends the numbers of all called functions and of their arguments: with the code, they determine the source.
void append_calls(std::string& to, const evaluation& e);

}  // namespace ferry::inline FERRY_ABI::detail::generator
