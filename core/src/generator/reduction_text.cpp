#include "generator/reduction_text.hpp"

#include <string>
#include <utility>
#include <vector>

#include "generator/element_text.hpp"
#include "generator/function_text.hpp"
#include "generator/kernel_text.hpp"
#include "generator/operation_text.hpp"
#include "generator/prelude.hpp"
#include "generator/source_builder.hpp"

namespace ferry::inline FERRY_ABI::detail::generator {
namespace {

// What cells call. NaN if one value is NaN; -0 is less than +0.
constexpr const char* cell_functions = R"(__device__ inline bool is_negative(float a) { return __float_as_int(a) < 0; }
__device__ inline bool is_negative(double a) { return __double_as_longlong(a) < 0; }
__device__ inline bool is_negative(long long) { return false; }
__device__ inline bool is_negative(unsigned long long) { return false; }
__device__ inline bool is_negative(int) { return false; }
__device__ inline bool is_negative(unsigned) { return false; }
template <class T>
__device__ inline T lesser_of(T a, T b) {
  return a < b || (a == b && is_negative(a)) || a != a ? a : b;
}
template <class T>
__device__ inline T greater_of(T a, T b) {
  return a > b || (a == b && is_negative(b)) || a != a ? a : b;
}
template <class T>
struct moments {
  T mean, squares;
  unsigned long long n;
};
template <class T>
struct position {
  T v;
  long long at;
};
)";

// The type, the value for nothing, and the steps of one result.
class cell_writer {
 public:
  cell_writer(const reduction_evaluation& r, std::size_t k)
      : o_(r.results[k]),
        type_(r.input.code[o_.value].type),
        name_("cell" + std::to_string(k)) {}

  const std::string& name() const { return name_; }
  void write(source_builder& s) const {
    const std::string t(register_type(type_));
    const bool is_signed_whole = is_integer(type_) && is_signed(type_);
    const std::string wrap = is_signed_whole ? "unsigned long long" : t;
    switch (o_.what) {
      case reduction_operation::moments: return write_moments(s, t);
      case reduction_operation::least: return write_position(s, t, "<");
      case reduction_operation::greatest: return write_position(s, t, ">");
      case reduction_operation::sum:
        return write_plain(s, t, neutral("0"),
                           is_complex(type_) ? "a + b" : joined("(", t, ")((", wrap, ")a + (", wrap, ")b)"));
      case reduction_operation::product:
        return write_plain(s, t, neutral("1"),
                           is_complex(type_) ? "a * b" : joined("(", t, ")((", wrap, ")a * (", wrap, ")b)"));
      case reduction_operation::minimum: return write_plain(s, t, extreme(false), "lesser_of(a, b)");
      case reduction_operation::maximum: return write_plain(s, t, extreme(true), "greater_of(a, b)");
      case reduction_operation::any: return write_plain(s, t, "false", "a || b");
      case reduction_operation::all: return write_plain(s, t, "true", "a && b");
    }
  }
  // The combined value as a register of combined_as(). `c`: a cell.
  std::string finished(const std::string& c, std::size_t k) const {
    const std::string t(register_type(type_));
    if (o_.what == reduction_operation::least || o_.what == reduction_operation::greatest) return c + ".at";
    switch (o_.finish) {
      case reduction_finish::none: return c;
      case reduction_finish::root: return "sqrt(" + c + ")";
      case reduction_finish::mean:
        if (is_complex(type_)) {
          const std::string part(register_type(real_of(type_)));
          return joined(t, "(real(", c, ") / ", part, "(g.reduced), imag(", c, ") / ", part, "(g.reduced))");
        }
        return joined(c, " / ", t, "(g.reduced)");
      case reduction_finish::variance: return joined("variance_of(", c, ", g.freedom", k, ")");
      case reduction_finish::deviation: return joined("sqrt(variance_of(", c, ", g.freedom", k, "))");
    }
    return c;
  }

 private:
  std::string neutral(const char* number) const {
    const std::string_view t = register_type(type_);
    return is_complex(type_) ? joined(t, "(", number, ", 0)") : joined("(", t, ")", number);
  }
  std::string extreme(bool lowest) const {
    switch (type_) {
      case scalar_type::int32: return lowest ? "(-2147483647 - 1)" : "2147483647";
      case scalar_type::uint32: return lowest ? "0u" : "4294967295u";
      case scalar_type::int64: return lowest ? "(-9223372036854775807ll - 1)" : "9223372036854775807ll";
      case scalar_type::uint64: return lowest ? "0ull" : "18446744073709551615ull";
      case scalar_type::float32: return lowest ? "__int_as_float(0xff800000)" : "__int_as_float(0x7f800000)";
      default:
        return lowest ? "__longlong_as_double(0xfff0000000000000ll)" : "__longlong_as_double(0x7ff0000000000000ll)";
    }
  }
  // Each cell type has functions of its own name, since several results may have one type.
  void write_plain(source_builder& s, const std::string& t, const std::string& none, const std::string& sum) const {
    s.line("using ", name_, " = ", t, ";");
    s.line("__device__ inline ", t, " none_of_", name_, "() { return ", none, "; }");
    s.line("__device__ inline void add_to_", name_, "(", t, "& a, ", t, " b, long long) { a = ", sum, "; }");
    s.line("__device__ inline void join_", name_, "(", t, "& a, const ", t, "& b) { a = ", sum, "; }");
  }
  void write_position(source_builder& s, const std::string& t, const char* sign) const {
    s.line("using ", name_, " = position<", t, ">;");
    s.line("__device__ inline bool wins_", name_, "(", t, " a, ", t, " b) { return a ", sign,
           " b || (a != a && b == b); }");
    s.line("__device__ inline ", name_, " none_of_", name_, "() { return {0, -1}; }");
    s.line("__device__ inline void join_", name_, "(", name_, "& a, const ", name_, "& b) {");
    s.line("  const bool is_tie = !wins_", name_, "(b.v, a.v) && !wins_", name_, "(a.v, b.v);");
    s.line("  if (b.at >= 0 && (a.at < 0 || wins_", name_, "(b.v, a.v) || (is_tie && b.at < a.at))) a = b;");
    s.line("}");
    s.line("__device__ inline void add_to_", name_, "(", name_, "& a, ", t, " b, long long at) {");
    s.line("  if (a.at < 0 || wins_", name_, "(b, a.v)) a = {b, at};");
    s.line("}");
  }
  void write_moments(source_builder& s, const std::string& t) const {
    s.line("using ", name_, " = moments<", t, ">;");
    s.line("__device__ inline ", name_, " none_of_", name_, "() { return {0, 0, 0}; }");
    s.line("__device__ inline void add_to_", name_, "(", name_, "& a, ", t, " b, long long) {");
    s.line("  ++a.n;");
    s.line("  const ", t, " distance = b - a.mean;");
    s.line("  a.mean += distance / ", t, "(a.n);");
    s.line("  a.squares += distance * (b - a.mean);");
    s.line("}");
    s.line("__device__ inline void join_", name_, "(", name_, "& a, const ", name_, "& b) {");
    s.line("  if (a.n == 0) a = b;");
    s.line("  else if (b.n != 0) {");
    s.line("    const double all = double(a.n) + double(b.n);");
    s.line("    const ", t, " distance = b.mean - a.mean;");
    s.line("    a.mean += distance * ", t, "(double(b.n) / all);");
    s.line("    a.squares += b.squares + distance * distance * ", t, "(double(a.n) / all * double(b.n));");
    s.line("    a.n += b.n;");
    s.line("  }");
    s.line("}");
  }

  const reduction_output& o_;
  scalar_type type_;
  std::string name_;
};

class reduction_writer {
 public:
  reduction_writer(const reduction_evaluation& r, const reduction_plan& p) : r_(r), e_(r.input), p_(p) {
    for (std::size_t k = 0; k != r.results.size(); ++k) cells_.emplace_back(r, k);
  }

  std::string write() {
    write_prelude();
    s_.line("using index = ", p_.is_wide ? "unsigned long long" : "unsigned", ";");
    s_.line("__device__ inline long long offset(index i, long long stride) { return (long long)i * stride; }");
    write_functions(s_, e_);
    write_arguments_type();
    for (const cell_writer& c : cells_) c.write(s_);
    write_variances();
    write_element();
    s_.open(joined("extern \"C\" __global__ void __launch_bounds__(", reduction_plan::threads, ") ", kernel_name,
                   "(const __grid_constant__ arguments g)"));
    write_body();
    s_.close();
    return std::move(s_.text());
  }

 private:
  std::size_t results() const { return r_.results.size(); }
  scalar_type combined(std::size_t k) const {
    return combined_as(r_.results[k].what, e_.code[r_.results[k].value].type);
  }

  // The functions of the program, and of the conversions of results.
  void write_prelude() {
    std::vector<instruction> code(e_.code.begin(), e_.code.end());
    std::vector<evaluation_output> outputs;
    for (std::size_t k = 0; k != results(); ++k) {
      const scalar_type to = computed_as(r_.results[k].to.type);
      if (to != combined(k)) code.push_back({operation::cast, to, combined(k)});
      outputs.push_back({r_.results[k].to, r_.results[k].value});
    }
    evaluation all = e_;
    all.code = code, all.outputs = outputs;
    s_.text() = prelude_for(all);
    s_.add(cell_functions);
  }

  void write_arguments_type() {
    s_.open("struct arguments");
    for (std::size_t c = 0; c != e_.constants.size(); ++c) s_.line("constant c", c, ";");
    for (std::size_t i = 0; i != e_.operands.size(); ++i) {
      s_.line("const char* p", i, ";");
      for (std::size_t d = 0; d != e_.rank; ++d) s_.line("long long s", i, "_", d, ";");
    }
    for (std::size_t k = 0; k != results(); ++k) {
      s_.line("char* q", k, ";");
      for (std::size_t d = 0; d != e_.rank; ++d) s_.line("long long t", k, "_", d, ";");
      s_.line("double freedom", k, ";");
    }
    for (std::size_t d = 0; d != e_.rank; ++d) s_.line("unsigned long long n", d, ";");
    s_.line("char* scratch;");
    s_.line("unsigned long long outputs, reduced, parts, is_last;");
    s_.close(";");
  }

  void write_variances() {
    for (const reduction_output& o : r_.results) {
      if (o.what != reduction_operation::moments) continue;
      s_.line("template <class T>");
      s_.open("__device__ inline T variance_of(const moments<T>& m, double freedom)");
      s_.line("const T by = T(double(m.n) - freedom);");
      s_.line("return by > 0 ? m.squares / by : T(__int_as_float(0x7fffffff));");
      s_.close();
      return;
    }
  }

  // The values of one element, from its loads and indices.
  void write_element() {
    std::string parameters = "const arguments& g";
    for (std::size_t i = 0; i != e_.operands.size(); ++i)
      parameters += joined(", ", operand_type(e_.operands[i]), " v", i);
    for (std::size_t d = 0; d != e_.rank; ++d) parameters += joined(", long long x", d);
    for (std::size_t k = 0; k != results(); ++k)
      parameters += joined(", ", register_type(e_.code[r_.results[k].value].type), "& y", k);
    s_.open(joined("__device__ __forceinline__ void element(", parameters, ")"));
    for (std::size_t k = 0; k != e_.code.size(); ++k)
      s_.line("const ", register_type(e_.code[k].type), " r", k, " = ", value_text(e_, e_.code[k]), ";");
    for (std::size_t k = 0; k != results(); ++k) s_.line("y", k, " = r", r_.results[k].value, ";");
    s_.close();
  }

  // Splits `at` into indices of the reduced or the kept axes, and adds their offsets to o0, o1, ...
  void write_indices(bool of_reduced, const std::string& at) {
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

  void write_body() {
    const unsigned along = p_.along, kept = p_.kept;
    if (p_.is_run)
      s_.line("const unsigned along = threadIdx.x % ", along, "u, kept = threadIdx.x / ", along, "u;");
    else
      s_.line("const unsigned kept = threadIdx.x % ", kept, "u, along = threadIdx.x / ", kept, "u;");
    s_.line("const index parts = (index)(g.is_last ? 1 : g.parts), part = (index)blockIdx.x % parts;");
    s_.line("const index output = (index)blockIdx.x / parts * ", kept, "u + kept;");
    s_.line("const bool is_live = output < (index)g.outputs;");
    for (const cell_writer& c : cells_) s_.line(c.name(), " all_", c.name(), " = none_of_", c.name(), "();");
    for (std::size_t d = 0; d != e_.rank; ++d) s_.line("index x", d, " = 0;");
    s_.open("if (is_live)");
    write_indices(false, "output");
    s_.open("if (g.is_last)");
    s_.open(joined("for (index i = along; i < (index)g.parts; i += ", along, "u)"));
    for (std::size_t k = 0; k != results(); ++k)
      s_.line("join_", cells_[k].name(), "(all_", cells_[k].name(), ", ((const ", cells_[k].name(), "*)(g.scratch + ",
              k, " * g.outputs * g.parts * ", reduction_plan::cell_bytes,
              "))[(unsigned long long)output * g.parts + i]);");
    s_.close();
    s_.close(" else {");
    write_loop();
    s_.line("}");
    s_.close();
    for (std::size_t k = 0; k != results(); ++k) write_tree(k);
    s_.line("if (!is_live || along != 0) return;");
    for (std::size_t k = 0; k != results(); ++k) write_store(k);
  }

  // Values of the part: chains of independent partial results, joined after chain_length values of each.
  void write_loop() {
    constexpr unsigned chains = reduction_plan::chains, length = reduction_plan::chain_length;
    for (std::size_t i = 0; i != e_.operands.size(); ++i) {
      std::string base = joined("const char* const b", i, " = g.p", i);
      for (std::size_t d = 0; d != e_.rank; ++d)
        if (!r_.is_reduced[d]) base += joined(" + offset(x", d, ", g.s", i, "_", d, ")");
      s_.line(base, ";");
    }
    s_.line("const index share = (index)((g.reduced + g.parts - 1) / g.parts);");
    s_.line("const index begin = part * share;");
    s_.line("const index last = begin + share < (index)g.reduced ? begin + share : (index)g.reduced;");
    s_.open(joined("for (index first = begin + along; first < last; first += ", p_.along * chains * length, "u)"));
    for (const cell_writer& c : cells_) {
      s_.line(c.name(), " some_", c.name(), "[", chains, "];");
      s_.line("#pragma unroll");
      s_.line("for (int u = 0; u < ", chains, "; ++u) some_", c.name(), "[u] = none_of_", c.name(), "();");
    }
    s_.line("#pragma unroll 1");
    s_.open(joined("for (int step = 0; step < ", length, "; ++step)"));
    s_.line("const index here = first + step * ", p_.along * chains, "u;");
    s_.line("if (here >= last) break;");
    for (std::size_t i = 0; i != e_.operands.size(); ++i)
      s_.line(operand_type(e_.operands[i]), " v", i, "[", chains, "];");
    for (std::size_t d = 0; d != e_.rank; ++d)
      if (r_.is_reduced[d]) s_.line("index z", d, "[", chains, "];");
    s_.line("#pragma unroll");
    s_.open(joined("for (int u = 0; u < ", chains, "; ++u)"));
    s_.line("const index i = here + u * ", p_.along, "u;");
    s_.line("if (i >= last) continue;");
    write_indices(true, "i");
    for (std::size_t d = 0; d != e_.rank; ++d)
      if (r_.is_reduced[d]) s_.line("z", d, "[u] = x", d, ";");
    for (std::size_t i = 0; i != e_.operands.size(); ++i) {
      std::string address = joined("b", i);
      for (std::size_t d = 0; d != e_.rank; ++d)
        if (r_.is_reduced[d]) address += joined(" + offset(x", d, ", g.s", i, "_", d, ")");
      if (e_.operands[i].is_gathered)
        s_.line("v", i, "[u] = ", address, ";");
      else
        s_.line("v", i, "[u] = *(const ", memory_type(e_.operands[i].type), "*)(", address, ");");
    }
    s_.close();
    s_.line("#pragma unroll");
    s_.open(joined("for (int u = 0; u < ", chains, "; ++u)"));
    s_.line("const index i = here + u * ", p_.along, "u;");
    s_.line("if (i >= last) continue;");
    std::string call = "element(g";
    for (std::size_t i = 0; i != e_.operands.size(); ++i) call += joined(", v", i, "[u]");
    for (std::size_t d = 0; d != e_.rank; ++d)
      call += joined(", (long long)", r_.is_reduced[d] ? "z" : "x", d, r_.is_reduced[d] ? "[u]" : "");
    for (std::size_t k = 0; k != results(); ++k) {
      s_.line(register_type(e_.code[r_.results[k].value].type), " y", k, ";");
      call += joined(", y", k);
    }
    s_.line(call, ");");
    for (std::size_t k = 0; k != results(); ++k)
      s_.line("add_to_", cells_[k].name(), "(some_", cells_[k].name(), "[u], y", k, ", (long long)i);");
    s_.close();
    s_.close();
    for (const cell_writer& c : cells_) {
      s_.line("#pragma unroll");
      s_.line("for (int half = ", chains / 2, "; half > 0; half /= 2)");
      s_.line("  for (int u = 0; u < half; ++u) join_", c.name(), "(some_", c.name(), "[u], some_", c.name(),
              "[u + half]);");
      s_.line("join_", c.name(), "(all_", c.name(), ", some_", c.name(), "[0]);");
    }
    s_.close();
  }

  // Joins the results of the threads of a kept index, by halves. Shared memory has no constructors.
  void write_tree(std::size_t k) {
    const std::string& name = cells_[k].name();
    if (p_.along == 1) return;
    s_.open("");
    s_.line("alignas(16) __shared__ char room[", reduction_plan::threads, " * sizeof(", name, ")];");
    s_.line(name, "* const shared = (", name, "*)room + kept * ", p_.along, "u;");
    s_.line("shared[along] = all_", name, ";");
    s_.line("__syncthreads();");
    s_.open(joined("for (unsigned half = ", p_.along / 2, "; half > 0; half /= 2)"));
    s_.line("if (along < half) join_", name, "(shared[along], shared[along + half]);");
    s_.line("__syncthreads();");
    s_.close();
    s_.line("all_", name, " = shared[0];");
    s_.close();
  }

  void write_store(std::size_t k) {
    const std::string& name = cells_[k].name();
    const reduction_output& o = r_.results[k];
    s_.open("if (g.parts > 1 && !g.is_last)");
    s_.line("((", name, "*)(g.scratch + ", k, " * g.outputs * g.parts * ", reduction_plan::cell_bytes,
            "))[(unsigned long long)output * g.parts + part] = all_", name, ";");
    s_.close(" else {");
    std::string address = joined("g.q", k);
    for (std::size_t d = 0; d != e_.rank; ++d)
      if (!r_.is_reduced[d]) address += joined(" + offset(x", d, ", g.t", k, "_", d, ")");
    const scalar_type from = combined(k), to = computed_as(o.to.type);
    s_.line("  const ", register_type(from), " r0 = ", cells_[k].finished("all_" + name, k), ";");
    const std::string converted = to == from ? "r0" : value_text({operation::cast, to, from, 0});
    s_.line("  const ", register_type(to), " result = ", converted, ";");
    s_.line("  *(", memory_type(o.to.type), "*)(", address, ") = ", stored_text("result", o.to.type), ";");
    s_.line("}");
  }

  const reduction_evaluation& r_;
  const evaluation& e_;
  const reduction_plan& p_;
  std::vector<cell_writer> cells_;
  source_builder s_;
};

}  // namespace

jit::kernel_source reduction_source_for(const reduction_evaluation& r, const reduction_plan& p) {
  std::string shape = "reduction of rank " + std::to_string(r.input.rank) + ", " + std::to_string(p.kept) + " x " +
                      std::to_string(p.along) + " threads, " + std::to_string(r.results.size()) + " results";
  if (const std::string places = places_of_functions(r.input); !places.empty()) shape += " | " + places;
  jit::kernel_source source{reduction_writer(r, p).write(), kernel_name, std::move(shape), {}};
  source.options.push_back(r.input.fast_math ? "--use_fast_math" : "--fmad=false");
  return source;
}

}  // namespace ferry::inline FERRY_ABI::detail::generator
