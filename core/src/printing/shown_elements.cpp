#include "printing/shown_elements.hpp"

namespace ferry::inline FERRY_ABI::detail {

shown_elements::shown_elements(const program_operand& o, const print_options& how)
    : rank_(o.shape.rank),
      type_(o.type) {
  std::size_t all = 1;
  for (std::size_t d = 0; d != rank_; ++d) all *= o.shape.extent[d];
  for (std::size_t d = 0; d != rank_; ++d) {
    const std::size_t extent = o.shape.extent[rank_ - 1 - d];
    is_cut_[d] = all > how.threshold && extent / 2 >= how.edge_items && extent > 2 * how.edge_items;
    extent_[d] = is_cut_[d] ? 2 * how.edge_items : extent;
    count_ *= extent_[d];
  }
  is_empty_ = all == 0;
  if (is_empty_) count_ = 0;
  bytes_.resize(count_ * size_of(type_));
  if (count_ != 0) copy_parts(o, how.edge_items);
}

// Copies each combination of the two ends of all dimensions that are cut.
void shown_elements::copy_parts(const program_operand& o, std::size_t edge) {
  const auto size = static_cast<std::ptrdiff_t>(size_of(type_));
  for (unsigned part = 0; part != 1u << rank_; ++part) {
    strided_shape shape{size_of(type_), rank_, {}};
    copy_side to, from;
    from.owner = &o.owner;
    from.data = const_cast<std::byte*>(o.data);
    to.data = bytes_.data();
    std::ptrdiff_t dense = size;
    bool is_part = true;
    for (std::size_t d = rank_; d-- > 0;) {
      const std::size_t axis = rank_ - 1 - d;
      const bool is_end = (part >> d & 1) != 0;
      if (is_end && !is_cut_[d]) is_part = false;
      shape.extent[d] = is_cut_[d] ? edge : extent_[d];
      from.stride_bytes[d] = o.stride_bytes[axis];
      to.stride_bytes[d] = dense;
      if (is_end) {
        from.data += static_cast<std::ptrdiff_t>(o.shape.extent[axis] - edge) * o.stride_bytes[axis];
        to.data += static_cast<std::ptrdiff_t>(edge) * dense;
      }
      dense *= static_cast<std::ptrdiff_t>(extent_[d]);
    }
    if (!is_part) continue;
    program_operand range = o;
    range.data = from.data;
    for (std::size_t d = 0; d != rank_; ++d) range.shape.extent[rank_ - 1 - d] = shape.extent[d];
    from.bytes = range.bytes();
    if (from.bytes.size() == 0) continue;  // no ends are shown
    std::ptrdiff_t from_dense = size, to_dense = size;
    for (std::size_t d = rank_; d-- > 0;) {
      if (shape.extent[d] == 1) continue;
      from.contiguous = from.contiguous && from.stride_bytes[d] == from_dense;
      to.contiguous = to.contiguous && to.stride_bytes[d] == to_dense;
      from_dense *= static_cast<std::ptrdiff_t>(shape.extent[d]);
      to_dense *= static_cast<std::ptrdiff_t>(shape.extent[d]);
    }
    copy_elements(nullptr, to, from, shape);
  }
}

}  // namespace ferry::inline FERRY_ABI::detail
