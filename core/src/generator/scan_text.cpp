// Source of the kernel of a scan.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "generator/element_text.hpp"
#include "generator/operation_text.hpp"
#include "generator/prelude.hpp"
#include "generator/reduction_cells.hpp"
#include "generator/scan_plan.hpp"

namespace ferry::inline FERRY_ABI::detail::generator {
namespace {

// Lanes of a warp exchange cells in words, because cells may have any type. Blocks exchange cells through memory, where
// each 8 bytes have a flag. That memory is cleared before the kernel starts, so that no flag is set.
constexpr std::string_view exchange_functions = R"(template <class T, class Word>
union words {
  T v;
  Word w[(sizeof(T) + sizeof(Word) - 1) / sizeof(Word)];
  __device__ words() : w() {}
};
template <class T>
__device__ inline T of_lane_before(T v, unsigned by, unsigned lanes) {
  words<T, unsigned> x;
  x.v = v;
#pragma unroll
  for (unsigned k = 0; k < sizeof(x.w) / 4; ++k) x.w[k] = __shfl_up_sync(0xffffffffu, x.w[k], by, lanes);
  return x.v;
}
template <class T>
__device__ inline T of_lane_across(T v, unsigned mask) {
  words<T, unsigned> x;
  x.v = v;
#pragma unroll
  for (unsigned k = 0; k < sizeof(x.w) / 4; ++k) x.w[k] = __shfl_xor_sync(0xffffffffu, x.w[k], mask);
  return x.v;
}
template <class T>
struct packet {
  static constexpr unsigned parts = (sizeof(T) + 7) / 8;
  unsigned long long part[parts], flag[parts];
  __device__ packet() {
#pragma unroll
    for (unsigned k = 0; k < parts; ++k) flag[k] = 0;
  }
  __device__ inline void read(const packet* from) {
#pragma unroll
    for (unsigned k = 0; k < parts; ++k)
      asm volatile("ld.relaxed.gpu.global.v2.u64 {%0, %1}, [%2];"
                   : "=l"(part[k]), "=l"(flag[k])
                   : "l"((const unsigned long long*)from + 2 * k)
                   : "memory");
  }
  __device__ inline bool is_complete() const {
    bool all = true;
#pragma unroll
    for (unsigned k = 0; k < parts; ++k) all = all && flag[k] != 0;
    return all;
  }
  // After read().
  __device__ inline T wait(const packet* from) {
    while (!is_complete()) read(from);
    words<T, unsigned long long> x;
#pragma unroll
    for (unsigned k = 0; k < parts; ++k) x.w[k] = part[k];
    return x.v;
  }
  __device__ static inline void publish(packet* to, T v) {
    words<T, unsigned long long> x;
    x.v = v;
#pragma unroll
    for (unsigned k = 0; k < parts; ++k)
      asm volatile("st.relaxed.gpu.global.v2.u64 [%0], {%1, %2};"
                   :
                   : "l"((unsigned long long*)to + 2 * k), "l"(x.w[k]), "l"(1ull)
                   : "memory");
  }
};
)";

class scan_writer {
 public:
  scan_writer(const reduction_evaluation& r, const scan_plan& p) : r_(r), p_(p), source_(r, p.is_wide) {
    for (std::size_t k = 0; k != r.results.size(); ++k) cells_.emplace_back(r.results[k], carried(k), k);
  }

  std::string write() {
    source_.write_head(cell_functions());
    s_.add(exchange_functions);
    for (const cell_writer& c : cells_) c.write(s_);
    source_.open_kernel(p_.is_run ? 3 : 2);  // blocks, for enough concurrent loads
    write_tile();
    for (std::size_t k = 0; k != results(); ++k) write_sums(k);
    if (p_.tiles > 1) write_sums_before();
    for (std::size_t k = 0; k != results(); ++k) write_result(k);
    s_.close();
    return std::move(s_.text());
  }

 private:
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
    return is_complex(to) ? joined(register_type(to), "(", part, "(real(", v, ")), ", part, "(imag(", v, ")))")
                          : joined("(", register_type(to), ")", v);
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
    s_.line("const index here = tile * ", p_.tile(), "u + group * ", lanes * p_.items, "u + lane;");
    s_.line("const index last = is_live ? (index)g.reduced : 0;");
    source_.write_indices();
    for (std::size_t k = 0; k != results(); ++k) {
      s_.line(register_type(source_.value_type(k)), " all_y", k, "[", p_.items, "];");
      s_.line("#pragma unroll");
      s_.line("for (int u = 0; u < ", p_.items, "; ++u) all_y", k,
              "[u] = ", converted(joined("none_of_", cell(k), "()"), carried(k), source_.value_type(k)), ";");
    }
    s_.open("if (is_live)");
    source_.split(false, "output");
    source_.write_bases();
    source_.write_loads({p_.items, lanes});
    source_.open_values({p_.items, lanes});
    for (std::size_t k = 0; k != results(); ++k) s_.line("all_y", k, "[u] = y", k, ";");
    s_.close();
    s_.close();
    if (is_exchanged()) {
      std::size_t bytes = 1;
      for (std::size_t k = 0; k != results(); ++k) bytes = std::max(bytes, size_of(source_.value_type(k)));
      s_.line("alignas(16) __shared__ char room[", reduction_threads * (p_.items + 1) * bytes, "];");
      s_.line("const unsigned room_begin = threadIdx.x / ", lanes, "u * ", lanes * (p_.items + 1), "u;");
    }
  }
  bool is_exchanged() const { return p_.lanes > 1 && p_.items > 1; }

  // Exchanges values between the lanes, through shared memory: from the order of memory to successive values of each
  // lane, or back. One element of items + 1 is unused, so that lanes use different banks.
  void write_exchange(std::size_t k, bool to_lanes) {
    if (!is_exchanged()) return;
    const std::string strided = joined("(u * ", p_.lanes, "u + lane) + (u * ", p_.lanes, "u + lane) / ", p_.items, "u");
    const std::string successive = joined("lane * ", p_.items + 1, "u + u");
    s_.open("");
    const std::string_view t = register_type(source_.value_type(k));
    s_.line(t, "* const own = (", t, "*)room + room_begin;");
    s_.line("__syncwarp();");
    s_.line("#pragma unroll");
    s_.line("for (unsigned u = 0; u < ", p_.items, "; ++u) own[", to_lanes ? strided : successive, "] = all_y", k,
            "[u];");
    s_.line("__syncwarp();");
    s_.line("#pragma unroll");
    s_.line("for (unsigned u = 0; u < ", p_.items, "; ++u) all_y", k, "[u] = own[", to_lanes ? successive : strided,
            "];");
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
    s_.line("for (unsigned u = 0; u < ", p_.items, "; ++u) join_", c, "(all, ", widened(k, joined("all_y", k, "[u]")),
            ");");
    if (p_.lanes > 1) {
      s_.line("#pragma unroll");
      s_.open(joined("for (unsigned by = 1; by < ", p_.lanes, "; by *= 2)"));
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
    s_.open(joined("for (unsigned q = 0; q < ", p_.groups, "; ++q)"));
    s_.line("if (q == group) groups_before = tile_", c, ";");
    s_.line("join_", c, "(tile_", c, ", of_groups[q * ", p_.kept, "u + kept]);");
    s_.close();
    s_.line("join_", c, "(groups_before, before_", c, ");");
    s_.line("before_", c, " = groups_before;");
    s_.close();
  }

  std::string initial(std::size_t k) const {
    if (!r_.results[k].has_initial) return joined("none_of_", cell(k), "()");
    const std::string value = joined("value_of<", register_type(source_.value_type(k)), ">(g.initial", k, ")");
    return widened(k, value);
  }

  // Computes the sum of the line before this tile, in the first warp. In a run, the warp has one line, and each lane
  // reads the sum of another tile. In columns, each lane has a line.
  void write_sums_before() {
    constexpr std::size_t group = scan_plan::group_tiles;
    for (const cell_writer& c : cells_)
      s_.line("alignas(16) __shared__ char line_of_", c.name(), "[", p_.kept, " * sizeof(", c.name(), ")];");
    s_.open("if (threadIdx.x < 32)");
    s_.line("const bool is_owner = is_live && threadIdx.x < ", p_.kept, "u;");
    s_.line("const unsigned long long tiles = g.parts, groups = (tiles + ", group - 1, ") / ", group, ";");
    s_.line("const unsigned long long sums = tiles + groups + (tiles + ", group * group - 1, ") / ", group * group,
            " + 1;");
    s_.line("const unsigned long long own_group = tile / ", group, ", own_line = tile / ", group * group, ";");
    s_.line("const unsigned of_tiles = tile % ", group, ", of_groups = own_group % ", group, ";");
    std::size_t offset = 0;
    for (std::size_t k = 0; k != results(); ++k) {
      const std::string& c = cell(k);
      s_.line("packet<", c, ">* const sums_", c, " = (packet<", c, ">*)(g.scratch + ", offset,
              " * g.outputs * sums) + output;");
      s_.line("if (is_owner) packet<", c, ">::publish(sums_", c, " + tile * g.outputs, tile_", c, ");");
      offset += scan_plan::packet_bytes(carried(k));
    }
    for (std::size_t k = 0; k != results(); ++k) write_sums_before_in(k);
    s_.close();
    s_.line("__syncthreads();");
  }

  void write_sums_before_in(std::size_t k) {
    constexpr std::size_t group = scan_plan::group_tiles;
    const std::string& c = cell(k);
    s_.open("");
    s_.line("packet<", c, ">* const own = sums_", c, ";");
    s_.line("packet<", c, ">* const in_tiles = own + (tile - of_tiles) * g.outputs;");
    s_.line("packet<", c, ">* const in_groups = own + (tiles + own_group - of_groups) * g.outputs;");
    s_.line("packet<", c, ">* const in_line = own + (tiles + groups + own_line) * g.outputs;");
    s_.line("const ", c, " total = tile_", c, ";");
    s_.line("packet<", c, "> of_line;");
    s_.line("if (own_line > 0 && is_live) of_line.read(in_line);");
    if (p_.is_run) {
      s_.line("const unsigned long long from = threadIdx.x * g.outputs;");
      s_.line("packet<", c, "> of_tile, of_group;");
      s_.line("if (threadIdx.x < of_tiles) of_tile.read(in_tiles + from);");
      s_.line("if (threadIdx.x < of_groups) of_group.read(in_groups + from);");
    }
    write_gathering(c, "tile");
    s_.open(joined("if (of_tiles == ", group - 1, " && is_owner)"));
    s_.line(c, " sum = all_of_tiles;");
    s_.line("join_", c, "(sum, total);");
    s_.line("packet<", c, ">::publish(own + (tiles + own_group) * g.outputs, sum);");
    s_.close();
    write_gathering(c, "group");
    s_.line(c, " line = ", initial(k), ";");
    s_.line("if (own_line > 0 && is_live) line = of_line.wait(in_line);");
    s_.line("join_", c, "(line, all_of_groups);");
    s_.line("join_", c, "(line, all_of_tiles);");
    s_.line("if (threadIdx.x < ", p_.kept, "u) ((", c, "*)line_of_", c, ")[threadIdx.x] = line;");
    s_.line("join_", c, "(line, total);");
    s_.line("if (tile % ", group * group, " == ", group * group - 1, " && is_owner) packet<", c,
            ">::publish(in_line + g.outputs, line);");
    s_.close();
  }

  // Declares all_of_tiles or all_of_groups: the sum of those before this one. Waits until they are published.
  void write_gathering(const std::string& c, const std::string& of) {
    const std::string all = "all_of_" + of + "s", count = "of_" + of + "s", from = "in_" + of + "s";
    s_.line(c, " ", all, " = none_of_", c, "();");
    if (p_.is_run) {
      s_.line("if (threadIdx.x < ", count, ") ", all, " = of_", of, ".wait(", from, " + from);");
      s_.line("#pragma unroll");
      s_.line("for (unsigned mask = 16; mask > 0; mask /= 2) join_", c, "(", all, ", of_lane_across(", all,
              ", mask));");
      return;
    }
    constexpr unsigned at_once = 4;
    s_.open(joined("for (unsigned i = 0; is_owner && i < ", count, "; i += ", at_once, ")"));
    s_.line("packet<", c, "> some[", at_once, "];");
    for (const bool is_wait : {false, true}) {
      s_.line("#pragma unroll");
      s_.line("for (unsigned u = 0; u < ", at_once, "; ++u)");
      const std::string address = joined(from, " + (i + u) * g.outputs");
      s_.line("  if (i + u < ", count, ") ",
              is_wait ? joined("join_", c, "(", all, ", some[u].wait(", address, "));")
                      : joined("some[u].read(", address, ");"));
    }
    s_.close();
  }

  void write_result(std::size_t k) {
    const std::string& c = cell(k);
    const scalar_type type = source_.value_type(k);
    s_.open("");
    s_.line(c, " sum = ", p_.tiles > 1 ? joined("((", c, "*)line_of_", c, ")[kept]") : initial(k), ";");
    s_.line("join_", c, "(sum, before_", c, ");");
    s_.line("#pragma unroll");
    s_.open(joined("for (unsigned u = 0; u < ", p_.items, "; ++u)"));
    s_.line("const ", c, " value = ", widened(k, joined("all_y", k, "[u]")), ";");
    if (!r_.results[k].is_exclusive) s_.line("join_", c, "(sum, value);");
    s_.line("all_y", k, "[u] = ", converted("sum", carried(k), type), ";");
    if (r_.results[k].is_exclusive) s_.line("join_", c, "(sum, value);");
    s_.close();
    write_exchange(k, false);
    s_.line("#pragma unroll");
    s_.open(joined("for (unsigned u = 0; u < ", p_.items, "; ++u)"));
    s_.line("const index i = here + u * ", p_.lanes, "u;");
    s_.line("if (i >= last) continue;");
    s_.line("const ", register_type(type), " r0 = all_y", k, "[u];");
    source_.write_store(k, type, "i");
    s_.close();
    s_.close();
  }

  const reduction_evaluation& r_;
  const scan_plan& p_;
  reduction_source source_;
  source_builder& s_ = source_.text();
  std::vector<cell_writer> cells_;
};

}  // namespace

std::string scan_text(const reduction_evaluation& r, const scan_plan& p) { return scan_writer(r, p).write(); }

}  // namespace ferry::inline FERRY_ABI::detail::generator
