"""Planted bugs in sorting, selection, comparison and texts of arrays, for tools/mutants.py, in the form of
mutants_table.py. The tests sorting_*, compare and print of tests/core must catch them. The first field names the broken
feature."""

KEY, ROWS, ORDER = ("core/include/ferry/core/detail/operations/sort_key.hpp", "core/src/cpu_sorting/sort_rows.cpp",
                    "core/src/cpu_sorting/order_rows.cpp")
PLACES, UNIQUE = "core/src/cpu_sorting/keys_with_places.hpp", "core/src/cpu_sorting/find_unique.cpp"
SEARCH, SELECT = "core/src/cpu_sorting/search.cpp", "core/src/cpu_sorting/select.cpp"
DENSE, BOUND, SUBMIT = ("core/src/sorting/dense_elements.cpp", "core/src/sorting/bound_sorting.cpp",
                        "core/src/sorting/submit_sorting.cpp")
SHOWN, LAYOUT, FORMAT, NUMBER = ("core/src/printing/shown_elements.cpp", "core/src/printing/array_layout.cpp",
                                 "core/src/printing/element_format.cpp", "core/src/printing/number_text.cpp")
COMPARE = "core/include/ferry/core/compare.hpp"

MUTANTS = [
    ("keys", "negative numbers are in reverse order", (KEY, "(bits & top) != 0 ? ~bits : bits | top", "(bits & top) != 0 ? bits ^ top : bits | top")),
    ("keys", "NaN with a sign comes first", (KEY, "return static_cast<U>((ordered ^ flip_) - nans_);", "return static_cast<U>(ordered ^ flip_);")),
    ("keys", "descending orders begin with NaN", (KEY, "return static_cast<U>((ordered ^ flip_) - nans_);", "return static_cast<U>((ordered - nans_) ^ flip_);")),
    ("keys", "the order of signed integers is that of their bits", (KEY, "sign_(is_signed(t) || fraction_bits(t) != 0 ? top : U(0))", "sign_(U(0))")),
    ("keys", "zeros are different", (KEY, "if (magnitude == 0) bits = 0;", "")),
    ("keys", "NaN are different", (KEY, "if (magnitude > infinity) bits = ", "if (false) bits = ")),
    ("keys", "infinity is NaN", (KEY, "if (magnitude > infinity)", "if (magnitude >= infinity)")),
    ("rows", "all rows are the first one", (ROWS, "row[i] = key(load_at<U>(t.from, first + i))", "row[i] = key(load_at<U>(t.from, i))")),
    ("rows", "partitions are around the first element", (ROWS, "static_cast<std::ptrdiff_t>(t.kept), row.end()", "0, row.end()")),
    ("order", "equal elements change places", (PLACES, "place < o.place", "place > o.place")),
    ("order", "the first k are not the greatest", (ORDER, "if (end != row.end()) std::nth_element(row.begin(), end, row.end());", "")),
    ("order", "values are those of the first row", (ORDER, "load_at<U>(t.from, r * t.length + row[i].place)", "load_at<U>(t.from, row[i].place)")),
    ("unique", "numbers of values stop at the destination's size", (UNIQUE, "    ++found;\n", "    found += found < t.kept;\n")),
    ("unique", "counts are positions", (UNIQUE, "static_cast<std::int64_t>(end - i)", "static_cast<std::int64_t>(end)")),
    ("search", "both sides are before equal elements", (SEARCH, "(t.is_after_equal && middle == wanted)", "false")),
    ("select", "positions beyond the destination are written", (SELECT, "if (found < t.kept) {", "if (found <= t.kept) {")),
    ("dense", "axes of temporaries are in the array's order", (DENSE, "return k == 0 ? fastest : k <= fastest ? k - 1 : k;", "return static_cast<void>(fastest), k;")),
    ("dense", "arrays of other types are taken as they are", (DENSE, "array->type != type || ", "")),
    ("results", "results replace what is still read", (BOUND, "if (is_dense_along(*to, axis) && !is_hazard(*to)) {", "if (is_dense_along(*to, axis)) {")),
    ("results", "results with strides are not copied back", (BOUND, "for (const copy_back& c : copies_) copy_operand(s, c.to, c.temporary, at);", "")),
    ("results", "elements behind the results are lost", (BOUND, "if (!is_filled) copy_operand(s, t, *to, {});", "")),
    ("ordering", "sources are not ordered", (BOUND, "  uses_.push_back({o, false, false});\n", "")),
    ("errors", "masks of other shapes are accepted", (SUBMIT, 'if (r.other) need_equal(r, from, r.other->shape, "the mask");', "")),
    ("errors", "axes beyond the last are accepted", (SUBMIT, "if (number < 0 || number >= static_cast<int>(rank))", "if (number < 0)")),
    ("text", "ends are the beginnings", (SHOWN, "box.first[axis] = static_cast<std::ptrdiff_t>(from.shape().extent[axis] - edge);", "")),
    ("text", "lines are one longer", (LAYOUT, "extend(text, line, format_(first + i), width - 1, indent);", "extend(text, line, format_(first + i), width, indent);")),
    ("text", "exponents begin above 1e8", (FORMAT, "most >= 1e8", "most > 1e9")),
    ("text", "digits are not limited", (NUMBER, "needed < most ? needed : most", "needed")),
    ("comparison", "everything is close to infinity", (COMPARE, "<= absolute + relative * abs(y) && detail::is_finite(y));", "<= absolute + relative * abs(y));")),
    ("comparison", "different shapes broadcast", (COMPARE, "if (x.extents() == y.extents())", "if (true)")),
]
