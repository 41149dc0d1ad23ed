"""Planted bugs in expressions that move elements, in scatters, and in assignments of joined arrays, for
tools/mutants.py, in the form of mutants_table.py. Tests in tests/core/moving_* must catch them. The first field names
the broken feature."""

PROGRAM, ELEMENTS = "core/src/moving/moving_program.cpp", "core/src/moving/moved_elements.cpp"
SUBMIT, SCATTER = "core/src/moving/submit_scatter.cpp", "core/src/backend/cpu_scatter.cpp"
JOINED, JOINED_HEADER = "core/src/expressions/joined_arrays.cpp", "core/src/expressions/joined_arrays.hpp"
MOVES, OUTSIDE = "core/src/interpreter/loop_moves.hpp", "core/src/interpreter/index_outside.cpp"

MUTANTS = [
    ("moves", "roll moves the other way", (PROGRAM, "const std::int64_t by = positive_modulo(m.before, n);", "const std::int64_t by = positive_modulo(-m.before, n);")),
    ("moves", "roll begins one element late", (PROGRAM, "apply(less, scalar_type::int64, i, int64_program(by));", "apply(less_equal, scalar_type::int64, i, int64_program(by));")),
    ("moves", "a roll by the whole extent is refused as no move", (PROGRAM, "return extent < 2 || m.before == 0;", "return m.before == 0 || m.before == static_cast<std::int64_t>(extent) - 1;")),
    ("moves", "repeat tiles", (PROGRAM, "case moving_rule::repeat: return divided(divide, std::move(i), all, static_cast<std::int64_t>(m.times));", "case moving_rule::repeat: return divided(modulo, std::move(i), all, n);")),
    ("moves", "reflection repeats the edge", (PROGRAM, "mirrored(2 * n - 2, 2 * n - 2);", "mirrored(2 * n, 2 * n - 1);")),
    ("moves", "symmetric padding leaves out the edge", (PROGRAM, "case moving_rule::symmetric: return mirrored(2 * n, 2 * n - 1);", "case moving_rule::symmetric: return n == 1 ? int64_program(0) : mirrored(2 * n - 2, 2 * n - 2);")),
    ("moves", "wrapped padding forgets what is before", (PROGRAM, "const std::int64_t first = positive_modulo(-m.before, period);", "const std::int64_t first = 0;")),
    ("moves", "padding by the edge reads behind the array", (PROGRAM, "int64_program(0), int64_program(n - 1));", "int64_program(0), int64_program(n));")),
    ("moves", "constants pad one element less", (PROGRAM, "apply(less, scalar_type::int64, i, int64_program(end)), all);", "apply(less_equal, scalar_type::int64, i, int64_program(end)), all);")),
    ("indices", "axes count from the last", (PROGRAM, "const int number = axis < 0 ? axis + static_cast<int>(rank) : axis;", "const int number = axis < 0 ? -1 - axis : static_cast<int>(rank) - 1 - axis;")),
    ("indices", "taken axes lie behind the others", (PROGRAM, "    const std::size_t to = d < axis ? d : d - 1 + more;\n    shape", "    const std::size_t to = d < axis ? d : d;\n    shape")),
    ("indices", "gather takes indices in the order of memory", (PROGRAM, "m.place_checked(indices.size() - 1 - d, std::move(indices[d]));", "m.place_checked(d, std::move(indices[d]));")),
    ("indices", "offsets count elements", (ELEMENTS, "static_cast<std::int64_t>(from_.shape.extent[axis]));\n  const std::uint8_t stride = constant(from_.stride_bytes[axis]);", "static_cast<std::int64_t>(from_.shape.extent[axis]));\n  const std::uint8_t stride = constant(1);")),
    ("indices", "one axis is placed", (ELEMENTS, "offsets_ ? apply(operation::add, scalar_type::int64, std::move(*offsets_), offset) : std::move(offset);", "std::move(offset);")),
    ("indices", "negative indices are not moved", (MOVES, "(index[i] < 0 ? index[i] + extent : index[i]) * stride;", "index[i] * stride;")),
    ("indices", "an index of the extent is accepted", (MOVES, "(index[i] < -extent) | (index[i] >= extent);", "(index[i] < -extent) | (index[i] > extent);")),
    ("indices", "the first element that is not there is accepted", (MOVES, "(index[i] < -extent) | (index[i] >= extent);", "(index[i] < -extent - 1) | (index[i] >= extent);")),
    ("indices", "take_along_axis accepts other extents", (PROGRAM, "if (shape.extent[d] != 1 && shape.extent[d] != n)", "if (false)")),
    ("scatter", "the last value of an index is lost", (SCATTER, "for (std::size_t k = 0; k != t.count; ++k)", "for (std::size_t k = 0; k + 1 != t.count + (t.count < 2); ++k)")),
    ("scatter", "sums replace", (SCATTER, "    a = sum_of(a, b);\n", "    a = b;\n")),
    ("scatter", "indices below are accepted", (SCATTER, "if (i >= -t.indexed && i < t.indexed) continue;", "if (i < t.indexed) continue;")),
    ("scatter", "indices that occur twice are accepted", (SCATTER, "  if (t.is_checked) need_different_indices(t);\n", "")),
    ("scatter", "negative indices are no duplicates", (SCATTER, "all[k] = t.index(k) < 0 ? t.index(k) + t.indexed : t.index(k);", "all[k] = t.index(k);")),
    ("scatter", "values that are the destination change while they are read", (SUBMIT, "  if (!may_overlap(o, *r.to)) return o;\n", "  if (true) return o;\n")),
    ("scatter", "the destination is not ordered", (SUBMIT, "add(indices, false), add(values, false), add(*r.to, true);", "add(indices, false), add(values, false);")),
    ("scatter", "values are not broadcast", (SUBMIT, "  r.values.shape = wanted;\n", "")),
    ("scatter", "other shapes of values are accepted", (SUBMIT, "fits = v.extent[d] == 1 || v.extent[d] == wanted.extent[d];", "fits = true;")),
    ("joined", "arrays lie upon each other", (JOINED, "    first += extent;\n", "")),
    ("joined", "an array that is the destination is overwritten", (JOINED, "if (overlaps || !is_long(to, parts.axis, extent)) return {};", "if (!is_long(to, parts.axis, extent)) return {};")),
    ("joined", "a larger expression is taken for its arrays", (JOINED_HEADER, "return p.root == root && p.code.size() == length && p.shape == shape;", "return p.shape == shape;")),
    ("joined", "short pieces are copied one by one", (JOINED, "* extent >= least_piece_bytes;", "* extent >= 0;")),
]
