#include "backend/cpu_strided.hpp"

#include <algorithm>
#include <cstring>

#include "ferry/core/detail/support/cpu_workers.hpp"
#include "ferry/core/error.hpp"

namespace ferry::inline FERRY_ABI::detail {
namespace {

// Calls row(offset in to, offset in from) for the start of each row of the fastest dimension.
template <class Row>
void each_row(const strided_bytes& to, const strided_bytes& from, const strided_shape& shape, Row row) {
  std::array<std::size_t, max_rank> index{};
  std::ptrdiff_t t = 0, f = 0;
  for (;;) {
    row(t, f);
    std::size_t d = shape.rank > 0 ? shape.rank - 1 : 0;
    for (; d > 0; --d) {
      const std::size_t k = d - 1;
      t += to.stride_bytes[k], f += from.stride_bytes[k];
      if (++index[k] < shape.extent[k]) break;
      const auto n = static_cast<std::ptrdiff_t>(shape.extent[k]);
      t -= n * to.stride_bytes[k], f -= n * from.stride_bytes[k], index[k] = 0;
    }
    if (d == 0) return;
  }
}

// With a size known at compile time, memcpy becomes a load and a store.
template <std::size_t Bytes>
void copy_row(std::byte* to, std::ptrdiff_t ts, const std::byte* from, std::ptrdiff_t fs, std::size_t n,
              std::size_t bytes) {
  for (std::size_t i = 0; i < n; ++i, to += ts, from += fs) std::memcpy(to, from, Bytes != 0 ? Bytes : bytes);
}

auto row_copier(std::size_t bytes) {
  switch (bytes) {
    case 1: return copy_row<1>;
    case 2: return copy_row<2>;
    case 4: return copy_row<4>;
    case 8: return copy_row<8>;
    case 16: return copy_row<16>;
    default: return copy_row<0>;
  }
}

// For fewer bytes, a thread costs more than it saves.
constexpr std::size_t least_bytes_of_a_part = 256 << 10;

// Calls rows(to, from, shape) for the whole shape, or on several threads for parts of its slowest dimension.
template <class Rows>
void divided(const strided_bytes& to, const strided_bytes& from, const strided_shape& shape, Rows rows) {
  if (shape.rank == 0) return rows(to, from, shape);
  std::size_t bytes = shape.element_bytes;
  for (std::size_t d = 1; d < shape.rank; ++d) bytes *= shape.extent[d];
  const std::size_t least = bytes < least_bytes_of_a_part ? least_bytes_of_a_part / std::max<std::size_t>(bytes, 1) : 1;
  over_parts(shape.extent[0], least, [&](std::size_t begin, std::size_t end) {
    const auto moved = [begin](strided_bytes s) {
      s.base += static_cast<std::ptrdiff_t>(begin) * s.stride_bytes[0];
      return s;
    };
    strided_shape part = shape;
    part.extent[0] = end - begin;
    rows(moved(to), moved(from), part);
  });
}

void run_rows(const strided_bytes& to, const strided_bytes& from, const strided_shape& shape) {
  const std::size_t last = shape.rank > 0 ? shape.rank - 1 : 0, n = shape.rank > 0 ? shape.extent[last] : 1;
  const auto copy = row_copier(shape.element_bytes);
  each_row(to, from, shape, [&](std::ptrdiff_t t, std::ptrdiff_t f) {
    copy(to.base + t, to.stride_bytes[last], from.base + f, from.stride_bytes[last], n, shape.element_bytes);
  });
}

}  // namespace

void move_on_cpu(void* to, const void* from, std::size_t bytes) {
  auto* const t = static_cast<std::byte*>(to);
  const auto* const f = static_cast<const std::byte*>(from);
  if (t < f + bytes && f < t + bytes) {
    std::memmove(to, from, bytes);
    return;
  }
  over_parts(bytes, least_bytes_of_a_part,
             [&](std::size_t begin, std::size_t end) { std::memcpy(t + begin, f + begin, end - begin); });
}

bool is_empty(const strided_shape& shape) {
  for (std::size_t d = 0; d < shape.rank; ++d)
    if (shape.extent[d] == 0) return true;
  return shape.element_bytes == 0;
}

kernel_use bounding_range(const strided_bytes& s, const strided_shape& shape, bool writes) {
  std::ptrdiff_t low = 0, high = static_cast<std::ptrdiff_t>(shape.element_bytes);
  for (std::size_t d = 0; d < shape.rank; ++d) {
    const std::ptrdiff_t reaches = s.stride_bytes[d] * (static_cast<std::ptrdiff_t>(shape.extent[d]) - 1);
    (reaches < 0 ? low : high) += reaches;
  }
  return {s.base + low, static_cast<std::size_t>(high - low), !writes, writes};
}

void copy_on_cpu(const strided_bytes& to, const strided_bytes& from, const strided_shape& shape) {
  strided_shape rows = shape;  // contiguous fast dimensions become one larger element
  while (rows.rank > 0) {
    const std::size_t k = rows.rank - 1;
    const auto step = static_cast<std::ptrdiff_t>(rows.element_bytes);
    if (to.stride_bytes[k] != step || from.stride_bytes[k] != step) break;
    rows.element_bytes *= rows.extent[k], --rows.rank;
  }
  if (rows.rank == 0) return move_on_cpu(to.base, from.base, rows.element_bytes);
  divided(to, from, rows, run_rows);
}

number_converter converter(number_type to, number_type from) {
  number_converter found = nullptr;
  with_number(to, [&]<class To>(To) {
    with_number(from, [&]<class From>(From) {
      found = [](std::byte* t, const std::byte* f) {
        From value;
        std::memcpy(&value, f, sizeof value);
        const To converted = static_cast<To>(value);
        std::memcpy(t, &converted, sizeof converted);
      };
    });
  });
  if (!found) throw invalid_argument("converting copy of elements that are no numbers");
  return found;
}

void convert_on_cpu(const strided_bytes& to, const strided_bytes& from, const strided_shape& shape,
                    number_converter one) {
  divided(to, from, shape, [one](const strided_bytes& into, const strided_bytes& of, const strided_shape& part) {
    const std::size_t last = part.rank > 0 ? part.rank - 1 : 0, n = part.rank > 0 ? part.extent[last] : 1;
    each_row(into, of, part, [&](std::ptrdiff_t t, std::ptrdiff_t f) {
      for (std::size_t i = 0; i < n; ++i, t += into.stride_bytes[last], f += of.stride_bytes[last])
        one(into.base + t, of.base + f);
    });
  });
}

void fill_on_cpu(const strided_bytes& to, const strided_shape& shape, const std::byte* element) {
  divided(to, {const_cast<std::byte*>(element), {}}, shape, run_rows);
}

}  // namespace ferry::inline FERRY_ABI::detail
