"""Planted bugs in array expressions, for tools/mutants.py, in the form of mutants_table.py. Tests in tests/core/expressions_*
must catch them. The first field names the broken feature."""

ASSIGNMENT, BOUND = "core/src/expressions/assignment.cpp", "core/src/expressions/bound_program.cpp"
PROGRAM, TEXT = "core/src/expressions/expression_program.cpp", "core/src/expressions/program_text.cpp"
PLAN, RUN, LOOPS = "core/src/interpreter/block_plan.cpp", "core/src/interpreter/interpret.cpp", "core/src/interpreter/loops_of.hpp"
PROMOTION, LIST = "core/include/ferry/core/detail/operations/promotion.hpp", "core/include/ferry/core/detail/operations/operation_list.hpp"
CONVERT, SCALARS = "core/src/operations/convert_scalar.cpp", "core/include/ferry/core/detail/operations/convert_scalar.hpp"
OPERAND, EXPRESSION = "core/include/ferry/core/detail/expressions/expression_operand.hpp", "core/include/ferry/core/expression.hpp"
HALF, MATH = "core/include/ferry/core/half.hpp", "core/include/ferry/core/math.hpp"

MUTANTS = [
    ("shapes", "the first operand is not stretched", (PROGRAM, "if (d >= a.shape.rank || s.extent[d] == 1)", "if (d >= a.shape.rank)")),
    ("shapes", "the second operand is stretched to anything", (PROGRAM, "else if (b.shape.extent[d] != 1 && b.shape.extent[d] != s.extent[d])", "else if (false)")),
    ("shapes", "the third operand has no part in the shape", (PROGRAM, "  a.shape = common_shape(a, c);\n", "")),
    ("shapes", "destinations are stretched", (ASSIGNMENT, "if (e.extent[d] != to.extent[d] && e.extent[d] != 1) throw_does_not_fit(a, at);", "")),
    ("shapes", "destinations in which elements repeat are accepted", (ASSIGNMENT, "if (to.extent[d] > 1 && a.to.stride_bytes[d] == 0)", "if (false)")),
    ("shapes", "several destinations differ in shape", (ASSIGNMENT, "  if (to != first)\n", "  if (false)\n")),
    ("strides", "an operand broadcasts with its stride", (ASSIGNMENT, "o.stride_bytes[axis] = extents[d] == 1 ? 0 : strides[d] * size;", "o.stride_bytes[axis] = strides[d] * size;")),
    ("strides", "strides do not follow the order of axes", (BOUND, "o.stride_bytes[d] = strides[from[d]];", "o.stride_bytes[d] = strides[d];")),
    ("strides", "reversed axes begin at their first element", (BOUND, "      o.data += o.stride_bytes[d] * static_cast<std::ptrdiff_t>(extent_[d] - 1);\n", "")),
    ("strides", "axes are joined if one array allows it",
     (BOUND, "for (std::size_t k = 0; joins && k != arrays; ++k)", "for (std::size_t k = 0; joins && k != 1; ++k)")),
    ("strides", "axes of indices are joined", (BOUND, "bool joins = !is_indexed_[d] && !is_indexed_[d + 1];", "bool joins = true;")),
    ("strides", "joined axes keep the strides of the next one", (BOUND, "for (std::size_t k = 0; k != arrays; ++k) stride(k, x) = stride(k, x + 1);", "")),
    ("strides", "indices stay at their axis when others are joined", (BOUND, "if (code_[k].what == operation::index && code_[k].a > d) --code_[k].a;", ";")),
    ("aliases", "no overlap needs a temporary", (ASSIGNMENT, "    if (!is_hazard(p, *o.to)) continue;\n", "    if (true) continue;\n")),
    ("aliases", "arrays overlap only if they begin at one element", (BOUND, "if (in_a.begin == in_a.end || in_b.begin == in_b.end || !in_a.overlaps(in_b)) return false;", "if (a.data != b.data) return false;")),
    ("aliases", "elements between those of a stride never overlap", (BOUND, "  return apart < size_a || step - apart < size_b;", "  return apart == 0;")),
    ("aliases", "views of one address are the same elements", (BOUND, "if (destination.shape.extent[d] != 1 && destination.stride_bytes[d] != operand.stride_bytes[d]) return false;", "")),
    ("aliases", "memory as another type is the same elements", (BOUND, "if (destination.data != operand.data || destination.type != operand.type) return false;", "if (destination.data != operand.data) return false;")),
    ("aliases", "exchanged arrays are stored too early", (PLAN, "!s.loop && !is_stored_late(e, k))", "!s.loop)")),
    ("aliases", "results are computed into memory that is still read", (PLAN, "(is_last || !is_read) && is_flat_on", "is_flat_on")),
    ("aliases", "overlapping destinations are accepted", (ASSIGNMENT, "      if (may_overlap(a.to, b->to))\n", "      if (false)\n")),
    ("masks", "masked assignments write all elements", (BOUND, "      out.mask = i.a, out.value = i.b;\n", "")),
    ("masks", "a mask is taken where another array is left", (BOUND, "are_same_elements(*o.to, p.operands[p.code[i.c].a]))", "true)")),
    ("masks", "masks are read from the first element of a rectangle", (RUN, "reinterpret_cast<const bool*>(at_[o.mask]) + at, g);", "reinterpret_cast<const bool*>(at_[o.mask]), g);")),
    ("blocks", "shared registers are overwritten", (PLAN, "s.slot = is_shared ? slots++ : take_slot();", "s.slot = take_slot();")),
    ("blocks", "registers are free before their last use", (PLAN, "if (from.slot < 0 || last_use[x] != k || repeated ||", "if (from.slot < 0 || repeated ||")),
    ("blocks", "values of outputs are overwritten", (PLAN, "    last_use[o.value] = n;\n", "")),
    ("blocks", "periods longer than a block are loaded once", (PLAN, "else if (block % period == 0 || blocks == 1)", "else")),
    ("blocks", "the period is that of the first axis", (PLAN, "    if (o.stride_bytes[d] != 0) period = all;\n", "    if (d == 0 && o.stride_bytes[d] != 0) period = all;\n")),
    ("blocks", "lines share what differs outside of them", (PLAN, "s.way = is_fixed_outside(e, o, span) ? load_way::once : load_way::each_line;", "s.way = load_way::once;")),
    ("blocks", "indices of outer axes stay those of the first line", (PLAN, "s.way = load_way::each_line;\n    if (s.what.what != operation::load) continue;", "s.way = load_way::once;\n    if (s.what.what != operation::load) continue;")),
    ("blocks", "rows begin at the block's first column", (RUN, "    std::ptrdiff_t offset = at(column, o.stride_bytes[0]);", "    std::ptrdiff_t offset = 0;")),
    ("blocks", "threads skip the last block", (RUN, "runs[k].run(all * k / threads, all * (k + 1) / threads);", "runs[k].run(all * k / threads, all * (k + 1) / threads - 1);")),
    ("blocks", "indices do not wrap at the end of a row", (RUN, "if (++index == e_.extent[axis]) index = 0;", "++index;")),
    ("numbers", "division by zero is not checked", (LOOPS, "static inline T divide(T a, T b) {\n  if (b == 0) return 0;", "static inline T divide(T a, T b) {\n  if (b == 0) return 1;")),
    ("numbers", "min loses NaN", (LOOPS, "return a != a ? a : b < a || b != b ? b : a;", "return b < a ? b : a;")),
    ("numbers", "shifts wrap", (LOOPS, "by < bits ? static_cast<word_of<T>>(a) << (by & (bits - 1)) : 0", "static_cast<word_of<T>>(a) << (by & (bits - 1))")),
    ("numbers", "halves are rounded down", (HALF, "(x - 0x38000000u + 0xfffu + (x >> 13 & 1u)) >> 13", "(x - 0x38000000u) >> 13")),
    ("numbers", "halves are rounded twice", (HALF, "explicit half(double value) : half(detail::rounded_to_odd(value))", "explicit half(double value) : half(static_cast<float>(value))")),
    ("numbers", "bfloat16 rounds halves up", (HALF, "(x + 0x7fffu + (x >> 16 & 1u)) >> 16", "(x + 0x8000u) >> 16")),
    ("types", "numbers widen floats", (PROMOTION, "if (is_floating(array)) return is_complex(number) ? complex_of(array) : array;", "")),
    ("types", "unsigned integers lose to signed ones", (PROMOTION, "return size_of(with_sign) > size_of(without) ? with_sign : without;", "return with_sign;")),
    ("types", "half and bfloat16 give half", (PROMOTION, "return a == float64 || b == float64 ? float64 : float32;", "return a == float64 || b == float64 ? float64 : a;")),
    ("types", "casts to half do not round", (PROGRAM, "  return p.add({round, scalar_type::float32, p.code[value].type, value});\n", "  return value;\n")),
    ("operators", "a - b is a + b", (EXPRESSION, "FERRY_BINARY_OPERATOR(-, subtract)", "FERRY_BINARY_OPERATOR(-, add)")),
    ("operators", "lerp begins at b", (LIST, "a + c * (b - a)", "b + c * (b - a)")),
    ("operators", "equal operands of another program are not found", (PROGRAM, "while (at != operands.size() && !operands[at].is_same(o)) ++at;", "while (at != operands.size()) ++at;")),
    ("operators", "appended instructions keep their second operand", (PROGRAM, "if (operands_of_it > 1) i.b = here[i.b];", "")),
    ("order", "operands are not ordered", (ASSIGNMENT, "    if (!is_output) add(p.operands[k], false, false);\n", "")),
    ("order", "a destination that is read counts as overwritten",
     (ASSIGNMENT, "add(to, true, !bound.is_masked(k) && !is_read && is_dense(to));", "add(to, true, true);")),
    ("order", "freed operands are evaluated", ("core/src/expressions/operand_memory.cpp", "return o.owner.get(at, &look);", "return *o.owner.unchecked();")),
    ("texts", "parentheses are left out", (TEXT, "      write(i.b, s.precedence + 1);\n", "      write(i.b, 0);\n")),
]
