#include "moving/moved_elements.hpp"

#include <algorithm>
#include <utility>

#include "ferry/core/detail/moving/moving_program.hpp"

namespace ferry::inline FERRY_ABI::detail {

expression_program int64_program(std::int64_t value) { return constant_program(&value, scalar_type::int64); }

expression_program axis_index(std::size_t axis, std::size_t extent) {
  // An axis of one element may be stretched: then its index is 0, not that of the destination.
  expression_program p = extent == 1 ? int64_program(0) : index_program(-1 - static_cast<int>(axis));
  p.shape.rank = axis + 1;
  std::fill_n(p.shape.extent.begin(), axis, std::size_t{1});
  p.shape.extent[axis] = extent;
  return p;
}

expression_program plus(expression_program p, std::int64_t value) {
  if (value == 0) return p;
  return apply(operation::add, scalar_type::int64, std::move(p), int64_program(value));
}

void moved_elements::place(std::size_t axis, const expression_program& index) {
  add(apply(operation::multiply, scalar_type::int64, index, int64_program(from_.stride_bytes[axis])));
}

void moved_elements::place_checked(std::size_t axis, expression_program index) {
  const auto constant = [&](std::int64_t value) {
    program_constant c{};
    std::copy_n(reinterpret_cast<const std::byte*>(&value), sizeof value, c.bytes);
    return index.add(c, scalar_type::int64);
  };
  const std::uint8_t place = index.converted(index.root, scalar_type::int64);
  const std::uint8_t extent = constant(static_cast<std::int64_t>(from_.shape.extent[axis]));
  const std::uint8_t stride = constant(from_.stride_bytes[axis]);
  index.root = index.add({operation::bounded_offset, scalar_type::int64, scalar_type::int64, place, extent, stride});
  add(std::move(index));
}

void moved_elements::add(expression_program offset) {
  offsets_ = offsets_ ? apply(operation::add, scalar_type::int64, std::move(*offsets_), offset) : std::move(offset);
}

expression_program moved_elements::finish(const program_shape& result) && {
  expression_program p = std::move(*offsets_);
  from_.axis_map |= program_operand::gathered_bit;
  p.root = p.add_gather(std::move(from_), p.root);
  p.shape = result;
  return p;
}

void insert_axes(expression_program& p, std::size_t axis, std::size_t count) {
  if (count == 0) return;
  const auto make_room = [&](auto& all, std::size_t rank, auto value) {
    if (axis > rank) return;
    std::copy_backward(all.begin() + axis, all.begin() + rank, all.begin() + rank + count);
    std::fill_n(all.begin() + axis, count, value);
  };
  const auto insert = [&](program_shape& s) {
    if (axis > s.rank) return;
    make_room(s.extent, s.rank, std::size_t{1});
    s.rank += count;
  };
  for (program_operand& o : p.operands) {
    if (o.is_gathered()) {
      std::uint32_t map = o.axis_map & program_operand::gathered_bit;
      for (std::size_t d = 0; d != max_rank; ++d)
        if (const std::uint32_t to = o.axis_map >> (4 * d) & 15; to != 0)
          map |= (to > axis ? to + static_cast<std::uint32_t>(count) : to) << (4 * d);
      o.axis_map = map;
    } else {
      make_room(o.stride_bytes, o.shape.rank, std::ptrdiff_t{0});
      insert(o.shape);
    }
  }
  for (instruction& i : p.code)
    if (i.what == operation::index && i.a >= expression_program::last_axes + axis)
      i.a = static_cast<std::uint8_t>(i.a + count);
  insert(p.shape);
}

}  // namespace ferry::inline FERRY_ABI::detail
