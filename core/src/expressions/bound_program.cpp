#include "expressions/bound_program.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <numeric>
#include <utility>

#include "ferry/core/detail/support/concat.hpp"
#include "ferry/core/error.hpp"

namespace ferry::inline FERRY_ABI::detail {
namespace {

constexpr std::uint8_t none = 255;  // no number yet

// The elements of an operand: the bytes of one, and the distances between neighbours along axes, largest first.
class element_set {
 public:
  explicit element_set(const program_operand& o) : element_bytes_(static_cast<std::ptrdiff_t>(size_of(o.type))) {
    for (std::size_t d = 0; d != o.shape.rank; ++d)
      if (o.stride_bytes[d] != 0)
        axes_[count_++] = {std::abs(o.stride_bytes[d]), static_cast<std::ptrdiff_t>(o.shape.extent[d]) - 1};
    std::sort(axes_.begin(), axes_.begin() + static_cast<std::ptrdiff_t>(count_),
              [](const axis& x, const axis& y) { return x.step > y.step; });
  }
  std::size_t count() const { return count_; }
  std::ptrdiff_t step(std::size_t k) const { return k < count_ ? axes_[k].step : 0; }
  std::ptrdiff_t last(std::size_t k) const { return axes_[k].last; }
  // Bytes from the first element to the end of the last, along the axes from k on.
  std::ptrdiff_t reach(std::size_t k) const {
    std::ptrdiff_t all = element_bytes_;
    for (; k < count_; ++k) all += axes_[k].step * axes_[k].last;
    return all;
  }

 private:
  struct axis {
    std::ptrdiff_t step, last;
  };
  std::array<axis, max_rank> axes_{};
  std::size_t count_ = 0;
  std::ptrdiff_t element_bytes_;
};

std::ptrdiff_t floor_div(std::ptrdiff_t a, std::ptrdiff_t b) { return a / b - (a % b < 0); }

// True if a and b may have bytes in common. b begins `offset` bytes behind a, and the ranges of their bytes overlap.
// Compares the axes of the largest distance first: of two parts of one array these are the same axes, and one pair of
// neighbours along each axis can meet. Conservative where several pairs can.
bool may_meet(const element_set& a, const element_set& b, std::ptrdiff_t offset) {
  std::size_t i = 0, k = 0;
  while (i != a.count() || k != b.count()) {
    const std::ptrdiff_t step = std::max(a.step(i), b.step(k));
    // The distances, in steps, between neighbours whose inner parts meet.
    const bool in_a = a.step(i) == step, in_b = b.step(k) == step;
    const std::ptrdiff_t after = floor_div(-b.reach(k + in_b) - offset, step),
                         last = floor_div(a.reach(i + in_a) - offset - 1, step);
    const std::ptrdiff_t low = std::max(in_a ? -a.last(i) : 0, after + 1), high = std::min(in_b ? b.last(k) : 0, last);
    if (low != high) return low < high;
    offset += low * step;
    i += in_a, k += in_b;
  }
  return true;
}

}  // namespace

bool may_overlap(const program_operand& a, const program_operand& b) { return may_overlap(a, a.bytes(), b, b.bytes()); }

bool may_overlap(const program_operand& a, byte_range in_a, const program_operand& b, byte_range in_b) {
  if (in_a.begin == in_a.end || in_b.begin == in_b.end || !in_a.overlaps(in_b)) return false;
  // All elements are at multiples of the strides' common divisor from the first one. So two interleaved views, such as
  // even and odd elements, are found to be apart.
  std::ptrdiff_t step = 0;
  for (std::size_t d = 0; d != max_rank; ++d) {
    if (d < a.shape.rank) step = std::gcd(step, a.stride_bytes[d]);
    if (d < b.shape.rank) step = std::gcd(step, b.stride_bytes[d]);
  }
  if (step == 0) return true;
  const auto size_a = static_cast<std::ptrdiff_t>(size_of(a.type)),
             size_b = static_cast<std::ptrdiff_t>(size_of(b.type));
  const std::ptrdiff_t apart = ((b.data - a.data) % step + step) % step;
  if (apart >= size_a && step - apart >= size_b) return false;
  return may_meet(element_set(a), element_set(b), in_b.begin - in_a.begin);
}

bool are_same_elements(const program_operand& destination, const program_operand& operand) {
  if (destination.data != operand.data || destination.type != operand.type || operand.is_gathered()) return false;
  for (std::size_t d = 0; d != destination.shape.rank; ++d)
    if (destination.shape.extent[d] != 1 && destination.stride_bytes[d] != operand.stride_bytes[d]) return false;
  return true;
}

bound_program::bound_program(const expression_program& p, std::span<const bound_output> outputs, bool use_masks) {
  keep_needed(p, outputs, use_masks);
  const program_shape& shape = outputs.front().to->shape;
  bind_indices(shape);
  order_axes(shape, outputs);
  join_axes();
}

void bound_program::keep_needed(const expression_program& p, std::span<const bound_output> outputs, bool use_masks) {
  needed_numbers to;
  std::fill_n(to.value.begin(), p.code.size(), none);
  std::fill_n(to.constant.begin(), p.constants.size(), none);
  for (const bound_output& o : outputs) {
    const instruction& i = p.code[o.value];
    evaluation_output& out = outputs_.emplace_back();
    out.to.data = const_cast<std::byte*>(o.to->data), out.to.type = o.to->type;
    // y = where(mask, e, y) writes only the elements whose mask is set.
    if (use_masks && i.what == operation::select && p.code[i.c].what == operation::load &&
        are_same_elements(*o.to, p.operands[p.code[i.c].a])) {
      out.mask = keep(p, i.a, to);
      out.value = keep(p, i.b, to);
    } else {
      out.value = keep(p, o.value, to);
    }
  }
}

// Appends an instruction behind those that it uses, and returns its number. So numbers do not depend on the order in
// which the program built the expression.
std::uint8_t bound_program::keep(const expression_program& p, std::uint8_t value, needed_numbers& to) {
  if (to.value[value] != none) return to.value[value];
  instruction i = p.code[value];
  if (i.what == operation::call) {
    function_call c = p.calls[i.a];
    for (std::size_t x = 0; x != c.function->parameters; ++x) c.value[x] = keep(p, c.value[x], to);
    i.a = static_cast<std::uint8_t>(calls_.size());
    calls_.push_back(c);
  } else {
    const std::size_t values = read_by(i, {}).count;
    if (values > 0) i.a = keep(p, i.a, to);
    if (values > 1) i.b = keep(p, i.b, to);
    if (values > 2) i.c = keep(p, i.c, to);
  }
  if (i.what == operation::load) {
    const std::uint8_t original = i.a;
    i.a = static_cast<std::uint8_t>(used_count_);
    used_[used_count_++] = original;
    const program_operand& o = p.operands[original];
    evaluation_operand& operand = operands_.emplace_back();
    operand.data = const_cast<std::byte*>(o.data), operand.stride_bytes = o.stride_bytes, operand.type = o.type;
  } else if (i.what == operation::gather) {
    i.b = keep_gathered(p, i.b);
  } else if (i.what == operation::constant) {
    std::uint8_t& at = to.constant[i.a];
    if (at == none) {
      at = static_cast<std::uint8_t>(constants_.size());
      constants_.emplace_back(p.constants[i.a]);
    }
    i.a = at;
  }
  code_.emplace_back(i);
  return to.value[value] = static_cast<std::uint8_t>(code_.size() - 1);
}

// Returns the new number of a gathered operand, which several instructions may read.
std::uint8_t bound_program::keep_gathered(const expression_program& p, std::uint8_t original) {
  const auto known = std::find(used_.begin(), used_.begin() + used_count_, original);
  if (known != used_.begin() + used_count_) return static_cast<std::uint8_t>(known - used_.begin());
  used_[used_count_++] = original;
  const program_operand& o = p.operands[original];
  operands_.push_back({const_cast<std::byte*>(o.data), o.mapped_strides(), o.type, true});
  return static_cast<std::uint8_t>(used_count_ - 1);
}

// Sets the axes of index instructions to those of the program's shape.
void bound_program::bind_indices(const program_shape& shape) {
  for (std::size_t k = 0; k != code_.size(); ++k) {
    instruction& i = code_[k];
    if (i.what != operation::index) continue;
    const bool from_last = i.a >= expression_program::last_axes;
    const std::size_t axis = from_last ? std::size_t{i.a} - expression_program::last_axes : i.a;
    if (axis >= shape.rank)
      throw invalid_argument(concat("fr::index(", from_last ? "-" : "", from_last ? axis + 1 : axis,
                                    ") is assigned to an array of ", shape.rank, " dimensions: it has no such axis"));
    i.a = static_cast<std::uint8_t>(from_last ? axis : shape.rank - 1 - axis);
    if (shape.extent[i.a] != 1) {
      is_indexed_[i.a] = true;
    } else {
      i.what = operation::constant;
      i.a = static_cast<std::uint8_t>(constants_.size());
      constants_.push_back({});
    }
  }
}

std::ptrdiff_t& bound_program::stride(std::size_t array, std::size_t axis) {
  if (array < operands_.size()) return operands_[array].stride_bytes[axis];
  return outputs_[array - operands_.size()].to.stride_bytes[axis];
}

void bound_program::order_axes(const program_shape& shape, std::span<const bound_output> outputs) {
  std::array<std::size_t, max_rank> from{};
  for (std::size_t d = 0; d != shape.rank; ++d)
    if (shape.extent[d] != 1) from[rank_++] = d;
  const auto& first = outputs.front().to->stride_bytes;
  for (std::size_t d = 1; d < rank_; ++d)  // stable; std::stable_sort would allocate
    for (std::size_t x = d; x > 0 && std::abs(first[from[x]]) < std::abs(first[from[x - 1]]); --x)
      std::swap(from[x], from[x - 1]);
  const auto indexed = is_indexed_;
  is_indexed_ = {};
  std::array<std::uint8_t, max_rank> to{};
  for (std::size_t d = 0; d != rank_; ++d) {
    extent_[d] = shape.extent[from[d]];
    is_indexed_[d] = indexed[from[d]];
    to[from[d]] = static_cast<std::uint8_t>(d);
  }
  for (std::size_t k = 0; k != code_.size(); ++k)
    if (code_[k].what == operation::index) code_[k].a = to[code_[k].a];
  const auto reorder = [&](evaluation_operand& o, const std::array<std::ptrdiff_t, max_rank>& strides) {
    o.stride_bytes = {};
    for (std::size_t d = 0; d != rank_; ++d) o.stride_bytes[d] = strides[from[d]];
  };
  for (evaluation_operand& o : operands_) reorder(o, std::array(o.stride_bytes));
  for (std::size_t k = 0; k != outputs.size(); ++k) reorder(outputs_[k].to, outputs[k].to->stride_bytes);
  for (std::size_t d = 0; d != rank_; ++d) {
    if (is_indexed_[d] || outputs_[0].to.stride_bytes[d] > 0) continue;
    const auto reverse = [&](evaluation_operand& o) {
      o.data += o.stride_bytes[d] * static_cast<std::ptrdiff_t>(extent_[d] - 1);
      o.stride_bytes[d] = -o.stride_bytes[d];
    };
    for (evaluation_operand& o : operands_) reverse(o);
    for (evaluation_output& o : outputs_) reverse(o.to);
  }
}

void bound_program::join_axes() {
  const std::size_t arrays = operands_.size() + outputs_.size();
  for (std::size_t d = 0; d + 1 < rank_;) {
    bool joins = !is_indexed_[d] && !is_indexed_[d + 1];
    for (std::size_t k = 0; joins && k != arrays; ++k)
      joins = stride(k, d + 1) == stride(k, d) * static_cast<std::ptrdiff_t>(extent_[d]);
    if (!joins) {
      ++d;
      continue;
    }
    extent_[d] *= extent_[d + 1];
    --rank_;
    for (std::size_t x = d + 1; x != rank_; ++x) {
      extent_[x] = extent_[x + 1];
      is_indexed_[x] = is_indexed_[x + 1];
      for (std::size_t k = 0; k != arrays; ++k) stride(k, x) = stride(k, x + 1);
    }
    for (std::size_t k = 0; k != arrays; ++k) stride(k, rank_) = 0;
    for (std::size_t k = 0; k != code_.size(); ++k)
      if (code_[k].what == operation::index && code_[k].a > d) --code_[k].a;
  }
}

evaluation bound_program::view() const {
  evaluation e;
  e.rank = rank_;
  for (std::size_t d = 0; d != rank_; ++d) e.extent[d] = extent_[d];
  e.code = code_.get();
  e.operands = operands_.get();
  e.constants = constants_.get();
  e.calls = calls_.get();
  e.outputs = outputs_.get();
  return e;
}

}  // namespace ferry::inline FERRY_ABI::detail
