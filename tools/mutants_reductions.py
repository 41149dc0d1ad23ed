"""Planted bugs in reductions of array expressions, for tools/mutants.py, in the form of mutants_table.py. Tests in
tests/core/reductions_* must catch them. The first field names the broken feature."""

CELLS, LOOPS, SCANS = ("core/src/interpreter/reduction_cells.hpp", "core/src/interpreter/reduction_loops_of.hpp",
                       "core/src/interpreter/scan_loops_of.hpp")
REDUCE, LAYOUT, SCAN, COUNT = ("core/src/interpreter/reduce.cpp", "core/src/interpreter/reduction_layout.cpp",
                               "core/src/interpreter/scan.cpp", "core/src/interpreter/count.cpp")
PROGRAM, BOUND, ASSIGN = ("core/src/reductions/reduction_program.cpp", "core/src/reductions/bound_reduction.cpp",
                          "core/src/reductions/assign_reductions.cpp")
JOINT, EXPLAIN = "core/src/reductions/joint_reduction.cpp", "core/src/reductions/explain_reduction.cpp"
TYPES, HEADER = "core/include/ferry/core/detail/reductions/reduction_program.hpp", "core/include/ferry/core/reduce.hpp"

MUTANTS = [
    ("values", "the least loses NaN", (CELLS, "return a < b ? a : b < a ? b : a == b ? same : a + b;", "return a < b ? a : b;")),
    ("values", "zeros have no order", (CELLS, "std::bit_cast<bits_of<T>>(a) & std::bit_cast<bits_of<T>>(b)", "std::bit_cast<bits_of<T>>(a) | std::bit_cast<bits_of<T>>(b)")),
    ("values", "NaN is no position", (CELLS, "return wins | ((a != a) & (b == b));", "return wins;")),
    ("values", "the last of equal values wins", (CELLS, "(is_tie & (o.at < at))", "(is_tie & (o.at > at))")),
    ("values", "joined variances forget the distance of the means", (CELLS, "squares += o.squares + scalar_product(distance, distance) * weight;", "squares += o.squares;")),
    ("values", "means move by the other's whole distance", (CELLS, "    v = plus_of(v, scaled_by(distance, share));\n    squares += o.squares", "    v = plus_of(v, distance);\n    squares += o.squares")),
    ("values", "variances of complex numbers are those of real parts", (CELLS, "return a.re * b.re + a.im * b.im;", "return a.re * b.re;")),
    ("values", "variances divide by the number of elements", (LOOPS, "static_cast<double>(count) - freedom", "static_cast<double>(count)")),
    ("values", "a mean is a sum", (LOOPS, "what == reduction_finish::mean   ? all.v[i] / static_cast<T>(count)", "what == reduction_finish::mean   ? all.v[i]")),
    ("runs", "the end of a run is left out", (LOOPS, "for (std::size_t j = 0; i + j < n; ++j) sum[j] = Cell::joined(sum[j], value_at(i + j));", "")),
    ("runs", "sums of products are sums of squares", (LOOPS, "times_of(a[i], b[i])", "times_of(a[i], a[i])")),
    ("runs", "pieces replace each other", (LOOPS, "sum[j] = first == 0 ? part[j] : Cell::joined(sum[j], part[j]);", "sum[j] = part[j];")),
    ("runs", "positions begin anew in each block", (LOOPS, "if constexpr (is_position<Cell>) more.at += position;", "")),
    ("runs", "groups of more than a leaf forget the first rows", (LOOPS, "if (done != 0) join_cells(all, leaf, columns, done, n);", "if (done != 0) join_cells(all, leaf, columns, 0, n);")),
    ("parts", "the last part is left out", (REDUCE, "for (std::size_t part = 0; part != all.parts; ++part) {\n        const std::size_t at", "for (std::size_t part = 0; part + 1 < all.parts; ++part) {\n        const std::size_t at")),
    ("parts", "columns of blocks follow each other in memory", (REDUCE, "stride = lines * plan.blocks;", "stride = plan.blocks;")),
    ("parts", "rows of a block are not joined", (REDUCE, "loops_->join(wide_.at(at * width), wide_.at((at + half) * width), half * width, count, count);", ";")),
    ("parts", "blocks cut groups", (REDUCE, "layout.is_short() ? layout.group() : layout.inner < shortest_run ? layout.inner : 1", "1")),
    ("parts", "the tree loses its last nodes", (LAYOUT, "  while (nodes_.size() > 1) join_last(n);\n  total_", "  total_")),
    ("parts", "results with strides are stored one after the other", (LAYOUT, "is_flat_ = is_flat_ && stride_[rank_] == stride;", "")),
    ("scans", "running values go on into the next row", (SCAN, "if (index == 0) o.clear(0, layout.inner);", "if (before + done == 0) o.clear(0, layout.inner);")),
    ("scans", "columns begin with the values of the columns before", (SCAN, "if (step == 0) o.clear(0, n);", "")),
    ("scans", "exclusive scans are inclusive", (SCANS, "return is_exclusive ? before : r.get();", "return r.get();")),
    ("scans", "initial values are ignored", (SCANS, "      r.add(first);\n", "")),
    ("scans", "running sums of double lose their errors", (SCANS, "lost += error == error ? error : 0;", "lost = 0;")),
    ("counts", "values beyond the bins are counted", (COUNT, "if (bin >= bins) continue;", "if (bin >= bins) { ++to.number[bins - 1]; continue; }")),
    ("counts", "parts are not added", (COUNT, "for (std::size_t part = 1; part < parts; ++part)", "for (std::size_t part = parts; part < parts; ++part)")),
    ("counts", "bins have their high edge", (PROGRAM, "apply(operation::greater_equal, real, p, edge(next(1)))", "apply(operation::greater, real, p, edge(next(1)))")),
    ("counts", "the highest value has no bin", (PROGRAM, "apply(operation::less_equal, real, p, number(high))", "apply(operation::less, real, p, number(high))")),
    ("axes", "axes count from the last", (PROGRAM, "const int from_last = axis < 0 ? -1 - axis : rank - 1 - axis;", "const int from_last = axis < 0 ? -1 - axis : axis;")),
    ("axes", "an axis may be named twice", (PROGRAM, "    if (bits & bit) throw", "    if (false) throw")),
    ("axes", "positions follow the memory", (BOUND, "  if (need_positions) std::sort(order.axes.begin() + first, order.axes.begin() + order.count);\n", "")),
    ("axes", "positions count backwards in reversed views", (BOUND, "is_backwards(p, all[k]) && !(need_positions && is_reduced(all[k]));", "is_backwards(p, all[k]);")),
    ("axes", "kept axes go before reduced ones", (BOUND, "while (inner != n && !is_reduced(all[inner])) ++inner;", "for (std::size_t k = 0; k != n; ++k) inner += !is_reduced(all[k]);")),
    ("axes", "kept dimensions shift the strides of results", (BOUND, "if (!is_reduced || results[k].how->are_kept) ++from;", "if (!is_reduced) ++from;")),
    ("types", "half is summed in half", (TYPES, "return !is_whole ? real : is_signed(t) ? int64 : uint64;", "return !is_whole ? t : is_signed(t) ? int64 : uint64;")),
    ("order", "operands are not ordered", (ASSIGN, "for (const std::uint8_t k : bound.operands()) add(p.operands[k], false, false);", "")),
    ("order", "results replace what is still read", (ASSIGN, "    if (!is_hazard) continue;\n", "    if (true) continue;\n")),
    ("errors", "results of another shape are accepted", (ASSIGN, "if (const program_shape shape = r.shape(); shape != a.to.shape)", "if (const program_shape shape = r.shape(); shape.rank != a.to.shape.rank)")),
    ("errors", "different axes are reduced in one pass", (JOINT, "  if (r.axes != f.axes)\n", "  if (false)\n")),
    ("order", "an assigned reduction goes through an array", ("core/include/ferry/core/expression.hpp", "!(More == 0 && is_reduction<std::remove_cvref_t<E>>);", "true;")),
    ("kernels", "one of several reductions is prepared", (EXPLAIN, "  for (const reduction_program* r : all) {\n", "  for (const reduction_program* r : all.first(1)) {\n")),
    ("kernels", "reductions of nothing have kernels", (EXPLAIN, " || is_over_nothing(*all.front())) return;", ") return;")),
    ("errors", "products of nothing are 0", (ASSIGN, "    case reduction_operation::all: value = 1; break;", "    case reduction_operation::all: value = 0; break;")),
]
