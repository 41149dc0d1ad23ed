#include "generator/function_text.hpp"

#include <algorithm>
#include <cstring>

#include "ferry/core/detail/support/concat.hpp"
#include "generator/element_text.hpp"
#include "generator/operation_text.hpp"

namespace ferry::inline FERRY_ABI::detail::generator {
namespace {

#include "generator/function_prelude.inc"

void add_function(std::vector<const function_definition*>& all, const function_definition& f) {
  const auto is_same = [&](const function_definition* o) { return number_of(*o) == number_of(f); };
  if (std::any_of(all.begin(), all.end(), is_same)) return;
  for (const function_definition* used : f.uses) add_function(all, *used);
  all.push_back(&f);
}

// Returns the namespace of one function: functions of different sources may have the same name.
std::string namespace_of(const std::vector<const function_definition*>& all, const function_definition& f) {
  const auto at =
      std::find_if(all.begin(), all.end(), [&](const function_definition* o) { return number_of(*o) == number_of(f); });
  return concat("function", at - all.begin());
}

// Returns the name of the type in bodies of functions.
std::string spelled(scalar_type t) {
  if (t == scalar_type::half) return "ferry::half";
  if (t == scalar_type::bfloat16) return "ferry::bfloat16";
  return concat(is_complex(t) ? "std::" : "", register_type(t));
}

}  // namespace

std::string_view function_prelude() { return function_prelude_text; }

std::vector<const function_definition*> functions_of(const evaluation& e) {
  std::vector<const function_definition*> all;
  for (const function_call& c : e.calls) add_function(all, *c.function);
  return all;
}

bool functions_contain(const evaluation& e, const char* word) {
  if (e.calls.empty()) return false;
  for (const function_definition* f : functions_of(e))
    for (const char* text : {f->result_text, f->parameter_text, f->body})
      if (std::strstr(text, word)) return true;
  return false;
}

void write_functions(source_builder& s, const evaluation& e) {
  if (e.calls.empty()) return;
  s.add(function_prelude_text);
  if (functions_contain(e, "half") || functions_contain(e, "bfloat16")) s.add(function_halves_text);
  if (functions_contain(e, "complex")) s.add(function_complex_text);
  const std::vector<const function_definition*> all = functions_of(e);
  for (const function_definition* f : all) {
    s.line("namespace ", namespace_of(all, *f), " {");
    for (const function_definition* used : f->uses) s.line("using ", namespace_of(all, *used), "::", used->name, ";");
    s.add(source_of(*f));
    s.line("}");
  }
  s.line("#line ", std::count(s.text().begin(), s.text().end(), '\n') + 2, " \"ferry_kernel.cu\"");
}

std::string call_text(const evaluation& e, const instruction& i) {
  const function_call& c = e.calls[i.a];
  std::string text = concat(namespace_of(functions_of(e), *c.function), "::", c.function->name, "(");
  for (std::size_t k = 0; k != c.function->parameters; ++k) {
    const scalar_type t = c.function->parameter[k];
    const std::string value = concat("r", c.value[k]);
    text += k == 0 ? "" : ", ";
    text += computed_as(t) != t || is_complex(t) ? spelled(t) + "(" + value + ")" : value;
  }
  text += ")";
  if (is_complex(c.function->result)) return text + ".plain()";
  return computed_as(c.function->result) != c.function->result ? "float(" + text + ")" : text;
}

std::string places_of_functions(const evaluation& e) {
  std::string text;
  if (e.calls.empty()) return text;
  for (const function_definition* f : functions_of(e))
    text += concat(text.empty() ? "" : ", ", f->name, " (", f->file, ":", f->line, ")");
  return text;
}

void append_calls(std::string& to, const evaluation& e) {
  for (const function_call& c : e.calls) {
    const std::uint32_t number = number_of(*c.function);
    to.append(reinterpret_cast<const char*>(&number), sizeof number);
    to.append(reinterpret_cast<const char*>(c.value.data()), c.function->parameters);
  }
}

}  // namespace ferry::inline FERRY_ABI::detail::generator
