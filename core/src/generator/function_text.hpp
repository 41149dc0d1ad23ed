// CUDA C++ for functions of the user's program and their calls.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "ferry/core/detail/operations/evaluation.hpp"
#include "generator/source_builder.hpp"

namespace ferry::inline FERRY_ABI::detail::generator {

// Returns what bodies of functions may use besides the language and the compiler's own functions.
std::string_view function_prelude();

// Returns the functions that a program calls, and all that these use. Each comes once, behind those that it uses.
std::vector<const function_definition*> functions_of(const evaluation& e);
// True if the body of one of functions_of() contains a word.
bool functions_contain(const evaluation& e, const char* word);

// Writes function_prelude(), then the functions, each in a namespace of its own. Errors of the compiler in their bodies
// name the program's lines.
void write_functions(source_builder& s, const evaluation& e);
// Returns the value of a call, as value_text() does.
std::string call_text(const evaluation& e, const instruction& i);
// Returns "gelu (/home/me/model.cpp:12)" for each called function, separated by commas; "" if there is none.
std::string places_of_functions(const evaluation& e);
// Appends the numbers of all called functions and of their arguments: with the code, they determine the source.
void append_calls(std::string& to, const evaluation& e);

}  // namespace ferry::inline FERRY_ABI::detail::generator
