#include "printing/shown_elements.hpp"

#include "ferry/core/copy.hpp"

namespace ferry::inline FERRY_ABI::detail {

namespace {

// True if the elements follow each other without gaps.
bool is_contiguous_side(const copy_side& side, const strided_shape& shape) {
  auto dense = static_cast<std::ptrdiff_t>(shape.element_bytes);
  for (std::size_t d = shape.rank; d-- > 0;) {
    if (shape.extent[d] == 1) continue;
    if (side.stride_bytes[d] != dense) return false;
    dense *= static_cast<std::ptrdiff_t>(shape.extent[d]);
  }
  return true;
}

}  // namespace

void copy_to_cpu(const program_operand& o, std::byte* data, const printed_source::strides& s) {
  strided_shape shape{size_of(o.type), o.shape.rank, {}};
  copy_side to, from;
  from.owner = &o.owner;
  from.data = const_cast<std::byte*>(o.data);
  from.bytes = o.bytes();
  to.data = data;
  for (std::size_t d = 0; d != shape.rank; ++d) {
    const std::size_t axis = shape.rank - 1 - d;
    shape.extent[d] = o.shape.extent[axis];
    from.stride_bytes[d] = o.stride_bytes[axis];
    to.stride_bytes[d] = s[axis];
  }
  from.contiguous = is_contiguous_side(from, shape);
  to.contiguous = is_contiguous_side(to, shape);
  copy_elements(nullptr, to, from, shape);
}

shown_elements::shown_elements(const printed_source& from, const print_options& how)
    : rank_(from.shape().rank),
      type_(from.type()) {
  std::size_t all = 1;
  for (std::size_t d = 0; d != rank_; ++d) all *= from.shape().extent[d];
  for (std::size_t d = 0; d != rank_; ++d) {
    const std::size_t extent = from.shape().extent[rank_ - 1 - d];
    is_cut_[d] = all > how.threshold && extent / 2 >= how.edge_items && extent > 2 * how.edge_items;
    extent_[d] = is_cut_[d] ? 2 * how.edge_items : extent;
    count_ *= extent_[d];
  }
  is_empty_ = all == 0;
  if (is_empty_) count_ = 0;
  bytes_.resize(count_ * size_of(type_));
  if (count_ == 0) return;
  copy_parts(from, how.edge_items);
  from.complete(bytes_);
}

// The two ends of each dimension that is cut, in all combinations.
void shown_elements::copy_parts(const printed_source& from, std::size_t edge) {
  for (unsigned part = 0; part != 1u << rank_; ++part) {
    program_part box;
    box.whole = from.shape(), box.shape.rank = rank_;
    printed_source::strides strides{};
    std::byte* to = bytes_.data();
    auto dense = static_cast<std::ptrdiff_t>(size_of(type_));
    bool is_part = true;
    for (std::size_t axis = 0; axis != rank_; ++axis) {
      const std::size_t d = rank_ - 1 - axis;
      const bool is_end = (part >> d & 1) != 0;
      if (is_end && !is_cut_[d]) is_part = false;
      box.shape.extent[axis] = is_cut_[d] ? edge : extent_[d];
      strides[axis] = dense;
      if (is_end) {
        box.first[axis] = static_cast<std::ptrdiff_t>(from.shape().extent[axis] - edge);
        to += static_cast<std::ptrdiff_t>(edge) * dense;
      }
      dense *= static_cast<std::ptrdiff_t>(extent_[d]);
    }
    if (is_part && !box.is_empty()) from.copy(box, to, strides);
  }
}

}  // namespace ferry::inline FERRY_ABI::detail
