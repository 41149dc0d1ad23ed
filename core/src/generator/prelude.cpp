#include "generator/prelude.hpp"

#include <cstddef>
#include <string_view>

#include "ferry/core/checks.hpp"
#include "generator/function_text.hpp"

namespace ferry::inline FERRY_ABI::detail::generator {
namespace {

constexpr const char* vectors_text =
    "template <class T, int N>\nstruct alignas(sizeof(T) * N) lanes {\n  T v[N];\n};\n";
// Constants are bytes, because instructions of several types may share one.
constexpr const char* constants_text =
    "struct alignas(16) constant {\n  unsigned char bytes[16];\n};\n"
    "template <class T>\n__device__ inline T value_of(const constant& c) {\n  return *(const T*)c.bytes;\n}\n";

constexpr const char* offsets_text =
    "__device__ inline long long bounded_offset(long long i, long long n, long long stride) {\n"
    "  const long long k = i < 0 ? i + n : i;\n"
    "  return (k < 0 ? 0 : k < n ? k : n - 1) * stride;\n"
    "}\n";
constexpr const char* checked_offsets_text =
    "__device__ inline long long bounded_offset(long long i, long long n, long long stride) {\n"
    "  if (i < -n || i >= n) {\n"
    "    printf(\"ferry: index %lld is outside of an axis of extent %lld, thread %u of block %u\\n\", i, n, "
    "threadIdx.x, blockIdx.x);\n"
    "    __trap();\n"
    "  }\n"
    "  return (i < 0 ? i + n : i) * stride;\n"
    "}\n";

#define FERRY_PRELUDE(name, ...) constexpr const char* name##_text = #__VA_ARGS__;
#include "generator/prelude.inc"
#undef FERRY_PRELUDE

// Returns the text in lines: as a macro argument, it is a single line.
std::string with_lines(std::string_view text) {
  std::string lines;
  std::size_t depth = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '}' && depth > 0) --depth;
    if (c == '{') ++depth;
    lines += c;
    const bool ends = (c == ';' || c == '{' || c == '}') && i + 1 < text.size() && text[i + 1] == ' ';
    if (!ends) continue;
    ++i;
    const bool closes = text.substr(i + 1).starts_with("}");
    lines.append("\n").append(2 * (depth - (closes && depth > 0 ? 1 : 0)), ' ');
  }
  return lines + "\n";
}

bool is_plain_complex(operation o) {
  switch (o) {
    case operation::add:
    case operation::subtract:
    case operation::multiply:
    case operation::divide:
    case operation::negate:
    case operation::equal:
    case operation::not_equal:
    case operation::select:
    case operation::real:
    case operation::imag:
    case operation::magnitude:
    case operation::arg:
    case operation::norm:
    case operation::conj:
    case operation::complex: return true;
    default: return false;
  }
}

}  // namespace

std::string_view constant_functions() { return constants_text; }

std::string prelude_for(const evaluation& e) {
  bool floating = false, comparing = false, integers = false, halves = false, complexes = false, functions = false;
  bool casts = false, offsets = false;
  for (const instruction& i : e.code) {
    const bool is_listed_one = is_listed(i.what);
    floating = floating || i.what == operation::divide || i.what == operation::isinf || i.what == operation::isfinite;
    comparing = comparing || i.what == operation::min || i.what == operation::max || i.what == operation::sign ||
                (i.what == operation::cast && i.type == scalar_type::boolean);
    integers = integers || (is_listed_one && is_integer(i.from));
    complexes = complexes || is_complex(i.type) || is_complex(i.from);
    functions = functions || (is_listed_one && is_complex(i.from) && !is_plain_complex(i.what));
    offsets = offsets || i.what == operation::bounded_offset;
    casts = casts || (i.what == operation::cast && is_integer(i.type) && is_floating(i.from));
    halves = halves || i.from == scalar_type::half || i.from == scalar_type::bfloat16 ||
             i.what == operation::round_to_half || i.what == operation::round_to_bfloat16;
  }
  for (const evaluation_output& o : e.outputs)
    halves = halves || o.to.type == scalar_type::half || o.to.type == scalar_type::bfloat16;
  if (functions_contain(e, "half") || functions_contain(e, "bfloat16")) halves = true;
  if (functions_contain(e, "complex")) complexes = functions = true;
  std::string text = vectors_text;
  if (!e.constants.empty()) text += constants_text;
  if (floating) text += with_lines(floating_text);
  if (comparing) text += with_lines(comparing_text);
  if (integers) text += with_lines(integers_text);
  if (offsets) text += is_device_code_checked() ? checked_offsets_text : offsets_text;
  if (casts) text += with_lines(casts_text);
  if (halves) text += with_lines(halves_text);
  if (complexes) text += with_lines(complex_text);
  if (functions) text += with_lines(complex_functions_text);
  return text;
}

}  // namespace ferry::inline FERRY_ABI::detail::generator
