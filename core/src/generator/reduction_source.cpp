#include "generator/reduction_source.hpp"

#include <span>

#include "ferry/core/detail/support/concat.hpp"
#include "generator/element_text.hpp"
#include "generator/function_text.hpp"
#include "generator/kernel_text.hpp"
#include "generator/operation_text.hpp"
#include "generator/prelude.hpp"
#include "generator/reduction_cells.hpp"

namespace ferry::inline FERRY_ABI::detail::generator {
namespace {

void append_bytes(std::string& to, const void* from, std::size_t n) { to.append(static_cast<const char*>(from), n); }
template <class T>
void append_value(std::string& to, const T& value) {
  append_bytes(to, &value, sizeof value);
}
void append_strides(std::string& to, const evaluation_operand& o, std::size_t rank) {
  append_value(to, o.data);
  for (std::size_t d = 0; d != rank; ++d) append_value(to, static_cast<long long>(o.stride_bytes[d]));
}

bool is_count(const reduction_evaluation& r) { return r.kind == reduction_kind::count; }
bool is_scan(const reduction_evaluation& r) { return r.kind == reduction_kind::scan; }
// Axes of the outputs.
std::size_t output_rank(const reduction_evaluation& r) { return is_count(r) ? 1 : r.input.rank; }

// Returns the offset of an index that is `step` after `at`. `step` is constant in unrolled loops, so that compilers
// multiply `at` once.
std::string offset_of(const std::string& at, const std::string& step, const std::string& stride) {
  return concat(" + offset(", at, ", ", stride, ")",
                step.empty() ? "" : concat(" + (long long)(", step, ") * ", stride));
}

}  // namespace

bool needs_wide_indices(const reduction_evaluation& r) { return r.input.count() >= std::size_t{1} << 31; }

void append_reduction_shape(std::string& to, const reduction_evaluation& r) {
  append_value(to, r.kind);
  append_value(to, r.input.fast_math);
  append_value(to, r.input.rank);
  append_bytes(to, r.is_reduced.data(), r.input.rank);
  append_value(to, r.input.constants.size());
  append_value(to, r.input.operands.size());
  append_value(to, r.results.size());
  for (const evaluation_operand& o : r.input.operands) {
    append_value(to, o.type);
    append_value(to, o.stride_bytes[0] == 0);
    append_value(to, o.is_gathered);
  }
  for (const reduction_output& o : r.results) {
    append_value(to, o.to.type);
    append_value(to, o.value);
    append_value(to, o.what);
    append_value(to, o.finish);
    append_value(to, o.is_exclusive);
    append_value(to, o.has_initial);
    append_value(to, o.weight);
  }
  append_bytes(to, r.input.code.data(), r.input.code.size_bytes());
  append_calls(to, r.input);
}

std::string reduction_arguments(const reduction_evaluation& r, const reduction_numbers& n) {
  std::string bytes;
  if (!r.input.constants.empty()) append_bytes(bytes, r.input.constants.data(), r.input.constants.size_bytes());
  if (is_scan(r))
    for (const reduction_output& o : r.results) append_value(bytes, o.initial);
  for (const evaluation_operand& o : r.input.operands) append_strides(bytes, o, r.input.rank);
  for (const reduction_output& o : r.results) {
    append_strides(bytes, o.to, output_rank(r));
    append_value(bytes, o.freedom);
  }
  for (std::size_t d = 0; d != r.input.rank; ++d)
    append_value(bytes, static_cast<unsigned long long>(r.input.extent[d]));
  append_value(bytes, r.scratch);
  for (const std::size_t x : {n.outputs, n.reduced, n.parts, n.step, n.bins})
    append_value(bytes, static_cast<unsigned long long>(x));
  bytes.resize((bytes.size() + 15) / 16 * 16);
  return bytes;
}

void reduction_source::write_arguments() {
  s_.open("struct arguments");
  for (std::size_t c = 0; c != e_.constants.size(); ++c) s_.line("constant c", c, ";");
  if (is_scan(r_))
    for (std::size_t k = 0; k != results(); ++k) s_.line("constant initial", k, ";");
  for (std::size_t i = 0; i != e_.operands.size(); ++i) {
    s_.line("const char* p", i, ";");
    for (std::size_t d = 0; d != e_.rank; ++d) s_.line("long long s", i, "_", d, ";");
  }
  for (std::size_t k = 0; k != results(); ++k) {
    s_.line("char* q", k, ";");
    for (std::size_t d = 0; d != output_rank(r_); ++d) s_.line("long long t", k, "_", d, ";");
    s_.line("double freedom", k, ";");
  }
  for (std::size_t d = 0; d != e_.rank; ++d) s_.line("unsigned long long n", d, ";");
  s_.line("char* scratch;");
  s_.line("unsigned long long outputs, reduced, parts, step, bins;");
  s_.close(";");
}

std::vector<std::size_t> reduction_source::values() const {
  std::vector<std::size_t> all;
  for (const reduction_output& o : r_.results) all.push_back(o.value);
  if (is_count(r_) && r_.results[0].weight != evaluation_output::no_mask) all.push_back(r_.results[0].weight);
  return all;
}

void reduction_source::write_head(std::string_view more_functions) {
  // The functions of the program, and of the conversions of results.
  std::vector<instruction> code(e_.code.begin(), e_.code.end());
  std::vector<evaluation_output> outputs;
  for (const reduction_output& o : r_.results) {
    const scalar_type type = e_.code[o.value].type;
    if (is_scan(r_)) code.push_back({operation::cast, carried_as(o.what, type), type});
    const scalar_type from = is_count(r_) ? counted_as(o) : combined_as(o.what, type);
    if (from != computed_as(o.to.type)) code.push_back({operation::cast, computed_as(o.to.type), from});
    outputs.push_back({o.to, o.value});
  }
  detail::evaluation all = e_;
  all.code = code, all.outputs = outputs;
  s_.text() = prelude_for(all);
  if (e_.constants.empty() && is_scan(r_)) s_.add(constant_functions());
  s_.add(more_functions);
  s_.line("using index = ", is_wide_ ? "unsigned long long" : "unsigned", ";");
  s_.line("__device__ inline long long offset(index i, long long stride) { return (long long)i * stride; }");
  write_functions(s_, e_);
  write_arguments();
  write_element();
}

void reduction_source::write_element() {
  std::string parameters = "const arguments& g";
  for (std::size_t i = 0; i != e_.operands.size(); ++i)
    parameters += concat(", ", operand_type(e_.operands[i]), " v", i);
  for (std::size_t d = 0; d != e_.rank; ++d) parameters += concat(", long long x", d);
  const std::vector<std::size_t> all = values();
  for (std::size_t k = 0; k != all.size(); ++k) parameters += concat(", ", register_type(value_type(k)), "& y", k);
  s_.open(concat("__device__ __forceinline__ void element(", parameters, ")"));
  for (std::size_t k = 0; k != e_.code.size(); ++k)
    s_.line("const ", register_type(e_.code[k].type), " r", k, " = ", value_text(e_, e_.code[k]), ";");
  for (std::size_t k = 0; k != all.size(); ++k) s_.line("y", k, " = r", all[k], ";");
  s_.close();
}

void reduction_source::open_kernel(unsigned blocks) {
  const std::string bounds = concat(reduction_threads, blocks == 0 ? "" : concat(", ", blocks));
  s_.open(concat("extern \"C\" __global__ void __launch_bounds__(", bounds, ") ", kernel_name,
                 "(const __grid_constant__ arguments g)"));
}

void reduction_source::write_indices() {
  for (std::size_t d = 0; d != e_.rank; ++d) s_.line("index x", d, " = 0;");
}

void reduction_source::split(bool of_reduced, const std::string& at) {
  std::vector<std::size_t> axes;
  for (std::size_t d = 0; d != e_.rank; ++d)
    if (r_.is_reduced[d] == of_reduced) axes.push_back(d);
  if (axes.empty()) return;
  s_.line("index rest = ", at, ";");
  for (std::size_t n = 0; n != axes.size(); ++n) {
    const std::size_t d = axes[n];
    if (n + 1 == axes.size()) {
      s_.line("x", d, " = rest;");
    } else {
      s_.line("x", d, " = rest % (index)g.n", d, ";");
      s_.line("rest /= (index)g.n", d, ";");
    }
  }
}

void reduction_source::write_bases() {
  for (std::size_t i = 0; i != e_.operands.size(); ++i) {
    std::string base = concat("const char* const b", i, " = g.p", i);
    for (std::size_t d = 0; d != e_.rank; ++d)
      if (!r_.is_reduced[d]) base += concat(" + offset(x", d, ", g.s", i, "_", d, ")");
    s_.line(base, ";");
  }
}

void reduction_source::write_loads(const value_positions& p) {
  for (std::size_t i = 0; i != e_.operands.size(); ++i) s_.line(operand_type(e_.operands[i]), " v", i, "[", p.n, "];");
  for (std::size_t d = 0; d != e_.rank; ++d)
    if (r_.is_reduced[d]) s_.line("index z", d, "[", p.n, "];");
  s_.line("#pragma unroll");
  const unsigned at_once = p.are_vectors ? p.lanes : 1;
  s_.open(concat("for (int u = 0; u < ", p.n, "; u += ", at_once, ")"));
  write_position(p);
  if (!p.are_whole) split(true, "i");
  for (unsigned lane = 0; lane != at_once; ++lane)
    for (std::size_t d = 0; d != e_.rank; ++d)
      if (r_.is_reduced[d])
        s_.line("z", d, "[u + ", lane, "] = ", p.are_whole ? "i" : concat("x", d), d == 0 ? concat(" + ", lane) : "",
                ";");
  for (std::size_t i = 0; i != e_.operands.size(); ++i) {
    const bool is_vector = at_once > 1 && e_.operands[i].stride_bytes[0] != 0;
    std::string address = concat("b", i);
    for (std::size_t d = 0; d != e_.rank; ++d) {
      if (!r_.is_reduced[d]) continue;
      const std::string stride =
          is_vector && d == 0 ? concat(size_of(e_.operands[i].type), "ll") : concat("g.s", i, "_", d);
      address += p.are_whole ? offset_of("here", position(p), stride) : concat(" + offset(x", d, ", ", stride, ")");
    }
    if (e_.operands[i].is_gathered) {
      s_.line("v", i, "[u] = ", address, ";");
      continue;
    }
    const std::string type = is_vector ? concat("lanes<", memory_type(e_.operands[i].type), ", ", at_once, ">")
                                       : std::string(memory_type(e_.operands[i].type));
    s_.line("const ", type, " w", i, " = *(const ", type, "*)(", address, ");");
    for (unsigned lane = 0; lane != at_once; ++lane)
      s_.line("v", i, "[u + ", lane, "] = w", i, is_vector ? concat(".v[", lane, "]") : "", ";");
  }
  s_.close();
}

std::string reduction_source::position(const value_positions& p) {
  if (p.lanes == 1) return concat("u * ", p.step, "u");
  return concat("u / ", p.lanes, " * ", p.step, "u + u % ", p.lanes);
}

void reduction_source::write_position(const value_positions& p) {
  s_.line("const index i = here + ", position(p),
          p.are_clamped ? concat(" < last ? here + ", position(p), " : here") : "", ";");
  if (!p.are_clamped && !p.are_whole) s_.line("if (i >= last) continue;");
}

void reduction_source::write_count(const value_positions& p) {
  const unsigned at_once = p.are_vectors ? p.lanes : 1;
  s_.line("unsigned count = 0;");
  s_.line("#pragma unroll");
  s_.line("for (int u = 0; u < ", p.n, "; u += ", at_once, ") count += here + ", position(p), " < last ? ", at_once,
          " : 0;");
}

void reduction_source::open_values(const value_positions& p) {
  s_.line("#pragma unroll");
  s_.open(concat("for (int u = 0; u < ", p.n, "; ++u)"));
  if (!p.are_clamped) write_position(p);
  std::string call = "element(g";
  for (std::size_t i = 0; i != e_.operands.size(); ++i) call += concat(", v", i, "[u]");
  for (std::size_t d = 0; d != e_.rank; ++d)
    call += concat(", (long long)", r_.is_reduced[d] ? "z" : "x", d, r_.is_reduced[d] ? "[u]" : "");
  for (std::size_t k = 0; k != values().size(); ++k) {
    s_.line(register_type(value_type(k)), " y", k, ";");
    call += concat(", y", k);
  }
  s_.line(call, ");");
}

std::string reduction_source::result_address(std::size_t k, const std::string& at, const std::string& step,
                                             bool is_vector) const {
  std::string address = concat("g.q", k);
  if (is_count(r_)) return address + concat(" + offset(", at, ", g.t", k, "_0)");
  for (std::size_t d = 0; d != e_.rank; ++d) {
    const std::string stride = concat("g.t", k, "_", d);
    if (!r_.is_reduced[d])
      address += concat(" + offset(x", d, ", ", stride, ")");
    else if (!at.empty())
      address += offset_of(at, step, is_vector ? concat(size_of(r_.results[k].to.type), "ll") : stride);
  }
  return address;
}

void reduction_source::write_conversion(std::size_t k, scalar_type from) {
  const scalar_type type = computed_as(r_.results[k].to.type);
  const std::string converted = type == from ? "r0" : value_text({operation::cast, type, from, 0});
  s_.line("const ", register_type(type), " result = ", converted, ";");
}

void reduction_source::write_store(std::size_t k, scalar_type from, const std::string& at, const std::string& step) {
  write_conversion(k, from);
  const scalar_type type = r_.results[k].to.type;
  s_.line("*(", memory_type(type), "*)(", result_address(k, at, step, false), ") = ", stored_text("result", type), ";");
}

void reduction_source::write_vector_store(std::size_t k, scalar_type from, const std::string& at,
                                          const std::string& step, std::span<const std::string> values) {
  const scalar_type type = r_.results[k].to.type;
  const std::string vector = concat("lanes<", memory_type(type), ", ", values.size(), ">");
  s_.line(vector, " all;");
  for (std::size_t v = 0; v != values.size(); ++v) {
    s_.open("");
    s_.line("const ", register_type(from), " r0 = ", values[v], ";");
    write_conversion(k, from);
    s_.line("all.v[", v, "] = ", stored_text("result", type), ";");
    s_.close();
  }
  s_.line("*(", vector, "*)(", result_address(k, at, step, true), ") = all;");
}

}  // namespace ferry::inline FERRY_ABI::detail::generator
