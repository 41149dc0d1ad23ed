#include "generator/operation_text.hpp"

#include <array>
#include <cctype>

#include "ferry/core/detail/support/concat.hpp"
#include "generator/function_text.hpp"

namespace ferry::inline FERRY_ABI::detail::generator {
namespace {

std::string numbered(char letter, int n) { return concat(letter, n); }

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

// Replaces the names a, b and c in the code of an operation.
std::string with_names(std::string_view code, const instruction& i) {
  std::string text;
  for (std::size_t at = 0; at < code.size();) {
    std::size_t end = at;
    while (end < code.size() && is_word(code[end])) ++end;
    const std::string_view word = code.substr(at, end - at);
    if (word == "a")
      text += numbered('r', i.a);
    else if (word == "b")
      text += numbered('r', i.b);
    else if (word == "c")
      text += numbered('r', i.c);
    else
      text += word;
    if (end < code.size()) text += code[end++];
    at = end;
  }
  return text;
}

std::string listed_text(const instruction& i) {
  const bool is_unsafe = is_signed(i.from);  // C++ does not define overflow of signed numbers
  if (is_unsafe && i.what == operation::add) return with_names("wrapped_add(a, b)", i);
  if (is_unsafe && i.what == operation::subtract) return with_names("wrapped_subtract(a, b)", i);
  if (is_unsafe && i.what == operation::multiply) return with_names("wrapped_multiply(a, b)", i);
  if (is_unsafe && i.what == operation::negate) return with_names("wrapped_negate(a)", i);
  if (is_integer(i.from) && i.what == operation::abs) return with_names("absolute(a)", i);
  return with_names(info_of(i.what).code, i);
}

std::string cast_text(const instruction& i) {
  const std::string a = numbered('r', i.a), to(register_type(i.type));
  if (i.type == scalar_type::boolean) return "is_nonzero(" + a + ")";
  if (is_integer(i.type) && is_floating(i.from)) return "to_integer<" + to + ">(" + a + ")";
  if (is_complex(i.type)) {
    const std::string part(register_type(real_of(i.type)));
    return is_complex(i.from) ? to + "(" + part + "(real(" + a + ")), " + part + "(imag(" + a + ")))"
                              : to + "(" + part + "(" + a + "), 0)";
  }
  return "(" + to + ")" + a;
}

std::string load_text(const instruction& i, const std::string& v) {
  switch (i.from) {
    case scalar_type::boolean: return v + " != 0";
    case scalar_type::half: return "float_of_half(" + v + ")";
    case scalar_type::bfloat16: return "float_of_bfloat16(" + v + ")";
    default: return v;
  }
}

}  // namespace

std::string_view register_type(scalar_type t) {
  constexpr std::array<std::string_view, scalar_types> names{
      "void",  "bool",     "signed char",    "unsigned char",      "short", "unsigned short",
      "int",   "unsigned", "long long",      "unsigned long long", "float", "float",
      "float", "double",   "complex<float>", "complex<double>"};
  return names[static_cast<std::size_t>(t)];
}

std::string_view memory_type(scalar_type t) {
  if (t == scalar_type::boolean) return "unsigned char";
  return t == scalar_type::half || t == scalar_type::bfloat16 ? "unsigned short" : register_type(t);
}

std::string value_text(const evaluation& e, const instruction& i) {
  return i.what == operation::call ? call_text(e, i) : value_text(i);
}

std::string value_text(const instruction& i) {
  switch (i.what) {
    case operation::load: return load_text(i, numbered('v', i.a));
    case operation::gather:
      return load_text(
          i, concat("*(const ", memory_type(i.from), "*)(", numbered('v', i.b), " + ", numbered('r', i.a), ")"));
    case operation::bounded_offset: return with_names("bounded_offset(a, b, c)", i);
    case operation::constant: return concat("value_of<", register_type(i.type), ">(g.", numbered('c', i.a), ")");
    case operation::index: return numbered('x', i.a);
    case operation::cast: return cast_text(i);
    case operation::round_to_half: return "float_of_half(half_of(" + numbered('r', i.a) + "))";
    case operation::round_to_bfloat16: return "float_of_bfloat16(bfloat16_of(" + numbered('r', i.a) + "))";
    default: return listed_text(i);
  }
}

std::string stored_text(const std::string& name, scalar_type in_memory) {
  if (in_memory == scalar_type::half) return "half_of(" + name + ")";
  if (in_memory == scalar_type::bfloat16) return "bfloat16_of(" + name + ")";
  return name;
}

}  // namespace ferry::inline FERRY_ABI::detail::generator
