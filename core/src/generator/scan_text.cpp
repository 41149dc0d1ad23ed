// Source of the kernel of a scan.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "ferry/core/detail/support/concat.hpp"
#include "generator/element_text.hpp"
#include "generator/operation_text.hpp"
#include "generator/prelude.hpp"
#include "generator/reduction_cells.hpp"
#include "generator/scan_functions.hpp"
#include "generator/scan_plan.hpp"
#include "generator/scan_sums.hpp"

namespace ferry::inline FERRY_ABI::detail::generator {
namespace {

class scan_writer {
 public:
  scan_writer(const reduction_evaluation& r, const scan_plan& p) : r_(r), p_(p), source_(r, p.is_wide) {
    for (std::size_t k = 0; k != r.results.size(); ++k) {
      cells_.emplace_back(r.results[k], carried(k), k);
      sums_.add(cell(k), initial(k), scan_plan::packet_bytes(carried(k)));
    }
  }

  std::string write() {
    source_.write_head(cell_functions());
    s_.add(scan_functions());
    for (const cell_writer& c : cells_) c.write(s_);
    source_.open_kernel(blocks());
    write_tile();
    for (std::size_t k = 0; k != results(); ++k) {
      write_sums(k);
      if (p_.tiles > 1) sums_.write_sum_before(k);
    }
    for (std::size_t k = 0; k != results(); ++k) write_result(k);
    s_.close();
    return std::move(s_.text());
  }

 private:
  // Returns the number of blocks that a multiprocessor has room for, for enough concurrent loads.
  unsigned blocks() const {
    if (!p_.is_parked) return p_.is_run ? 3 : 2;
    const bool is_short = r_.input.code.size() <= 6 && r_.input.calls.empty();  // needs few registers
    return p_.is_run && is_short ? 6 : 4;
  }
  std::size_t results() const { return r_.results.size(); }
  scalar_type carried(std::size_t k) const { return carried_as(r_.results[k].what, source_.value_type(k)); }
  const std::string& cell(std::size_t k) const { return cells_[k].name(); }
  // Returns the conversion of a value to the type of the cell.
  std::string widened(std::size_t k, const std::string& v) const {
    return converted(v, source_.value_type(k), carried(k));
  }
  static std::string converted(const std::string& v, scalar_type from, scalar_type to) {
    if (from == to) return v;
    const std::string part(register_type(real_of(to)));
    return is_complex(to) ? concat(register_type(to), "(", part, "(real(", v, ")), ", part, "(imag(", v, ")))")
                          : concat("(", register_type(to), ")", v);
  }

  // Loads values y0[], y1[], ... of the thread in the order of memory: they are `lanes` apart.
  void write_tile() {
    const unsigned lanes = p_.lanes, groups = p_.groups, kept = p_.kept;
    if (p_.is_run)
      s_.line("const unsigned lane = threadIdx.x % ", lanes, "u, group = threadIdx.x / ", lanes, "u % ", groups,
              "u, kept = threadIdx.x / ", lanes * groups, "u;");
    else
      s_.line("const unsigned lane = 0, kept = threadIdx.x % ", kept, "u, group = threadIdx.x / ", kept, "u;");
    s_.line("const index strips = ((index)g.outputs + ", kept - 1, "u) / ", kept, "u;");
    s_.line("const index tile = (index)blockIdx.x / strips, strip = (index)blockIdx.x % strips;");
    s_.line("const index output = strip * ", kept, "u + kept;");
    s_.line("const bool is_live = output < (index)g.outputs;");
    s_.line("const index begin = tile * ", p_.tile(), "u + group * ", lanes * p_.items, "u + lane",
            p_.vector > 1 ? concat(" * ", p_.vector, "u") : "", ";");
    s_.line("const index last = is_live ? (index)g.reduced : 0;");
    if (p_.tiles > 1) sums_.write_begin();
    source_.write_indices();
    p_.is_parked ? write_parked_values() : write_values();
  }
  void write_values() {
    for (std::size_t k = 0; k != results(); ++k) {
      s_.line(register_type(source_.value_type(k)), " all_y", k, "[", p_.items, "];");
      s_.line("#pragma unroll");
      s_.line("for (int u = 0; u < ", p_.items, "; ++u) all_y", k, "[u] = ", none(k), ";");
    }
    s_.open("if (is_live)");
    source_.split(false, "output");
    source_.write_bases();
    s_.line("const index here = begin;");
    source_.write_loads(p_.positions());
    source_.open_values(p_.positions());
    for (std::size_t k = 0; k != results(); ++k) s_.line("all_y", k, "[u] = y", k, ";");
    s_.close();
    s_.close();
    if (!is_exchanged()) return;
    std::size_t bytes = 1;
    for (std::size_t k = 0; k != results(); ++k) bytes = std::max(bytes, size_of(source_.value_type(k)));
    s_.line("alignas(16) __shared__ char room[", reduction_threads * (p_.items + 1) * bytes, "];");
    s_.line("const unsigned room_begin = threadIdx.x / ", p_.lanes, "u * ", p_.lanes * (p_.items + 1), "u;");
  }
  // Stores values of the one result to shared memory, a part of them at a time: few registers, for many threads.
  void write_parked_values() {
    const std::string type(register_type(source_.value_type(0)));
    s_.line("alignas(16) __shared__ char room[",
            reduction_threads * (is_exchanged() ? p_.items + 1 : p_.items) * size_of(source_.value_type(0)), "];");
    s_.line(
        type, "* const own = (", type, "*)room + ",
        is_exchanged() ? concat("threadIdx.x / ", p_.lanes, "u * ", p_.lanes * (p_.items + 1), "u;") : "threadIdx.x;");
    s_.line("const bool is_whole = is_live && (unsigned long long)(tile + 1) * ", p_.tile(), "u <= g.reduced;");
    source_.split(false, "output");
    source_.write_bases();
    s_.open("if (is_whole)");
    write_parked_loads(true);
    s_.close(" else if (is_live) {");
    write_parked_loads(false);
    s_.line("} else {");
    s_.line("for (unsigned u = 0; u < ", p_.items, "; ++u) own[", in_memory("u", 1), "] = ", none(0), ";");
    s_.line("}");
    s_.line("__syncwarp();");
  }
  void write_parked_loads(bool are_whole) {
    value_positions positions = p_.positions();
    positions.are_whole = are_whole;
    if (!are_whole) positions.n = std::max(p_.vector, std::min(positions.n, 8u));  // fewer registers
    s_.line("#pragma unroll", are_whole ? "" : " 1");
    s_.open(concat("for (unsigned from = 0; from < ", p_.items, "; from += ", positions.n, ")"));
    s_.line("const index here = begin + from * ", p_.lanes, "u;");
    source_.write_loads(positions);
    s_.line(register_type(source_.value_type(0)), " all_y0[", positions.n, "];");
    s_.line("#pragma unroll");
    s_.line("for (int u = 0; u < ", positions.n, "; ++u) all_y0[u] = ", none(0), ";");
    source_.open_values(positions);
    s_.line("all_y0[u] = y0;");
    s_.close();
    s_.line("#pragma unroll");
    s_.line("for (int u = 0; u < ", positions.n, "; ++u) own[", in_memory("(from + u)", p_.vector), "] = all_y0[u];");
    s_.close();
  }
  std::string none(std::size_t k) const {
    return converted(concat("none_of_", cell(k), "()"), carried(k), source_.value_type(k));
  }
  bool is_exchanged() const { return p_.lanes > 1 && p_.items > 1; }

  // Return the place of value u in the part of shared memory that the lanes exchange values in: of successive values of
  // each lane, or of values in the order of memory, `vector` at a time. One element of items + 1 is unused, so that
  // lanes use different banks.
  std::string successive(const std::string& u) const {
    return is_exchanged() ? concat("lane * ", p_.items + 1, "u + ", u) : concat(u, " * ", reduction_threads, "u");
  }
  std::string in_memory(const std::string& u, unsigned vector) const {
    if (!is_exchanged()) return successive(u);
    std::string at = concat("(", u, " * ", p_.lanes, "u + lane)");
    if (vector > 1)
      at = concat("((", u, " / ", vector, "u * ", p_.lanes, "u + lane) * ", vector, "u + ", u, " % ", vector, "u)");
    return concat(at, " + ", at, " / ", p_.items, "u");
  }
  // Returns the variable that has successive value u.
  std::string value(std::size_t k) const {
    return p_.is_parked ? concat("own[", successive("u"), "]") : concat("all_y", k, "[u]");
  }

  // Exchanges values between the lanes, through shared memory: from the order of memory to successive values of each
  // lane, or back.
  void write_exchange(std::size_t k, bool to_lanes) {
    if (!is_exchanged() || p_.is_parked) return;
    s_.open("");
    const std::string_view t = register_type(source_.value_type(k));
    s_.line(t, "* const own = (", t, "*)room + room_begin;");
    for (const bool is_store : {true, false}) {
      s_.line("__syncwarp();");
      s_.line("#pragma unroll");
      const std::string at = concat("own[", is_store != to_lanes ? successive("u") : in_memory("u", 1), "]"),
                        y = concat("all_y", k, "[u]");
      s_.line("for (unsigned u = 0; u < ", p_.items, "; ++u) ", is_store ? at + " = " + y : y + " = " + at, ";");
    }
    s_.close();
  }

  // Declares before_cellK, the sum of the values before the thread in its tile, and tile_cellK, the sum of the tile.
  void write_sums(std::size_t k) {
    const std::string& c = cell(k);
    write_exchange(k, true);
    s_.line(c, " before_", c, " = none_of_", c, "(), tile_", c, " = none_of_", c, "();");
    s_.open("");
    s_.line(c, " all = none_of_", c, "();");
    s_.line("#pragma unroll");
    s_.line("for (unsigned u = 0; u < ", p_.items, "; ++u) join_", c, "(all, ", widened(k, value(k)), ");");
    if (p_.lanes > 1) {
      s_.line("#pragma unroll");
      s_.open(concat("for (unsigned by = 1; by < ", p_.lanes, "; by *= 2)"));
      s_.line(c, " sum = of_lane_before(all, by, ", p_.lanes, ");");
      s_.line("join_", c, "(sum, all);");
      s_.line("if (lane >= by) all = sum;");
      s_.close();
      s_.line("const ", c, " before = of_lane_before(all, 1, ", p_.lanes, ");");
      s_.line("if (lane > 0) before_", c, " = before;");
    }
    s_.line("alignas(16) __shared__ char sums[", p_.groups * p_.kept, " * sizeof(", c, ")];");
    s_.line(c, "* const of_groups = (", c, "*)sums;");
    s_.line("if (lane == ", p_.lanes - 1, ") of_groups[group * ", p_.kept, "u + kept] = all;");
    s_.line("__syncthreads();");
    s_.line(c, " groups_before = tile_", c, ";");
    if (p_.is_run) s_.line("#pragma unroll 8");
    s_.open(concat("for (unsigned q = 0; q < ", p_.groups, "; ++q)"));
    s_.line("if (q == group) groups_before = tile_", c, ";");
    s_.line("join_", c, "(tile_", c, ", of_groups[q * ", p_.kept, "u + kept]);");
    s_.close();
    s_.line("join_", c, "(groups_before, before_", c, ");");
    s_.line("before_", c, " = groups_before;");
    s_.close();
  }

  std::string initial(std::size_t k) const {
    if (!r_.results[k].has_initial) return concat("none_of_", cell(k), "()");
    const std::string value = concat("value_of<", register_type(source_.value_type(k)), ">(g.initial", k, ")");
    return widened(k, value);
  }

  void write_result(std::size_t k) {
    const std::string& c = cell(k);
    const scalar_type type = source_.value_type(k);
    s_.open("");
    s_.line(c, " sum = ", p_.tiles > 1 ? "line_" + c : initial(k), ";");
    s_.line("join_", c, "(sum, before_", c, ");");
    s_.line("#pragma unroll");
    s_.open(concat("for (unsigned u = 0; u < ", p_.items, "; ++u)"));
    s_.line("const ", c, " value = ", widened(k, value(k)), ";");
    if (!r_.results[k].is_exclusive) s_.line("join_", c, "(sum, value);");
    s_.line(value(k), " = ", converted("sum", carried(k), type), ";");
    if (r_.results[k].is_exclusive) s_.line("join_", c, "(sum, value);");
    s_.close();
    write_exchange(k, false);
    if (p_.is_parked) s_.line("__syncwarp();");
    if (p_.is_parked) {
      s_.open("if (is_whole)");
      write_stores(k, true);
      s_.close(" else {");
      write_stores(k, false);
      s_.line("}");
    } else {
      write_stores(k, false);
    }
    s_.close();
  }
  void write_stores(std::size_t k, bool are_whole) {
    const scalar_type type = source_.value_type(k);
    const unsigned at_once = p_.stores_vectors ? p_.vector : 1;
    s_.line("const index place = begin", p_.vector > at_once ? concat(" - lane * ", p_.vector - 1, "u") : "", ";");
    s_.line("#pragma unroll", p_.is_parked && !are_whole ? " 4" : "");
    s_.open(concat("for (unsigned u = 0; u < ", p_.items, "; u += ", at_once, ")"));
    if (!are_whole) s_.line("if (place + u * ", p_.lanes, "u >= last) continue;");
    const std::string step = concat("u * ", p_.lanes, "u");
    const std::string at = are_whole ? "place" : concat("(place + ", step, ")");
    if (p_.stores_vectors) {
      std::vector<std::string> values;
      for (unsigned v = 0; v != p_.vector; ++v)
        values.push_back(concat("own[", in_memory(concat("(u + ", v, ")"), p_.vector), "]"));
      source_.write_vector_store(k, type, at, are_whole ? step : "", values);
    } else {
      s_.line("const ", register_type(type),
              " r0 = ", p_.is_parked ? concat("own[", in_memory("u", 1), "]") : concat("all_y", k, "[u]"), ";");
      source_.write_store(k, type, at, are_whole ? step : "");
    }
    s_.close();
  }

  const reduction_evaluation& r_;
  const scan_plan& p_;
  reduction_source source_;
  source_builder& s_ = source_.text();
  std::vector<cell_writer> cells_;
  scan_sums_writer sums_{s_, p_};
};

}  // namespace

std::string scan_text(const reduction_evaluation& r, const scan_plan& p) { return scan_writer(r, p).write(); }

}  // namespace ferry::inline FERRY_ABI::detail::generator
