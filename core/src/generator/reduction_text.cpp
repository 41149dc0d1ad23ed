// Source of the kernel of a reduction.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "ferry/core/detail/support/concat.hpp"
#include "generator/element_text.hpp"
#include "generator/operation_text.hpp"
#include "generator/reduction_cells.hpp"
#include "generator/reduction_plan.hpp"

namespace ferry::inline FERRY_ABI::detail::generator {
namespace {

class reduction_writer {
 public:
  reduction_writer(const reduction_evaluation& r, const reduction_plan& p) : r_(r), p_(p), source_(r, p.is_wide) {
    for (std::size_t k = 0; k != r.results.size(); ++k) cells_.emplace_back(r.results[k], source_.value_type(k), k);
  }

  std::string write() {
    source_.write_head(cell_functions());
    for (const cell_writer& c : cells_) c.write(s_);
    source_.open_kernel(has_moments() && widest_value() == 4 ? 5 : 0);  // blocks, for enough concurrent loads
    write_body();
    s_.close();
    return std::move(s_.text());
  }

 private:
  std::size_t results() const { return cells_.size(); }
  bool has_moments() const {
    return std::any_of(cells_.begin(), cells_.end(), [](const cell_writer& c) { return c.adds_all(); });
  }
  std::size_t widest_value() const {
    std::size_t most = 1;
    for (std::size_t k = 0; k != results(); ++k) most = std::max(most, size_of(source_.value_type(k)));
    return most;
  }
  // Returns the address of the cells of the parts, the results of the first run.
  std::string parts_of(std::size_t k) const {
    return concat("((", cells_[k].name(), "*)(g.scratch + ", k, " * g.outputs * g.parts * ", reduction_plan::cell_bytes,
                  "))");
  }

  void write_body() {
    const unsigned along = p_.along, kept = p_.kept;
    if (p_.is_run)
      s_.line("const unsigned along = threadIdx.x % ", along, "u, kept = threadIdx.x / ", along, "u;");
    else
      s_.line("const unsigned kept = threadIdx.x % ", kept, "u, along = threadIdx.x / ", kept, "u;");
    s_.line("const bool is_last = g.step == 1;");
    s_.line("const index parts = (index)(is_last ? 1 : g.parts), part = (index)blockIdx.x % parts;");
    s_.line("const index output = (index)blockIdx.x / parts * ", kept, "u + kept;");
    s_.line("const bool is_live = output < (index)g.outputs;");
    for (const cell_writer& c : cells_) s_.line(c.name(), " all_", c.name(), " = none_of_", c.name(), "();");
    source_.write_indices();
    s_.open("if (is_live)");
    source_.split(false, "output");
    s_.open("if (is_last)");
    write_last_loop();
    s_.close(" else {");
    write_loop();
    s_.line("}");
    s_.close();
    for (const cell_writer& c : cells_) write_tree(c.name());
    s_.line("if (!is_live || along != 0) return;");
    for (std::size_t k = 0; k != results(); ++k) write_result(k);
  }

  // Writes the loop over the results of the parts. A thread loads several before it joins them.
  void write_last_loop() {
    const unsigned at_once = has_moments() ? 2 : 4;
    s_.line("#pragma unroll 1");
    s_.open(concat("for (index first = along; first < (index)g.parts; first += ", at_once * p_.along, "u)"));
    for (std::size_t k = 0; k != results(); ++k) {
      const std::string& c = cells_[k].name();
      s_.line(c, " some_", c, "[", at_once, "];");
      s_.line("#pragma unroll");
      s_.open(concat("for (unsigned u = 0; u < ", at_once, "; ++u)"));
      s_.line("const index i = first + u * ", p_.along, "u;");
      s_.line("some_", c, "[u] = i < (index)g.parts ? ", parts_of(k),
              "[(unsigned long long)output * g.parts + i] : none_of_", c, "();");
      s_.close();
    }
    for (const cell_writer& c : cells_) write_join(c.name(), at_once);
    s_.close();
  }

  // Writes the loop over the values of a part. A thread has several independent partial results, and joins them after
  // chain_length values of each. Cells that add all loaded values at once have one partial result instead.
  void write_loop() {
    constexpr unsigned chains = reduction_plan::chains, length = reduction_plan::chain_length;
    source_.write_bases();
    const unsigned lanes = p_.lanes, step = p_.along * p_.loads;
    s_.line("const index share = (index)((g.reduced + g.parts - 1) / g.parts + ", lanes - 1, ") / ", lanes, "u * ",
            lanes, "u;");
    s_.line("const index begin = part * share;");
    s_.line("const index last = begin + share < (index)g.reduced ? begin + share : (index)g.reduced;");
    s_.open(concat("for (index first = begin + along * ", lanes,
                   "u; first < last; first += ", p_.along * chains * length, "u)"));
    for (const cell_writer& c : cells_) write_none(c);
    s_.line("#pragma unroll 1");
    s_.open(concat("for (unsigned step = 0; step < ", chains * length / p_.loads, "; ++step)"));
    s_.line("const index here = first + step * ", step, "u;");
    s_.line("if (here >= last) break;");
    const auto adds_all = [](const cell_writer& c) { return c.adds_all(); };
    value_positions positions = p_.positions();
    positions.are_clamped = std::all_of(cells_.begin(), cells_.end(), adds_all);
    source_.write_loads(positions);
    if (has_moments()) source_.write_count(positions);
    for (std::size_t k = 0; k != results(); ++k)
      if (cells_[k].adds_all()) s_.line(register_type(source_.value_type(k)), " all_y", k, "[", p_.loads, "];");
    source_.open_values(positions);
    for (std::size_t k = 0; k != results(); ++k) {
      if (cells_[k].adds_all())
        s_.line("all_y", k, "[u] = y", k, ";");
      else
        s_.line("add_to_", cells_[k].name(), "(some_", cells_[k].name(), "[u % ", chains, "], y", k,
                ", (long long)i);");
    }
    s_.close();
    for (std::size_t k = 0; k != results(); ++k)
      if (cells_[k].adds_all())
        s_.line("add_all_to_", cells_[k].name(), "(some_", cells_[k].name(), ", all_y", k, ", count);");
    s_.close();
    for (const cell_writer& c : cells_) write_join(c);
    s_.close();
  }

  // Declares the partial results of a thread.
  void write_none(const cell_writer& c) {
    if (c.adds_all()) {
      s_.line(c.name(), " some_", c.name(), " = none_of_", c.name(), "();");
      return;
    }
    constexpr unsigned chains = reduction_plan::chains;
    s_.line(c.name(), " some_", c.name(), "[", chains, "];");
    s_.line("#pragma unroll");
    s_.line("for (int u = 0; u < ", chains, "; ++u) some_", c.name(), "[u] = none_of_", c.name(), "();");
  }
  // Joins the partial results of a thread, and adds them to its result.
  void write_join(const cell_writer& c) {
    if (c.adds_all()) {
      s_.line("join_", c.name(), "(all_", c.name(), ", some_", c.name(), ");");
      return;
    }
    write_join(c.name(), reduction_plan::chains);
  }
  // Adds n partial results, a power of two, to the result of a thread.
  void write_join(const std::string& c, unsigned n) {
    s_.line("#pragma unroll");
    s_.line("for (int half = ", n / 2, "; half > 0; half /= 2)");
    s_.line("  for (int u = 0; u < half; ++u) join_", c, "(some_", c, "[u], some_", c, "[u + half]);");
    s_.line("join_", c, "(all_", c, ", some_", c, "[0]);");
  }

  // Joins the cells of the threads of a kept index in a tree. Shared memory consists of bytes, because variables there
  // cannot have constructors.
  void write_tree(const std::string& name) {
    if (p_.along == 1) return;
    s_.open("");
    s_.line("alignas(16) __shared__ char room[", reduction_threads, " * sizeof(", name, ")];");
    s_.line(name, "* const shared = (", name, "*)room + kept * ", p_.along, "u;");
    s_.line("shared[along] = all_", name, ";");
    s_.line("__syncthreads();");
    s_.open(concat("for (unsigned half = ", p_.along / 2, "; half > 0; half /= 2)"));
    s_.line("if (along < half) join_", name, "(shared[along], shared[along + half]);");
    s_.line("__syncthreads();");
    s_.close();
    s_.line("all_", name, " = shared[0];");
    s_.close();
  }

  void write_result(std::size_t k) {
    const std::string& name = cells_[k].name();
    s_.open("if (g.parts > 1 && !is_last)");
    s_.line(parts_of(k), "[(unsigned long long)output * g.parts + part] = all_", name, ";");
    s_.close(" else {");
    const scalar_type from = combined_as(r_.results[k].what, source_.value_type(k));
    s_.line("const ", register_type(from), " r0 = ", cells_[k].finished("all_" + name, k), ";");
    source_.write_store(k, from);
    s_.line("}");
  }

  const reduction_evaluation& r_;
  const reduction_plan& p_;
  reduction_source source_;
  source_builder& s_ = source_.text();
  std::vector<cell_writer> cells_;
};

}  // namespace

std::string reduction_text(const reduction_evaluation& r, const reduction_plan& p) {
  return reduction_writer(r, p).write();
}

}  // namespace ferry::inline FERRY_ABI::detail::generator
