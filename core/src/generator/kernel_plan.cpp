#include "generator/kernel_plan.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <string>

#include "ferry/core/detail/support/concat.hpp"
#include "ferry/core/error.hpp"

namespace ferry::inline FERRY_ABI::detail::generator {
namespace {

constexpr std::size_t vector_bytes = 16;            // bytes of the widest load of a thread
constexpr std::size_t smallest_tiled_extent = 16;   // below it, most of a tile would be empty
constexpr std::size_t bytes_in_flight = 32;         // bytes that a thread loads before it computes
constexpr std::size_t scalar_bytes_in_flight = 64;  // the same for single elements
constexpr std::size_t most_repeated_code = 64;      // instructions times unroll: bounds the time to compile

constexpr std::size_t narrow_limit = std::size_t{1} << 31;

bool fits_narrow(std::ptrdiff_t stride) {
  return stride >= std::numeric_limits<std::int32_t>::min() && stride <= std::numeric_limits<std::int32_t>::max();
}

std::size_t divide_up(std::size_t a, std::size_t b) { return (a + b - 1) / b; }

}  // namespace

kernel_plan::kernel_plan(const evaluation& e) : operands_(e.operands.size()) {
  if (e.code.size() > most_instructions || e.operands.size() + e.outputs.size() > most_accesses)
    throw invalid_argument(concat("a program of ", e.code.size(), " instructions is larger than kernels"));
  rank = static_cast<std::uint8_t>(std::max<std::size_t>(e.rank, 1));
  extent = e.extent;
  if (e.rank == 0) extent[0] = 1;
  classify(e);
  choose_tiles(e);
  if (!has_tiles()) {
    choose_lanes(e);
    choose_unroll(e);
  }
  choose_width(e);
  write_shape(e);
}

void kernel_plan::classify(const evaluation& e) {
  for_each_access(e, [&](std::size_t i, const evaluation_operand& o) {
    const auto size = static_cast<std::ptrdiff_t>(size_of(o.type));
    const std::ptrdiff_t stride = o.stride_bytes[0];
    const bool is_output = i >= operands_;
    classes_[i] = o.is_gathered                      ? access_class::gathered
                  : stride == size || extent[0] == 1 ? access_class::contiguous
                  : stride == 0 && !is_output        ? access_class::broadcast
                                                     : access_class::strided;
  });
}

// Chooses one axis of tiles for the operands that are contiguous along another axis than 0. Operands that are
// contiguous along further axes stay strided.
void kernel_plan::choose_tiles(const evaluation& e) {
  std::size_t bytes = 0;
  for (std::size_t i = 0; i < e.operands.size(); ++i) {
    const evaluation_operand& o = e.operands[i];
    if (classes_[i] != access_class::strided || extent[0] < smallest_tiled_extent) continue;
    for (std::uint8_t d = 1; d < rank; ++d) {
      if (o.stride_bytes[d] != static_cast<std::ptrdiff_t>(size_of(o.type)) || extent[d] < smallest_tiled_extent)
        continue;
      if (tile_axis != 0 && tile_axis != d) continue;
      tile_axis = d;
      classes_[i] = access_class::transposed;
      bytes += size_of(o.type);
    }
  }
  constexpr std::uint8_t small_tile = 32, large_tile = 64;
  constexpr std::size_t most_bytes = 48 << 10;
  if (bytes == 0) return;
  tile = bytes * large_tile * (large_tile + 1u) <= most_bytes / 2 ? large_tile : small_tile;
  std::size_t left = most_bytes;  // shared memory that is left; operands that need more stay strided
  for (std::size_t i = 0; i < e.operands.size(); ++i) {
    if (classes_[i] != access_class::transposed) continue;
    const std::size_t needed = size_of(e.operands[i].type) * tile * (tile + 1u) + vector_bytes;
    if (needed > left)
      classes_[i] = access_class::strided;
    else
      left -= needed;
  }
}

void kernel_plan::choose_lanes(const evaluation& e) {
  std::size_t largest = 1, most = vector_bytes;
  bool is_regular = true;
  for_each_access(e, [&](std::size_t i, const evaluation_operand& o) {
    largest = std::max(largest, size_of(o.type));
    if (classes_[i] == access_class::strided) is_regular = false;
    if (classes_[i] != access_class::contiguous) return;
    // The greatest power of 2, in elements, to which the address and the strides of the other axes are aligned.
    std::size_t bits = reinterpret_cast<std::uintptr_t>(o.data) | (vector_bytes * size_of(o.type));
    for (std::size_t d = 1; d < rank; ++d) bits |= static_cast<std::size_t>(o.stride_bytes[d]);
    most = std::min(most, (bits & (~bits + 1)) / size_of(o.type));
  });
  if (!is_regular || most == 0) return;
  std::size_t n = std::min(vector_bytes / largest, most);
  if (rank > 1)
    while (extent[0] % n != 0) n /= 2;
  lanes = static_cast<std::uint8_t>(std::max<std::size_t>(n, 1));
}

void kernel_plan::choose_unroll(const evaluation& e) {
  std::size_t bytes = 0, elements = 0;
  for (std::size_t i = 0; i < e.operands.size(); ++i) {
    if (classes_[i] == access_class::broadcast) continue;
    bytes += size_of(e.operands[i].type) * lanes;
    elements += lanes;
  }
  if (bytes == 0) return;
  const std::size_t wanted = lanes > 1 ? bytes_in_flight : scalar_bytes_in_flight;
  while (unroll < 8 && bytes * unroll < wanted && 2u * unroll * e.code.size() <= most_repeated_code &&
         2 * unroll * elements <= 64)
    unroll = static_cast<std::uint8_t>(2 * unroll);
}

void kernel_plan::choose_width(const evaluation& e) {
  std::size_t n = 0;
  digits[n++] = divide_up(extent[0], has_tiles() ? tile : lanes);
  if (has_tiles()) digits[n++] = divide_up(extent[tile_axis], tile);
  for (std::size_t d = 1; d < rank; ++d)
    if (!has_tiles() || d != tile_axis) digits[n++] = extent[d];
  for (std::size_t d = 0; d < n; ++d) positions *= digits[d];
  // A thread's last position may lie behind the end.
  is_wide = positions + std::size_t{threads} * unroll >= narrow_limit;
  for (std::size_t d = 0; d < rank; ++d) is_wide = is_wide || extent[d] + tile >= narrow_limit;
  for_each_access(e, [&](std::size_t, const evaluation_operand& o) {
    for (std::size_t d = 0; d < rank; ++d) is_wide = is_wide || !fits_narrow(o.stride_bytes[d]);
    if (o.is_gathered) is_wide = is_wide || !fits_narrow(o.stride_bytes[0] * lanes);
  });
}

void kernel_plan::write_shape(const evaluation& e) {
  char* to = shape_.data();
  const auto put = [&](auto value) { *to++ = static_cast<char>(value); };
  put(rank), put(lanes), put(unroll), put(tile), put(tile_axis), put(is_wide), put(e.fast_math), put(e.code.size());
  put(e.operands.size()), put(e.outputs.size());
  std::memcpy(to, e.code.data(), e.code.size_bytes());
  to += e.code.size_bytes();
  for (std::size_t i = 0; i < e.operands.size(); ++i) put(classes_[i]), put(e.operands[i].type);
  for (std::size_t i = 0; i < e.outputs.size(); ++i)
    put(of_output(i)), put(e.outputs[i].to.type), put(e.outputs[i].value), put(e.outputs[i].mask);
  for (const function_call& c : e.calls) {
    const std::uint32_t number = number_of(*c.function);
    std::memcpy(to, &number, sizeof number);
    to = std::copy_n(reinterpret_cast<const char*>(c.value.data()), c.function->parameters, to + sizeof number);
  }
  shape_bytes_ = static_cast<std::size_t>(to - shape_.data());
}

}  // namespace ferry::inline FERRY_ABI::detail::generator
