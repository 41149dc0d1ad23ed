#include "ferry/core/detail/reductions/reduction_program.hpp"

#include <cmath>
#include <cstring>
#include <utility>

#include "ferry/core/detail/operations/convert_scalar.hpp"
#include "ferry/core/detail/operations/promotion.hpp"
#include "ferry/core/detail/support/concat.hpp"
#include "ferry/core/error.hpp"

namespace ferry::inline FERRY_ABI::detail {
namespace {

constexpr std::string_view function_names[] = {"sum",  "prod", "min", "max",   "mean",   "var",   "std",
                                               "norm", "any",  "all", "count", "argmin", "argmax"};

// Returns the axes as bits, numbered from the last. Throws invalid_argument.
std::uint8_t bits_of_axes(const expression_program& p, std::string_view name, const axis_list& list) {
  const auto rank = static_cast<int>(p.shape.rank);
  if (list.are_all) return static_cast<std::uint8_t>((1u << rank) - 1);
  std::uint8_t bits = 0;
  for (const int axis : list.axes) {
    const std::string call = concat(name, "('", text_of(p), "' of ", text_of(p.shape), ")");
    if (axis < -rank || axis >= rank)
      throw invalid_argument(concat(call, ": there is no axis ", axis, ": axes are 0 to ", rank - 1, ", or -1 to -",
                                    rank, " from the last dimension"));
    const int from_last = axis < 0 ? -1 - axis : rank - 1 - axis;
    const auto bit = static_cast<std::uint8_t>(1u << from_last);
    if (bits & bit) throw invalid_argument(concat(call, ": axis ", axis, " is named twice: name each axis once"));
    bits = static_cast<std::uint8_t>(bits | bit);
  }
  return bits;
}

// Returns the type in which values of type t are compared.
scalar_type compared_as(scalar_type t) { return computed_as(integer_promoted(t)); }

}  // namespace

program_shape reduction_program::shape() const {
  if (kind == reduction_kind::scan) return program.shape;
  program_shape s;
  if (kind == reduction_kind::count) {
    s.rank = 1, s.extent[0] = bins;
    return s;
  }
  for (std::size_t d = 0; d != program.shape.rank; ++d) {
    const bool is_reduced = (axes >> d & 1) != 0;
    if (is_reduced && !are_kept) continue;
    s.extent[s.rank++] = is_reduced ? 1 : program.shape.extent[d];
  }
  return s;
}

reduction_program reduce_program(reduction_function f, expression_program p, scalar_type element, const axis_list& axes,
                                 double freedom) {
  using enum reduction_function;
  reduction_program r;
  r.name = function_names[static_cast<int>(f)];
  r.axes = bits_of_axes(p, r.name, axes);
  r.are_all = axes.are_all, r.are_kept = axes.are_kept;
  r.result = reduced_as(f, element);
  r.shown = p.root;
  scalar_type type = r.result;
  switch (f) {
    case sum:
    case count: r.how.what = reduction_operation::sum; break;
    case prod: r.how.what = reduction_operation::product; break;
    case min: r.how.what = reduction_operation::minimum, type = compared_as(element); break;
    case max: r.how.what = reduction_operation::maximum, type = compared_as(element); break;
    case mean: r.how.what = reduction_operation::sum, r.how.finish = reduction_finish::mean; break;
    case var: r.how.what = reduction_operation::moments, r.how.finish = reduction_finish::variance; break;
    case reduction_function::std:
      r.how.what = reduction_operation::moments, r.how.finish = reduction_finish::deviation;
      break;
    case norm: r.how.what = reduction_operation::sum, r.how.finish = reduction_finish::root; break;
    case any: r.how.what = reduction_operation::any; break;
    case all: r.how.what = reduction_operation::all; break;
    case argmin: r.how.what = reduction_operation::least, type = compared_as(element); break;
    case argmax: r.how.what = reduction_operation::greatest, type = compared_as(element); break;
  }
  r.how.freedom = freedom;
  if (r.how.what == reduction_operation::moments && is_complex(element)) type = element;
  if (f == norm && is_complex(p.type())) {
    p.root = p.add({operation::norm, real_of(p.type()), p.type(), p.root});
  } else {
    p.root = p.converted(p.root, type);
    if (f == norm) p.root = p.add({operation::multiply, type, type, p.root, p.root});
  }
  r.program = std::move(p);
  return r;
}

reduction_program scan_program(std::string_view name, reduction_operation what, expression_program p,
                               scalar_type result, int axis, const void* initial) {
  reduction_program r;
  r.name = name;
  r.kind = reduction_kind::scan;
  r.axes = bits_of_axes(p, name, {{&axis, 1}});
  r.shown = p.root;
  r.result = result;
  r.how.what = what;
  const scalar_type type = compared_as(result);
  p.root = p.converted(p.root, type);
  if (initial) {
    r.how.is_exclusive = r.how.has_initial = true;
    convert_scalar(r.how.initial.bytes, type, initial, result);
  }
  r.program = std::move(p);
  return r;
}

reduction_program count_program(expression_program p, std::size_t bins, const expression_program* weights) {
  if (bins == 0) throw invalid_argument("bincount('" + text_of(p) + "', 0): there must be at least one bin");
  reduction_program r;
  r.name = "bincount";
  r.kind = reduction_kind::count;
  r.bins = bins;
  r.shown = p.root;
  r.result = weights ? scalar_type::float64 : scalar_type::uint64;
  if (p.type() == scalar_type::uint64) {  // values above all of int64 are in no bin
    const std::int64_t most = INT64_MAX;
    expression_program limit = constant_program(&most, scalar_type::int64);
    p = apply(operation::min, scalar_type::uint64, std::move(p), limit);
  }
  p.root = p.converted(p.root, scalar_type::int64);
  if (weights) {
    if (weights->shape != p.shape)
      throw invalid_argument("bincount: the weights '" + text_of(*weights) + "' of " + text_of(weights->shape) +
                             " have another shape than the values, of " + text_of(p.shape));
    const std::uint8_t root = p.root;
    r.how.weight = p.converted(p.append(*weights), scalar_type::float64);
    p.root = root;
  }
  r.axes = static_cast<std::uint8_t>((1u << p.shape.rank) - 1);
  r.are_all = true;
  r.program = std::move(p);
  return r;
}

reduction_program histogram_program(expression_program p, std::size_t bins, double low, double high,
                                    const expression_program* weights) {
  if (bins == 0 || !(low < high) || !std::isfinite(high - low))
    throw invalid_argument(concat("histogram('", text_of(p), "', ", bins, ", ", std::to_string(low), ", ",
                                  std::to_string(high),
                                  "): there must be at least one bin, and low must be less than high, both finite"));
  constexpr scalar_type real = scalar_type::float64, whole = scalar_type::int64;
  const auto number = [](double x) { return constant_program(&x, scalar_type::float64); };
  const auto integer = [](std::int64_t x) { return constant_program(&x, scalar_type::int64); };
  const std::string text = text_of(p);
  const double width = (high - low) / static_cast<double>(bins);
  const auto last = static_cast<std::int64_t>(bins) - 1;
  const auto edge = [&](const expression_program& i) {
    return apply(operation::add, real, apply(operation::multiply, real, i, number(width)), number(low));
  };
  p.root = p.converted(p.root, real);
  // A division finds the bin, and a comparison with its edges corrects it: rounding must not move a value that is equal
  // to an edge.
  expression_program bin = apply(operation::multiply, real, apply(operation::subtract, real, p, number(low)),
                                 number(static_cast<double>(bins) / (high - low)));
  bin = cast_program(std::move(bin), whole);
  bin = apply(operation::min, whole, std::move(bin), integer(last));
  const auto next = [&](int step) { return apply(operation::add, whole, bin, integer(step)); };
  bin = apply(operation::select, whole, apply(operation::less, real, p, edge(bin)), next(-1), bin);
  bin =
      apply(operation::select, whole,
            apply(operation::logical_and, scalar_type::boolean, apply(operation::greater_equal, real, p, edge(next(1))),
                  apply(operation::not_equal, whole, bin, integer(last))),
            next(1), bin);
  const expression_program is_inside =
      apply(operation::logical_and, scalar_type::boolean, apply(operation::greater_equal, real, p, number(low)),
            apply(operation::less_equal, real, p, number(high)));
  bin = apply(operation::select, whole, is_inside, bin, integer(-1));
  reduction_program r = count_program(std::move(bin), bins, weights);
  r.name = "histogram";
  r.text = text;
  return r;
}

void need_equal_shapes(const expression_program& a, const expression_program& b, std::string_view function) {
  if (a.shape != b.shape)
    throw invalid_argument(concat(function, ": '", text_of(a), "' of ", text_of(a.shape), " and '", text_of(b), "' of ",
                                  text_of(b.shape), " have different shapes"));
}

device common_home(std::initializer_list<const reduction_program*> all) {
  for (const reduction_program* r : all)
    if (r->program.operands.size() != 0) return home_of(r->program);
  return home_of((*all.begin())->program);
}

std::string text_of(const reduction_program& r) {
  expression_program p = r.program;
  p.root = r.shown;
  std::string text = concat(r.name, "(", r.text.empty() ? text_of(p) : r.text);
  if (r.kind == reduction_kind::scan) {
    for (std::size_t d = 0; d != p.shape.rank; ++d)
      if (r.axes >> d & 1) text += concat(", ", p.shape.rank - 1 - d);
  } else if (!r.are_all) {
    std::string list;
    for (std::size_t d = p.shape.rank; d-- > 0;)
      if (r.axes >> d & 1) list += concat(list.empty() ? "" : ", ", p.shape.rank - 1 - d);
    text += ", axes{" + list + "}";
  }
  if (r.kind == reduction_kind::count) text += concat(", ", r.bins);
  return text + (r.are_kept ? ", keep_dims)" : ")");
}

}  // namespace ferry::inline FERRY_ABI::detail
