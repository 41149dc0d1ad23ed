#include "generator/kernel_text.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "ferry/core/detail/support/concat.hpp"
#include "generator/element_text.hpp"
#include "generator/function_text.hpp"
#include "generator/operation_text.hpp"
#include "generator/prelude.hpp"
#include "generator/source_builder.hpp"

namespace ferry::inline FERRY_ABI::detail::generator {
namespace {

class kernel_writer {
 public:
  kernel_writer(const evaluation& e, const kernel_plan& p) : e_(e), p_(p) {}

  std::string write() {
    s_.text() = prelude_for(e_);
    s_.line("using index = ", p_.is_wide ? "unsigned long long" : "unsigned", ";");
    s_.line(p_.is_wide
                ? "__device__ inline long long offset(index i, long long stride) { return (long long)i * stride; }"
                : "__device__ inline long long offset(index i, long long stride) { return (long long)(int)i * "
                  "(int)stride; }");
    write_functions(s_, e_);
    write_arguments_type();
    write_element(s_, e_);
    s_.open(concat("extern \"C\" __global__ void __launch_bounds__(", kernel_plan::threads, ") ", kernel_name,
                   "(const __grid_constant__ arguments g)"));
    if (p_.has_tiles())
      write_tiles();
    else
      write_rows();
    s_.close();
    return std::move(s_.text());
  }

 private:
  std::size_t operands() const { return e_.operands.size(); }
  std::size_t outputs() const { return e_.outputs.size(); }
  access_class class_of(std::size_t i) const { return p_.of_operand(i); }
  std::string_view type_of(std::size_t i) const { return memory_type(e_.operands[i].type); }
  std::string_view output_type(std::size_t i) const { return memory_type(e_.outputs[i].to.type); }
  bool gathers() const {
    return std::any_of(e_.operands.begin(), e_.operands.end(),
                       [](const evaluation_operand& o) { return o.is_gathered; });
  }
  bool is_masked(std::size_t i) const { return has_mask(e_.outputs[i]); }

  void write_arguments_type() {
    s_.open("struct arguments");
    for (std::size_t c = 0; c < e_.constants.size(); ++c) s_.line("constant c", c, ";");
    for (std::size_t i = 0; i < operands(); ++i) write_access_type("const char* p", "s", class_of(i), i);
    for (std::size_t i = 0; i < outputs(); ++i) write_access_type("char* q", "t", p_.of_output(i), i);
    for (std::size_t d = 0; d < p_.rank; ++d) s_.line("unsigned long long n", d, ";");
    s_.line("unsigned long long positions;");
    for (std::size_t d = 0; d + 1u < p_.rank; ++d) s_.line("unsigned long long m", d, ", h", d, ";");
    s_.close(";");
  }
  void write_access_type(const char* pointer, const char* stride, access_class c, std::size_t i) {
    s_.line(pointer, i, ";");
    for (std::size_t d = 0; d < p_.rank; ++d)
      if (kernel_plan::needs_stride(c, d)) s_.line("long long ", stride, i, "_", d, ";");
  }

  // Writes the division of the position `at` into its digits. name(k) is the variable of digit k, times(k) its factor.
  template <class Name>
  void write_digits(Name name) {
    for (std::size_t k = 0; k < p_.rank; ++k) {
      if (k + 1u == p_.rank) {
        s_.line(name(k), " = at;");
        break;
      }
      const std::string rest =
          p_.is_wide ? concat("at / g.m", k) : concat("(index)((unsigned long long)at * g.m", k, " >> g.h", k, ")");
      s_.open("");
      s_.line("const index rest = ", rest, ";");
      s_.line(name(k), " = at - rest * (index)", digit_count(k), ";");
      s_.line("at = rest;");
      s_.close();
    }
  }
  // Returns the number of values of a digit, computed from the extents.
  std::string digit_count(std::size_t k) const {
    const auto tiles = [&](std::size_t axis) {
      return concat("((g.n", axis, " + ", p_.tile - 1, ") / ", p_.tile, ")");
    };
    if (p_.has_tiles()) {
      if (k == 0) return tiles(0);
      if (k == 1) return tiles(p_.tile_axis);
      return concat("g.n", other_axis(k));
    }
    return k != 0 ? concat("g.n", k) : p_.lanes == 1 ? "g.n0" : concat("(g.n0 / ", p_.lanes, ")");
  }
  // With tiles: returns the axis of digit k >= 2.
  std::size_t other_axis(std::size_t k) const {
    std::size_t n = 1;
    for (std::size_t d = 1; d < p_.rank; ++d)
      if (d != p_.tile_axis && ++n == k) return d;
    return 0;
  }

  // Returns the address of an access. index(d) is the index along axis d, `inner` the one along axis 0 of a contiguous
  // access.
  template <class Index>
  std::string address(bool is_output, std::size_t i, Index index, const std::string& inner) const {
    const access_class c = is_output ? p_.of_output(i) : class_of(i);
    std::string text = concat(is_output ? "g.q" : "g.p", i);
    // The vectors of a row begin at every `lanes`-th element.
    const bool is_row = c == access_class::gathered && p_.lanes > 1;
    for (std::size_t d = 0; d < p_.rank; ++d)
      if (kernel_plan::needs_stride(c, d))
        text += concat(" + offset(", index(d), ", g.", is_output ? "t" : "s", i, "_", d,
                       d == 0 && is_row ? concat(" * ", p_.lanes) : "", ")");
    if (c == access_class::contiguous) text += " + " + inner;
    return text;
  }

  void write_rows() {
    const unsigned lanes = p_.lanes, unroll = p_.unroll;
    const bool is_partial = p_.rank == 1 && lanes > 1;  // the last vector may be incomplete
    const auto digit = [](std::size_t d) { return concat("i", d, "[u]"); };
    s_.line("const index first = (index)blockIdx.x * ", kernel_plan::threads * unroll, "u + threadIdx.x;");
    s_.line("const index end = (index)g.positions;");
    for (std::size_t d = 0; d < p_.rank; ++d) s_.line("index i", d, "[", unroll, "];");
    for (std::size_t i = 0; i < operands(); ++i) s_.line(loaded_type(i), " v", i, "[", unroll, "];");
    open_loop("u", unroll);
    s_.line("index at = first + u * ", kernel_plan::threads, "u;");
    s_.line("if (at >= end) continue;");
    write_digits(digit);
    for (std::size_t i = 0; i < operands(); ++i)
      if (!is_partial || class_of(i) != access_class::contiguous) s_.line(whole_load(i, digit));
    if (is_partial) {
      s_.open(concat("if (i0[u] < (index)(g.n0 / ", lanes, "))"));
      for (std::size_t i = 0; i < operands(); ++i)
        if (class_of(i) == access_class::contiguous) s_.line(whole_load(i, digit));
      s_.close(" else {");
      s_.open(concat("  for (int l = 0; l < (int)(g.n0 % ", lanes, "); ++l)"));
      for (std::size_t i = 0; i < operands(); ++i)
        if (class_of(i) == access_class::contiguous)
          s_.line("v", i, "[u].v[l] = ((const ", type_of(i), "*)(",
                  address(false, i, digit, row_offset(e_.operands[i].type)), "))[l];");
      s_.close();
      s_.line("}");
    }
    s_.close();
    open_loop("u", unroll);
    s_.line("if (first + u * ", kernel_plan::threads, "u >= end) continue;");
    for (std::size_t i = 0; i < outputs(); ++i) {
      s_.line("lanes<", output_type(i), ", ", lanes, "> y", i, ";");
      if (is_masked(i)) s_.line("bool w", i, "[", lanes, "];");
    }
    open_loop("l", lanes);
    if (is_partial && gathers()) s_.line("if (i0[u] * ", lanes, "ull + l >= g.n0) continue;");
    const auto value = [&](std::size_t i) {
      if (e_.operands[i].is_gathered && lanes > 1) return concat("v", i, "[u] + l * g.s", i, "_0");
      return concat("v", i, "[u]", is_vector(i) ? ".v[l]" : "");
    };
    s_.line(element_call(
        e_, value, [&](std::size_t d) { return d == 0 && lanes > 1 ? concat("i0[u] * ", lanes, "ull + l") : digit(d); },
        [](std::size_t i) { return concat("y", i, ".v[l]"); }, [](std::size_t i) { return concat("w", i, "[l]"); }));
    s_.close();
    for (std::size_t i = 0; i < outputs(); ++i) write_row_store(i, digit, is_partial);
    s_.close();
  }
  template <class Index>
  std::string whole_load(std::size_t i, Index digit) const {
    const std::string from = address(false, i, digit, row_offset(e_.operands[i].type));
    if (e_.operands[i].is_gathered) return concat("v", i, "[u] = ", from, ";");
    return concat("v", i, "[u] = *(const ", loaded_type(i), "*)(", from, ");");
  }
  bool is_vector(std::size_t i) const { return p_.lanes > 1 && class_of(i) == access_class::contiguous; }
  std::string loaded_type(std::size_t i) const {
    return is_vector(i) ? concat("lanes<", type_of(i), ", ", p_.lanes, ">") : operand_type(e_.operands[i]);
  }
  std::string row_offset(scalar_type t) const { return concat("offset(i0[u], ", size_of(t) * p_.lanes, ")"); }
  template <class Index>
  void write_row_store(std::size_t i, Index digit, bool is_partial) {
    const unsigned lanes = p_.lanes;
    const std::string to = address(true, i, digit, row_offset(e_.outputs[i].to.type));
    std::string is_whole = is_partial ? concat("i0[u] < (index)(g.n0 / ", lanes, ")") : "";
    if (is_masked(i))
      for (unsigned l = 0; l < lanes; ++l) is_whole += concat(is_whole.empty() ? "" : " && ", "w", i, "[", l, "]");
    const std::string whole = concat("*(lanes<", output_type(i), ", ", lanes, ">*)(", to, ") = y", i, ";");
    if (is_whole.empty() || lanes == 1) {
      if (!is_whole.empty()) s_.line("if (", is_whole, ")");
      s_.line(is_whole.empty() ? "" : "  ", whole);
      return;
    }
    s_.line("if (", is_whole, ")");
    s_.line("  ", whole);
    s_.line("else");
    const std::string limit = is_partial ? concat(" && i0[u] * ", lanes, "ull + l < g.n0") : "";
    s_.line("  for (int l = 0; l < ", lanes, "; ++l)");
    s_.line("    if (", is_masked(i) ? concat("w", i, "[l]") : "true", limit, ") ((", output_type(i), "*)(", to,
            "))[l] = y", i, ".v[l];");
  }

  // Writes a kernel whose blocks compute one tile each. Transposed operands are loaded along tile_axis, and read from
  // shared memory along axis 0. The column of padding avoids conflicts of banks.
  void write_tiles() {
    const unsigned tile = p_.tile, step = kernel_plan::threads / tile, k = p_.tile_axis;
    for (std::size_t i = 0; i < operands(); ++i)
      if (class_of(i) == access_class::transposed)
        s_.line("__shared__ ", type_of(i), " t", i, "[", tile, "][", tile + 1, "];");
    s_.line("const unsigned x = threadIdx.x % ", tile, ", y = threadIdx.x / ", tile, ";");
    s_.line("index at = blockIdx.x;");
    for (std::size_t d = 0; d < p_.rank; ++d) s_.line("index i", d, ";");
    write_digits([&](std::size_t n) { return concat("i", n == 0 ? 0 : n == 1 ? k : other_axis(n)); });
    s_.line("i0 *= ", tile, ";");
    s_.line("i", k, " *= ", tile, ";");
    for (std::size_t i = 0; i < operands(); ++i)
      if (class_of(i) == access_class::transposed) write_tile_load(i, tile, step);
    s_.line("__syncthreads();");
    s_.line("#pragma unroll 4");
    s_.open(concat("for (unsigned j = y; j < ", tile, "; j += ", step, ")"));
    s_.line("const index j0 = i0 + x, j", k, " = i", k, " + j;");
    s_.line("if (j0 >= (index)g.n0 || j", k, " >= (index)g.n", k, ") continue;");
    const auto index = [&](std::size_t d) { return concat(d == 0 || d == k ? "j" : "i", d); };
    const auto inner = [&](scalar_type t) { return concat("offset(j0, ", size_of(t), ")"); };
    for (std::size_t i = 0; i < outputs(); ++i) {
      s_.line(output_type(i), " y", i, ";");
      if (is_masked(i)) s_.line("bool w", i, ";");
    }
    s_.line(element_call(
        e_,
        [&](std::size_t i) {
          if (class_of(i) == access_class::transposed) return concat("t", i, "[x][j]");
          if (class_of(i) == access_class::gathered) return address(false, i, index, "");
          return concat("*(const ", type_of(i), "*)(", address(false, i, index, inner(e_.operands[i].type)), ")");
        },
        index, [](std::size_t i) { return concat("y", i); }, [](std::size_t i) { return concat("w", i); }));
    for (std::size_t i = 0; i < outputs(); ++i)
      s_.line(is_masked(i) ? concat("if (w", i, ") ") : "", "*(", output_type(i), "*)(",
              address(true, i, index, inner(e_.outputs[i].to.type)), ") = y", i, ";");
    s_.close();
  }
  // Writes the loads of operand i to its tile. All loads of a thread come before its first store to shared memory.
  void write_tile_load(std::size_t i, unsigned tile, unsigned step) {
    const unsigned k = p_.tile_axis;
    s_.open("");
    s_.line(type_of(i), " held[", tile / step, "];");
    open_loop("j", tile / step);
    s_.line("const index j0 = i0 + y + j * ", step, "u, j", k, " = i", k, " + x;");
    const auto index = [&](std::size_t d) { return concat(d == 0 || d == k ? "j" : "i", d); };
    s_.line("if (j0 < (index)g.n0 && j", k, " < (index)g.n", k, ") held[j] = *(const ", type_of(i), "*)(",
            address(false, i, index, ""), ");");
    s_.close();
    open_loop("j", tile / step);
    s_.line("t", i, "[y + j * ", step, "u][x] = held[j];");
    s_.close();
    s_.close();
  }

  void open_loop(const char* variable, unsigned times) {
    s_.line("#pragma unroll");
    s_.open(concat("for (int ", variable, " = 0; ", variable, " < ", times, "; ++", variable, ")"));
  }

  const evaluation& e_;
  const kernel_plan& p_;
  source_builder s_;
};

const char* letter_of(access_class c) {
  constexpr const char* letters[] = {"b", "c", "s", "t", "g"};
  return letters[static_cast<int>(c)];
}

}  // namespace

jit::kernel_source kernel_source_for(const evaluation& e, const kernel_plan& p) {
  jit::kernel_source source{kernel_writer(e, p).write(), kernel_name, shape_text(e, p), {}};
  if (e.fast_math)
    source.options.push_back("--use_fast_math");
  else
    source.options.push_back("--fmad=false");
  return source;
}

std::string shape_text(const evaluation& e, const kernel_plan& p) {
  constexpr int most_depth = 12;
  std::string text;
  for (std::size_t i = 0; i < e.outputs.size(); ++i) {
    const evaluation_output& o = e.outputs[i];
    text +=
        concat(text.empty() ? "" : "; ", name_of(o.to.type), " y", i, " = ", expression_text(e, o.value, most_depth));
    if (o.mask != evaluation_output::no_mask) text += concat(" where ", expression_text(e, o.mask, most_depth));
  }
  text += concat(" | rank ", p.rank, ", lanes ", p.lanes, " x ", p.unroll);
  if (p.has_tiles()) text += concat(", tiles ", p.tile);
  for (std::size_t i = 0; i < e.operands.size(); ++i)
    text += concat(i == 0 ? ", " : " ", name_of(e.operands[i].type), ":", letter_of(p.of_operand(i)));
  if (const std::string places = places_of_functions(e); !places.empty()) text += " | " + places;
  return text;
}

}  // namespace ferry::inline FERRY_ABI::detail::generator
