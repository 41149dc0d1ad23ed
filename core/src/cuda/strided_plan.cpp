#include "strided_plan.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <string>

#include <ferry/core/detail/support/concat.hpp>
#include <ferry/core/error.hpp>

namespace ferry::inline FERRY_ABI::detail::cuda {

namespace {

struct dimension {
  std::size_t extent;
  std::ptrdiff_t to, from;
};

std::ptrdiff_t length(std::ptrdiff_t stride) { return stride < 0 ? -stride : stride; }
std::ptrdiff_t bytes_of(std::size_t extent, std::ptrdiff_t stride) {
  return static_cast<std::ptrdiff_t>(extent) * stride;
}

void check_shape(const strided_shape& shape, std::size_t most, const char* verb) {
  if (shape.rank > max_rank)
    throw invalid_argument(
        concat(verb, ": rank ", shape.rank, " is above ", max_rank, ". Reshape to fewer dimensions"));
  if (shape.element_bytes == 0 || shape.element_bytes > most)
    throw invalid_argument(concat(verb, ": elements of ", shape.element_bytes, " bytes; 1 to ", most,
                                  " are possible. Use a smaller element type"));
}

// Returns the largest power of two up to 16 that divides `run` and the address of every word.
std::size_t widest_word(const strided_plan& p, std::size_t run) {
  std::size_t all = 16 | run | reinterpret_cast<std::uintptr_t>(p.to) | reinterpret_cast<std::uintptr_t>(p.from);
  for (std::size_t d = 0; d + 1 < p.rank; ++d)
    all |= static_cast<std::size_t>(p.to_stride[d]) | static_cast<std::size_t>(p.from_stride[d]);
  return std::size_t{1} << std::countr_zero(all);
}

// Splits the innermost run of bytes into words of `word` bytes.
void use_words(strided_plan& p, std::size_t word) {
  p.word = word;
  p.words /= word;
  if (p.rank == 0) return;
  const std::size_t last = p.rank - 1;
  p.extent[last] /= word;
  p.to_stride[last] *= static_cast<std::ptrdiff_t>(word);
  p.from_stride[last] *= static_cast<std::ptrdiff_t>(word);
  if (p.extent[last] == 1) --p.rank;
}

// Merges dimensions, still in bytes. A fill passes the same strides on both sides and drops `from` afterwards.
strided_plan collapse(const strided_bytes& to, const strided_bytes& from, const strided_shape& shape) {
  strided_plan p{.to = to.base, .from = from.base, .words = shape.element_bytes};
  std::array<dimension, plan_rank> dims{};
  std::size_t n = 0;
  for (std::size_t d = 0; d < shape.rank; ++d) {
    dimension dim{shape.extent[d], to.stride_bytes[d], from.stride_bytes[d]};
    p.words *= dim.extent;
    if (dim.extent <= 1) continue;
    if (dim.to < 0) {  // iterate over the same elements forwards
      p.to += bytes_of(dim.extent - 1, dim.to);
      p.from += bytes_of(dim.extent - 1, dim.from);
      dim.to = -dim.to;
      dim.from = -dim.from;
    }
    dims[n++] = dim;
  }
  if (p.words == 0) return p;
  // Neighbouring threads should write neighbouring bytes: the target's smallest stride comes last.
  std::stable_sort(dims.begin(), dims.begin() + static_cast<std::ptrdiff_t>(n),
                   [](const dimension& a, const dimension& b) { return length(a.to) > length(b.to); });
  if (shape.element_bytes > 1) dims[n++] = {shape.element_bytes, 1, 1};
  for (std::size_t d = 0; d < n; ++d) {
    if (p.rank > 0) {
      const std::size_t outer = p.rank - 1;
      if (p.to_stride[outer] == bytes_of(dims[d].extent, dims[d].to) &&
          p.from_stride[outer] == bytes_of(dims[d].extent, dims[d].from)) {
        p.extent[outer] *= dims[d].extent;
        p.to_stride[outer] = dims[d].to;
        p.from_stride[outer] = dims[d].from;
        continue;
      }
    }
    p.extent[p.rank] = dims[d].extent;
    p.to_stride[p.rank] = dims[d].to;
    p.from_stride[p.rank++] = dims[d].from;
  }
  return p;
}

bool ends_in_a_run(const strided_plan& p) {
  return p.rank > 0 && p.to_stride[p.rank - 1] == 1 && p.from_stride[p.rank - 1] == 1;
}

}  // namespace

std::size_t strided_plan::run_bytes() const {
  const auto step = static_cast<std::ptrdiff_t>(word);
  const bool run = rank > 0 && to_stride[rank - 1] == step && (from == nullptr || from_stride[rank - 1] == step);
  return run ? extent[rank - 1] * word : word;
}

bool strided_plan::is_pitched(std::size_t max_pitch) const {
  const std::size_t row = run_bytes();
  const std::size_t outer = row == word ? rank : rank - 1;  // dimensions outside the row
  if (rank == 0 || outer != 1) return false;
  const auto fits = [&](std::ptrdiff_t stride) {
    return stride > 0 && static_cast<std::size_t>(stride) >= row && static_cast<std::size_t>(stride) <= max_pitch;
  };
  return fits(to_stride[0]) && (from == nullptr || fits(from_stride[0]));
}

std::size_t strided_plan::source_run() const {
  const auto step = static_cast<std::ptrdiff_t>(word);
  // Short sides would leave most of a tile empty. A gap between the target's words wastes more than tiles gain.
  constexpr std::size_t shortest = 8;
  if (rank < 2 || to_stride[rank - 1] != step || length(from_stride[rank - 1]) <= step || extent[rank - 1] < shortest)
    return plan_rank;
  for (std::size_t d = 0; d + 1 < rank; ++d)
    if (length(from_stride[d]) == step && extent[d] >= shortest) return d;
  return plan_rank;
}

strided_plan plan_copy(const strided_bytes& to, const strided_bytes& from, const strided_shape& shape) {
  check_shape(shape, static_cast<std::size_t>(-1), "copy_strided");
  strided_plan p = collapse(to, from, shape);
  if (p.words != 0 && ends_in_a_run(p)) use_words(p, widest_word(p, p.extent[p.rank - 1]));
  return p;
}

fill_plan plan_fill(const strided_bytes& to, const strided_shape& shape, const void* element) {
  check_shape(shape, 16, "fill_strided");
  fill_plan plan{collapse(to, to, shape), {}};
  strided_plan& p = plan.where;
  p.from = nullptr;
  const std::size_t size = shape.element_bytes;
  std::array<std::byte, 16>& bytes = plan.what.bytes;
  std::memcpy(bytes.data(), element, size);
  plan.what.uniform = std::all_of(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(size),
                                  [&](std::byte b) { return b == bytes[0]; });
  // A pattern of 1, 2, 4, 8 or 16 bytes repeats within 16; other lengths repeat after their own length.
  const bool repeats = plan.what.uniform || std::has_single_bit(size);
  const std::size_t length = repeats ? 16 : size;
  for (std::size_t i = size; i < length; ++i) bytes[i] = bytes[i % size];
  if (p.words == 0 || !ends_in_a_run(p)) return plan;
  std::size_t word = widest_word(p, p.extent[p.rank - 1]);
  if (!repeats) word = std::min(word, std::size_t{1} << std::countr_zero(size));
  use_words(p, word);
  if (p.run_bytes() > word) plan.what.period = static_cast<std::uint32_t>(length / word);
  return plan;
}

}  // namespace ferry::inline FERRY_ABI::detail::cuda
