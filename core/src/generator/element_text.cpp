#include "generator/element_text.hpp"

#include "ferry/core/detail/support/concat.hpp"
#include "generator/operation_text.hpp"

namespace ferry::inline FERRY_ABI::detail::generator {

bool uses_index(const evaluation& e, std::size_t axis) {
  for (const instruction& i : e.code)
    if (i.what == operation::index && i.a == axis) return true;
  return false;
}

std::string operand_type(const evaluation_operand& o) {
  return o.is_gathered ? "const char*" : std::string(memory_type(o.type));
}

void write_element(source_builder& s, const evaluation& e) {
  std::string parameters = "const arguments& g";
  for (std::size_t i = 0; i < e.operands.size(); ++i) parameters += concat(", ", operand_type(e.operands[i]), " v", i);
  for (std::size_t d = 0; d < max_rank; ++d)
    if (uses_index(e, d)) parameters += concat(", long long x", d);
  for (std::size_t i = 0; i < e.outputs.size(); ++i) {
    parameters += concat(", ", memory_type(e.outputs[i].to.type), "& y", i);
    if (has_mask(e.outputs[i])) parameters += concat(", bool& w", i);
  }
  s.open(concat("__device__ __forceinline__ void element(", parameters, ")"));
  for (std::size_t k = 0; k < e.code.size(); ++k)
    s.line("const ", register_type(e.code[k].type), " r", k, " = ", value_text(e, e.code[k]), ";");
  for (std::size_t i = 0; i < e.outputs.size(); ++i) {
    const evaluation_output& o = e.outputs[i];
    s.line("y", i, " = ", stored_text(concat("r", o.value), o.to.type), ";");
    if (has_mask(o)) s.line("w", i, " = r", o.mask, ";");
  }
  s.close();
}

std::string expression_text(const evaluation& e, std::size_t k, int depth) {
  const instruction& i = e.code[k];
  const auto of = [&](std::uint8_t n) { return depth > 0 ? expression_text(e, n, depth - 1) : std::string("..."); };
  if (i.what == operation::load) return concat("v", i.a);
  if (i.what == operation::constant) return concat("c", i.a);
  if (i.what == operation::index) return concat("index(", i.a, ")");
  if (i.what == operation::gather) return concat("v", i.b, "[", of(i.a), "]");
  if (i.what == operation::bounded_offset) return concat("offset(", of(i.a), ", ", of(i.b), ", ", of(i.c), ")");
  if (i.what == operation::cast) return concat(name_of(i.type), "(", of(i.a), ")");
  if (i.what == operation::round_to_half) return concat("half(", of(i.a), ")");
  if (i.what == operation::round_to_bfloat16) return concat("bfloat16(", of(i.a), ")");
  if (i.what == operation::call) {
    const function_call& c = e.calls[i.a];
    std::string text = concat(c.function->name, "(");
    for (std::size_t x = 0; x != c.function->parameters; ++x) text += (x == 0 ? "" : ", ") + of(c.value[x]);
    return text + ")";
  }
  const operation_info& info = info_of(i.what);
  std::string text = concat(info.name, "(", of(i.a));
  if (info.operands > 1) text += ", " + of(i.b);
  if (info.operands > 2) text += ", " + of(i.c);
  return text + ")";
}

}  // namespace ferry::inline FERRY_ABI::detail::generator
