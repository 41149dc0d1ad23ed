#include "reductions/bound_reduction.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <limits>

namespace ferry::inline FERRY_ABI::detail {
namespace {

struct axis_order {
  std::array<std::size_t, max_rank> axes{};   // those of more than one element, the best to read first
  std::array<bool, max_rank> is_backwards{};  // by axis
  std::size_t count = 0;
};

// The sum of the operands' strides along an axis. The greatest number if no operand changes along it: such axes are
// read last.
std::size_t distance(const expression_program& p, std::size_t axis) {
  std::size_t all = 0;
  for (const program_operand& o : p.operands) all += static_cast<std::size_t>(std::abs(o.mapped_strides()[axis]));
  return all == 0 ? std::numeric_limits<std::size_t>::max() : all;
}
bool is_backwards(const expression_program& p, std::size_t axis) {
  for (const program_operand& o : p.operands)
    if (const std::ptrdiff_t stride = o.mapped_strides()[axis]; stride != 0) return stride < 0;
  return false;
}

// Returns the order of axes that reduction_evaluation requires.
axis_order order_of(const expression_program& p, std::uint8_t reduced, bool need_positions) {
  axis_order order;
  std::array<std::size_t, max_rank> all{};
  std::size_t n = 0;
  for (std::size_t d = 0; d != p.shape.rank; ++d)
    if (p.shape.extent[d] != 1) all[n++] = d;
  for (std::size_t k = 1; k < n; ++k)  // stable
    for (std::size_t x = k; x > 0 && distance(p, all[x]) < distance(p, all[x - 1]); --x) std::swap(all[x], all[x - 1]);
  const auto is_reduced = [&](std::size_t axis) { return (reduced >> axis & 1) != 0; };
  std::size_t inner = 0;
  while (inner != n && !is_reduced(all[inner])) ++inner;
  for (std::size_t k = 0; k != inner; ++k) order.axes[order.count++] = all[k];
  const std::size_t first = order.count;
  for (std::size_t k = inner; k != n; ++k)
    if (is_reduced(all[k])) order.axes[order.count++] = all[k];
  if (need_positions) std::sort(order.axes.begin() + first, order.axes.begin() + order.count);
  for (std::size_t k = inner; k != n; ++k)
    if (!is_reduced(all[k])) order.axes[order.count++] = all[k];
  for (std::size_t k = 0; k != n; ++k)
    order.is_backwards[all[k]] = is_backwards(p, all[k]) && !(need_positions && is_reduced(all[k]));
  return order;
}

}  // namespace

bound_reduction::bound_reduction(const expression_program& p, std::span<const bound_result> results) {
  const reduction_program& first = *results.front().how;
  shape_.kind = first.kind, shape_.bins = first.bins;
  const bool need_positions =
      first.kind == reduction_kind::scan || std::any_of(results.begin(), results.end(), [](const bound_result& r) {
        return combined_as(r.how->how.what, scalar_type::none) == scalar_type::int64;
      });
  const axis_order order = order_of(p, first.axes, need_positions);
  // bound_program orders and joins axes by the strides of outputs. Two outputs that are never stored have strides for
  // the order, and for which axes are reduced.
  program_operand by_order;
  by_order.data = reinterpret_cast<const std::byte*>(std::uintptr_t{1} << 46);
  by_order.shape = p.shape;
  by_order.type = scalar_type::uint8;
  program_operand by_class = by_order;
  std::ptrdiff_t all = 1, reduced = 1;
  for (std::size_t k = 0; k != order.count; ++k) {
    const std::size_t axis = order.axes[k];
    const auto extent = static_cast<std::ptrdiff_t>(p.shape.extent[axis]);
    const std::ptrdiff_t sign = order.is_backwards[axis] ? -1 : 1;
    by_order.stride_bytes[axis] = sign * all;
    all *= extent;
    if (!(first.axes >> axis & 1)) continue;
    by_class.stride_bytes[axis] = sign * reduced;
    reduced *= extent;
  }
  std::vector<program_operand> full(results.size());  // the results with the axes of the program
  std::vector<bound_output> outputs{{&by_order, results.front().value}, {&by_class, results.front().value}};
  for (std::size_t k = 0; k != results.size(); ++k) {
    full[k] = by_order;
    if (first.kind != reduction_kind::count) {
      const program_operand& to = *results[k].to;
      full[k].data = to.data, full[k].type = to.type, full[k].stride_bytes = {};
      std::size_t from = 0;
      for (std::size_t d = 0; d != p.shape.rank; ++d) {
        const bool is_reduced = first.kind == reduction_kind::reduce && (first.axes >> d & 1);
        if (!is_reduced) full[k].stride_bytes[d] = to.stride_bytes[from];
        if (!is_reduced || results[k].how->are_kept) ++from;
      }
    }
    outputs.push_back({&full[k], results[k].value});
  }
  const bool is_weighted = first.how.weight != evaluation_output::no_mask;
  if (is_weighted) outputs.push_back({&by_order, first.how.weight});
  bound_.emplace(p, outputs, false);

  shape_.input = bound_->view();
  const std::span<const evaluation_output> bound = shape_.input.outputs;
  for (std::size_t d = 0; d != shape_.input.rank; ++d) shape_.is_reduced[d] = bound[1].to.stride_bytes[d] != 0;
  for (std::size_t k = 0; k != results.size(); ++k) {
    reduction_output o = results[k].how->how;
    o.to = bound[k + 2].to, o.value = bound[k + 2].value;
    if (first.kind == reduction_kind::count) {
      const program_operand& to = *results[k].to;
      o.to = {const_cast<std::byte*>(to.data), to.stride_bytes, to.type};
    }
    if (is_weighted) o.weight = bound.back().value;
    results_.push_back(o);
  }
  shape_.input.outputs = {};
}

reduction_evaluation bound_reduction::view() const {
  reduction_evaluation r = shape_;
  r.results = results_;
  return r;
}

}  // namespace ferry::inline FERRY_ABI::detail
