// Loops that move elements between blocks and arrays: strided, masked, and at positions given by indices. Included by
// loops_of.hpp only; no include guard.
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "interpreter/loop_table.hpp"

namespace ferry::inline FERRY_ABI::detail::FERRY_LOOPS {

struct sixteen_bytes {
  std::uint64_t part[2];
};
template <class T>
static inline const T& element_at(const std::byte* base, std::ptrdiff_t offset) {
  return *reinterpret_cast<const T*>(base + offset);
}

// Has loops of their own for contiguous columns, and for rows of one value.
template <class T>
static void run_gather(std::byte* to, const std::byte* from, const element_grid& g) {
  auto* r = reinterpret_cast<T*>(to);
  constexpr auto size = static_cast<std::ptrdiff_t>(sizeof(T));
  for (std::size_t i = 0; i < g.rows; ++i, from += g.row_stride, r += g.columns) {
    if (g.column_stride == size) {
      const auto* row = reinterpret_cast<const T*>(from);
      for (std::size_t j = 0; j < g.columns; ++j) r[j] = row[j];
    } else if (g.column_stride == 0) {
      const T one = element_at<T>(from, 0);
      for (std::size_t j = 0; j < g.columns; ++j) r[j] = one;
    } else {
      for (std::size_t j = 0; j < g.columns; ++j)
        r[j] = element_at<T>(from, static_cast<std::ptrdiff_t>(j) * g.column_stride);
    }
  }
}
template <class T>
static void run_scatter(std::byte* to, const std::byte* from, const element_grid& g) {
  const auto* x = reinterpret_cast<const T*>(from);
  for (std::size_t i = 0; i < g.rows; ++i, to += g.row_stride, x += g.columns)
    for (std::size_t j = 0; j < g.columns; ++j)
      *reinterpret_cast<T*>(to + static_cast<std::ptrdiff_t>(j) * g.column_stride) = x[j];
}
template <class T>
static void run_masked_scatter(std::byte* to, const std::byte* from, const bool* mask, const element_grid& g) {
  const auto* x = reinterpret_cast<const T*>(from);
  for (std::size_t i = 0; i < g.rows; ++i, to += g.row_stride, x += g.columns, mask += g.columns)
    for (std::size_t j = 0; j < g.columns; ++j)
      if (mask[j]) *reinterpret_cast<T*>(to + static_cast<std::ptrdiff_t>(j) * g.column_stride) = x[j];
}

template <class T>
static void run_indexed(std::byte* to, const std::byte* from, const std::byte* offset, const element_grid& g) {
  for (std::size_t i = 0; i < g.rows; ++i, from += g.row_stride)
    for (std::size_t j = 0; j < g.columns; ++j, to += sizeof(T), offset += sizeof(std::int64_t)) {
      std::int64_t by = 0;
      std::memcpy(&by, offset, sizeof by);
      std::memcpy(to, from + static_cast<std::ptrdiff_t>(j) * g.column_stride + by, sizeof(T));
    }
}

static bool run_bounded_offset(std::byte* to, const std::byte* a, const std::byte* b, const std::byte* c,
                               std::size_t n) {
  auto* r = reinterpret_cast<std::int64_t*>(to);
  const auto* index = reinterpret_cast<const std::int64_t*>(a);
  const std::int64_t extent = *reinterpret_cast<const std::int64_t*>(b);
  const std::int64_t stride = *reinterpret_cast<const std::int64_t*>(c);
  bool is_outside = false;
  for (std::size_t i = 0; i < n; ++i) is_outside |= (index[i] < -extent) | (index[i] >= extent);
  if (is_outside) return false;
  for (std::size_t i = 0; i < n; ++i) r[i] = (index[i] < 0 ? index[i] + extent : index[i]) * stride;
  return true;
}

}  // namespace ferry::inline FERRY_ABI::detail::FERRY_LOOPS
