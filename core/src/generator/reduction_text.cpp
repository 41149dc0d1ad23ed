#include "generator/reduction_text.hpp"

#include <cstring>
#include <string>

#include "generator/element_text.hpp"
#include "generator/kernel_text.hpp"
#include "generator/operation_text.hpp"
#include "generator/prelude.hpp"

namespace ferry::inline FERRY_ABI::detail::generator {
namespace {

constexpr unsigned unroll = 4;  // elements that a thread loads before it adds them

class reduction_writer {
 public:
  reduction_writer(const reduction_evaluation& r, const reduction_plan& p) : r_(r), p_(p), e_(r.input) {
    for (const reduction_output& o : r.results) values_.push_back({{nullptr, {}, e_.code[o.value].type}, o.value});
    e_.outputs = values_;
  }

  std::string write() {
    s_.text() = prelude_for(e_) + reduction_prelude_for(r_);
    s_.line("using index = ", p_.is_wide ? "unsigned long long" : "unsigned", ";");
    write_arguments_type();
    write_element(s_, e_);
    write_cells();
    s_.open(joined("extern \"C\" __global__ void __launch_bounds__(", reduction_plan::threads, ") ", kernel_name,
                   "(const __grid_constant__ arguments g)"));
    write_body();
    s_.close();
    return std::move(s_.text());
  }

 private:
  std::string cell_type(std::size_t k) const {
    const reduction_output& o = r_.results[k];
    const scalar_type t = e_.code[o.value].type;
    const std::string type(register_type(t));
    switch (o.what) {
      case reduction_operation::sum:
        if (t == scalar_type::float32) return "float_sum";
        if (t == scalar_type::float64) return "double_sum";
        if (t == scalar_type::complex64) return "complex_sum<float, float_sum>";
        if (t == scalar_type::complex128) return "complex_sum<double, double_sum>";
        return "whole_sum<" + type + ">";
      case reduction_operation::product:
        if (is_complex(t)) return joined("complex_product<", register_type(real_of(t)), ">");
        if (t == scalar_type::float32) return "float_product";
        return (is_integer(t) ? "whole_product<" : "product<") + type + ">";
      case reduction_operation::minimum: return "extremum_min<" + type + ">";
      case reduction_operation::maximum: return "extremum_max<" + type + ">";
      case reduction_operation::any: return "any_of";
      case reduction_operation::all: return "all_of";
      case reduction_operation::least: return "best_position<" + type + ", true>";
      case reduction_operation::greatest: return "best_position<" + type + ", false>";
      case reduction_operation::moments: return "moments_of";
    }
    return {};
  }
  std::string finished(std::size_t k) const {
    const reduction_output& o = r_.results[k];
    const scalar_type t = combined_as(o.what, e_.code[o.value].type);
    const std::string c = joined("all.c", k), part(register_type(real_of(t)));
    switch (o.finish) {
      case reduction_finish::none: return c + ".sum()";
      case reduction_finish::root: return "sqrt(" + c + ".sum())";
      case reduction_finish::variance: return joined("(", part, ")", c, ".variance(g.f", k, ")");
      case reduction_finish::deviation: return joined("(", part, ")sqrt(", c, ".variance(g.f", k, "))");
      case reduction_finish::mean:
        if (is_complex(t))
          return joined(register_type(t), "(real(", c, ".sum()) / (", part, ")g.reduced, imag(", c, ".sum()) / (", part,
                        ")g.reduced)");
        return joined(c, ".sum() / (", part, ")g.reduced");
    }
    return {};
  }

  void write_arguments_type() {
    s_.open("struct arguments");
    for (std::size_t c = 0; c < e_.constants.size(); ++c) s_.line("constant c", c, ";");
    for (std::size_t i = 0; i < e_.operands.size(); ++i) {
      s_.line("const char* p", i, ";");
      for (std::size_t d = 0; d < e_.rank; ++d) s_.line("long long s", i, "_", d, ";");
    }
    for (std::size_t k = 0; k < p_.results; ++k) {
      s_.line("char* q", k, ";");
      s_.line("double f", k, ";");
      for (const std::uint8_t d : p_.kept_axes) s_.line("long long t", k, "_", int{d}, ";");
    }
    for (std::size_t d = 0; d < e_.rank; ++d) s_.line("unsigned long long n", d, ";");
    s_.line("unsigned long long reduced, cells, parts, chunk, threads_of_cell;");
    s_.line("unsigned* counters;");
    s_.line("char* scratch;");
    s_.close(";");
  }

  void write_cells() {
    s_.open("struct cells");
    for (std::size_t k = 0; k < p_.results; ++k) s_.line(cell_type(k), " c", k, ";");
    s_.open("__device__ void join(const cells& o)");
    for (std::size_t k = 0; k < p_.results; ++k) s_.line("c", k, ".join(o.c", k, ");");
    s_.close();
    s_.close(";");
    s_.line("static_assert(sizeof(cells) <= ", p_.results * reduction_plan::bytes_of_cell, ", \"scratch memory\");");
    s_.open("__device__ void write_results(const arguments& g, index cell, const cells& all)");
    write_digits(p_.kept_axes, "cell", "k");
    for (std::size_t k = 0; k < p_.results; ++k) {
      const scalar_type to = r_.results[k].to.type;
      std::string at = joined("g.q", k);
      for (const std::uint8_t d : p_.kept_axes) at += joined(" + (long long)k", int{d}, " * g.t", k, "_", int{d});
      const std::string value = is_complex(to) || is_complex(computed_as(to))
                                    ? finished(k)
                                    : joined("(", register_type(to), ")(", finished(k), ")");
      s_.line("const ", register_type(to), " z", k, " = ", value, ";");
      s_.line("*(", memory_type(to), "*)(", at, ") = ", stored_text(joined("z", k), to), ";");
    }
    s_.close();
  }
  // Variables prefix0, ... for the index along each of the axes.
  void write_digits(const std::vector<std::uint8_t>& axes, const char* from, const char* prefix) {
    s_.line("index ", prefix, "_rest = ", from, ";");
    for (std::size_t k = 0; k < axes.size(); ++k) {
      const int d = axes[k];
      if (k + 1 == axes.size()) {
        s_.line("const index ", prefix, d, " = ", prefix, "_rest;");
      } else {
        s_.line("const index ", prefix, d, " = ", prefix, "_rest % (index)g.n", d, ";");
        s_.line(prefix, "_rest /= (index)g.n", d, ";");
      }
    }
  }

  void write_body() {
    const unsigned threads = reduction_plan::threads;
    s_.line("alignas(16) __shared__ unsigned char room[", threads, " * sizeof(cells)];");
    s_.line("cells* const shared = (cells*)room;");
    s_.line("const unsigned width = (unsigned)g.threads_of_cell, lane = threadIdx.x % width;");
    s_.line("const index part = (index)(blockIdx.x % g.parts), group = (index)(blockIdx.x / g.parts);");
    s_.line("const index cell = group * (", threads, " / width) + threadIdx.x / width;");
    s_.line("cells all;");
    s_.open("if (cell < (index)g.cells)");
    write_digits(p_.kept_axes, "cell", "k");
    for (std::size_t i = 0; i < e_.operands.size(); ++i) {
      std::string base = joined("g.p", i);
      for (const std::uint8_t d : p_.kept_axes) base += joined(" + (long long)k", int{d}, " * g.s", i, "_", int{d});
      s_.line("const char* const b", i, " = ", base, ";");
    }
    s_.line("const index first = part * (index)g.chunk + lane;");
    s_.line(
        "const index end = part * (index)g.chunk + (index)g.chunk < (index)g.reduced ? part * (index)g.chunk + "
        "(index)g.chunk : (index)g.reduced;");
    s_.open(joined("for (index at = first; at < end; at += ", unroll, " * width)"));
    for (std::size_t i = 0; i < e_.operands.size(); ++i)
      s_.line(memory_type(e_.operands[i].type), " v", i, "[", unroll, "];");
    s_.line("#pragma unroll");
    s_.open(joined("for (int u = 0; u < ", unroll, "; ++u)"));
    s_.line("if (at + u * width >= end) continue;");
    write_digits(p_.reduced_axes, "at + u * width", "r");
    for (std::size_t i = 0; i < e_.operands.size(); ++i) {
      std::string address = joined("b", i);
      for (const std::uint8_t d : p_.reduced_axes)
        address += joined(" + (long long)r", int{d}, " * g.s", i, "_", int{d});
      s_.line("v", i, "[u] = *(const ", memory_type(e_.operands[i].type), "*)(", address, ");");
    }
    s_.close();
    s_.line("#pragma unroll");
    s_.open(joined("for (int u = 0; u < ", unroll, "; ++u)"));
    s_.line("if (at + u * width >= end) continue;");
    bool needs_digits = false;
    for (const std::uint8_t d : p_.reduced_axes) needs_digits = needs_digits || uses_index(e_, d);
    if (needs_digits) write_digits(p_.reduced_axes, "at + u * width", "r");
    for (std::size_t k = 0; k < p_.results; ++k) s_.line(memory_type(e_.outputs[k].to.type), " y", k, ";");
    s_.line(element_call(
        e_, [](std::size_t i) { return joined("v", i, "[u]"); },
        [&](std::size_t d) { return joined(r_.is_reduced[d] ? "r" : "k", d); },
        [](std::size_t k) { return joined("y", k); }, [](std::size_t) { return std::string(); }));
    for (std::size_t k = 0; k < p_.results; ++k) {
      const char* const test = e_.outputs[k].to.type == scalar_type::boolean ? " != 0" : "";
      s_.line("all.c", k, ".add(y", k, test, ", (long long)(at + u * width));");
    }
    s_.close();
    s_.close();
    s_.close();
    write_tree();
    s_.open("if (g.parts == 1)");
    s_.line("if (lane == 0 && cell < (index)g.cells) write_results(g, cell, all);");
    s_.line("return;");
    s_.close();
    write_last_block(threads);
  }
  // Joins the cells of the `width` threads of a cell; the result is in the first one.
  void write_tree() {
    s_.open("for (unsigned half = width / 2; half > 0; half /= 2)");
    s_.line("__syncthreads();");
    s_.line("shared[threadIdx.x] = all;");
    s_.line("__syncthreads();");
    s_.line("if (lane < half) all.join(shared[threadIdx.x + half]);");
    s_.close();
  }
  // The block that is last of its group joins the parts.
  void write_last_block(unsigned threads) {
    s_.line("cells* const scratch = (cells*)g.scratch;");
    s_.line("const index of_group = ", threads, " / width, of_block = threadIdx.x / width;");
    s_.line("if (lane == 0) scratch[((unsigned long long)group * g.parts + part) * of_group + of_block] = all;");
    s_.line("__shared__ bool is_last;");
    s_.line("__threadfence();");
    s_.line("__syncthreads();");
    s_.line("if (threadIdx.x == 0) is_last = atomicAdd(&g.counters[group], 1u) + 1 == (unsigned)g.parts;");
    s_.line("__syncthreads();");
    s_.line("if (!is_last) return;");
    s_.line("__threadfence();");
    s_.line("all = cells();");
    s_.open("for (index p = lane; p < (index)g.parts; p += width)");
    s_.line("const cells one = scratch[((unsigned long long)group * g.parts + p) * of_group + of_block];");
    s_.line("all.join(one);");
    s_.close();
    write_tree();
    s_.line("if (lane == 0 && cell < (index)g.cells) write_results(g, cell, all);");
  }

  const reduction_evaluation& r_;
  const reduction_plan& p_;
  evaluation e_;
  std::vector<evaluation_output> values_;
  source_builder s_;
};

std::string result_text(const reduction_output& o) {
  constexpr const char* names[] = {"sum", "prod", "min", "max", "any", "all", "argmin", "argmax", "moments"};
  constexpr const char* finishes[] = {"", " mean", " root", " variance", " deviation"};
  return joined(names[static_cast<int>(o.what)], finishes[static_cast<int>(o.finish)]);
}

}  // namespace

jit::kernel_source reduction_source_for(const reduction_evaluation& r, const reduction_plan& p) {
  jit::kernel_source source{reduction_writer(r, p).write(), kernel_name, {}, {}};
  for (const reduction_output& o : r.results)
    source.shape += joined(source.shape.empty() ? "" : "; ", name_of(o.to.type), " ", result_text(o), "(",
                           expression_text(r.input, o.value, 12), ")");
  source.shape += joined(" | rank ", r.input.rank, ", reduced");
  for (const std::uint8_t d : p.reduced_axes) source.shape += joined(" ", int{d});
  source.options.push_back(r.input.fast_math ? "--use_fast_math" : "--fmad=false");
  return source;
}

std::vector<program_constant> reduction_arguments(const reduction_evaluation& r, const reduction_plan& p,
                                                  void* scratch) {
  std::vector<program_constant> all(r.input.constants.begin(), r.input.constants.end());
  std::size_t used = all.size() * sizeof(program_constant);
  const auto put = [&](auto word) {
    static_assert(sizeof word == 8);
    if (used == all.size() * sizeof(program_constant)) all.push_back({});
    std::memcpy(reinterpret_cast<std::byte*>(all.data()) + used, &word, 8);
    used += 8;
  };
  for (const evaluation_operand& o : r.input.operands) {
    put(o.data);
    for (std::size_t d = 0; d < r.input.rank; ++d) put(o.stride_bytes[d]);
  }
  for (const reduction_output& o : r.results) {
    put(o.to.data), put(o.freedom);
    for (const std::uint8_t d : p.kept_axes) put(o.to.stride_bytes[d]);
  }
  for (std::size_t d = 0; d < r.input.rank; ++d) put(r.input.extent[d]);
  put(p.reduced), put(p.cells), put(p.parts), put(p.chunk), put(std::size_t{p.threads_of_cell});
  put(scratch), put(static_cast<void*>(static_cast<std::byte*>(scratch) + p.counter_bytes()));
  return all;
}

}  // namespace ferry::inline FERRY_ABI::detail::generator
