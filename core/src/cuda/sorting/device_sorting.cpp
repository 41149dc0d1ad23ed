#include "cuda/sorting/device_sorting.hpp"

#include <algorithm>

#include "ferry/core/detail/operations/sort_key.hpp"

namespace ferry::inline FERRY_ABI::detail::cuda {
namespace {

// Rows of at least this length are sorted one after the other: each fills a device.
constexpr std::size_t shortest_row_alone = std::size_t{1} << 20;

// Calls the steps in order until one fails, and returns its error.
template <class... F>
cudaError_t in_turn(F... steps) {
  cudaError_t r = cudaSuccess;
  static_cast<void>(((r = steps(), r == cudaSuccess) && ...));
  return r;
}

}  // namespace

cudaError_t device_sorting::measure(std::size_t& bytes) {
  t_.scratch = nullptr;
  used_ = most_ = 0;
  const cudaError_t r = walk();
  bytes = most_;
  return r;
}

cudaError_t device_sorting::run(cudaStream_t s) {
  grid_.stream = s;
  used_ = most_ = 0;
  if (t_.kind == sorting_kind::search || t_.kind == sorting_kind::rank) return search_elements(grid_, t_);
  return walk();
}

cudaError_t device_sorting::walk() {
  switch (t_.kind) {
    case sorting_kind::sort:
    case sorting_kind::partition: return sort_rows();
    case sorting_kind::order: return order_rows();
    case sorting_kind::unique: return find_unique();
    case sorting_kind::select: return select();
    case sorting_kind::search:
    case sorting_kind::rank: break;
  }
  return cudaSuccess;
}

void* device_sorting::take(std::size_t bytes) {
  void* const p = is_running() ? t_.scratch + used_ : nullptr;
  used_ += (bytes + 255) / 256 * 256;
  most_ = std::max(most_, used_);
  return p;
}

buffer_pair device_sorting::take_pair(std::size_t bytes) {
  buffer_pair b;
  b.now = take(bytes);
  b.other = take(bytes);
  return b;
}

template <class F>
cudaError_t device_sorting::with_scratch(F f) {
  std::size_t bytes = 0;
  if (const cudaError_t r = f(nullptr, bytes); r != cudaSuccess) return r;
  bytes = std::max<std::size_t>(bytes, 1);  // null would ask for the size again
  const std::size_t before = used_;
  void* const scratch = take(bytes);
  const cudaError_t r = step([&] { return f(scratch, bytes); });
  used_ = before;  // later steps overwrite it, in stream order
  return r;
}

key_mapping device_sorting::mapping(bool is_merged, bool is_wide) const {
  const std::size_t size = size_of(t_.type);
  return {t_.type, t_.is_descending, is_merged, is_wide ? std::max<std::size_t>(size, 4) : size};
}

cudaError_t device_sorting::sort_rows() {
  if (t_.rows > 1 && t_.length < shortest_row_alone) return sort_short_rows();
  const std::size_t row_bytes = t_.length * size_of(t_.type);
  for (std::size_t r = 0; r != t_.rows; ++r) {
    used_ = 0;
    if (const cudaError_t e = sort_one_row(t_.from + r * row_bytes, t_.values + r * row_bytes, t_.length);
        e != cudaSuccess)
      return e;
    if (!is_running()) break;  // all rows use the same scratch memory
  }
  return cudaSuccess;
}

cudaError_t device_sorting::sort_one_row(const std::byte* from, std::byte* to, std::uint64_t n) {
  const std::size_t size = size_of(t_.type);
  const bool is_whole = is_integer(t_.type) && size >= 4;
  if (is_whole && !t_.is_descending && from != to && n >> 32 == 0)
    return with_scratch([&](void* scratch, std::size_t& bytes) {
      return cub_sort_integers(scratch, bytes, from, to, size, is_signed(t_.type), n, grid_.stream);
    });
  const key_mapping m = mapping(false, false);
  const bool is_identity = fraction_bits(t_.type) == 0 && !is_signed(t_.type) && !t_.is_descending;
  buffer_pair keys{to, take(n * size)};
  return in_turn(
      [&] { return step([&] { return is_identity && from == to ? cudaSuccess : make_keys(grid_, m, from, to, n); }); },
      [&] {
        return with_scratch([&](void* scratch, std::size_t& bytes) {
          return cub_sort_keys(scratch, bytes, keys, size, n, grid_.stream);
        });
      },
      [&] {
        return step(
            [&] { return is_identity && keys.now == to ? cudaSuccess : restore_elements(grid_, m, keys.now, to, n); });
      });
}

// Sorts all elements by their keys, then by their rows. Sorting is stable, so each row is then sorted.
cudaError_t device_sorting::sort_short_rows() {
  const std::uint64_t n = t_.count();
  if (t_.rows >> 32 != 0) return cudaErrorNotSupported;
  const key_mapping m = mapping(false, true);
  const int key_bits = static_cast<int>(8 * size_of(t_.type));
  const std::size_t row_bytes = sizeof(std::uint32_t);
  buffer_pair keys = take_pair(n * m.key_bytes), rows = take_pair(n * row_bytes);
  return in_turn(
      [&] { return step([&] { return make_keys(grid_, m, t_.from, keys.now, n); }); },
      [&] { return step([&] { return number_rows(grid_, static_cast<std::uint32_t*>(rows.now), t_.length, n); }); },
      [&] {
        return with_scratch([&](void* scratch, std::size_t& bytes) {
          return cub_sort_pairs(scratch, bytes, keys, m.key_bytes, rows, row_bytes, n, key_bits, grid_.stream);
        });
      },
      [&] {
        return with_scratch([&](void* scratch, std::size_t& bytes) {
          return cub_sort_pairs(scratch, bytes, rows, row_bytes, keys, m.key_bytes, n, row_bits(), grid_.stream);
        });
      },
      [&] { return step([&] { return restore_elements(grid_, m, keys.now, t_.values, n); }); });
}

cudaError_t device_sorting::order_rows() {
  const std::uint64_t n = t_.count();
  if (t_.rows >> 32 != 0) return cudaErrorNotSupported;
  const key_mapping m = mapping(true, true);
  const std::size_t number = number_bytes();
  const int key_bits = static_cast<int>(8 * size_of(t_.type));
  buffer_pair keys = take_pair(n * m.key_bytes), numbers = take_pair(n * number);
  return in_turn(
      [&] { return step([&] { return make_keys(grid_, m, t_.from, keys.now, n); }); },
      [&] { return step([&] { return number_elements(grid_, numbers.now, number, n); }); },
      [&] {
        return with_scratch([&](void* scratch, std::size_t& bytes) {
          return cub_sort_pairs(scratch, bytes, keys, m.key_bytes, numbers, number, n, key_bits, grid_.stream);
        });
      },
      [&] {
        if (t_.rows == 1) return cudaSuccess;
        return step([&] {  // reuses the memory of the keys
          return rows_of_numbers(grid_, numbers.now, number, static_cast<std::uint32_t*>(keys.now), t_.length, n);
        });
      },
      [&] {
        if (t_.rows == 1) return cudaSuccess;
        return with_scratch([&](void* scratch, std::size_t& bytes) {
          return cub_sort_pairs(scratch, bytes, keys, 4, numbers, number, n, row_bits(), grid_.stream);
        });
      },
      [&] { return step([&] { return store_order(grid_, t_, numbers.now, number); }); });
}

cudaError_t device_sorting::find_unique() {
  const std::uint64_t n = t_.length;
  const bool has_inverse = t_.inverse != nullptr;
  const key_mapping m = mapping(true, has_inverse);
  const std::size_t number = number_bytes();
  const int key_bits = static_cast<int>(8 * size_of(t_.type));
  buffer_pair keys = take_pair(n * m.key_bytes), numbers;
  if (has_inverse) numbers = take_pair(n * number);
  auto* const starts = static_cast<std::int64_t*>(take(n * sizeof(std::int64_t)));
  auto* const found = static_cast<std::uint64_t*>(take(sizeof(std::uint64_t)));
  return in_turn(
      [&] { return step([&] { return make_keys(grid_, m, t_.from, keys.now, n); }); },
      [&] { return step([&] { return has_inverse ? number_elements(grid_, numbers.now, number, n) : cudaSuccess; }); },
      [&] {
        return with_scratch([&](void* scratch, std::size_t& bytes) {
          return has_inverse
                     ? cub_sort_pairs(scratch, bytes, keys, m.key_bytes, numbers, number, n, key_bits, grid_.stream)
                     : cub_sort_keys(scratch, bytes, keys, m.key_bytes, n, grid_.stream);
        });
      },
      [&] {
        const index_filter heads{keys.now, static_cast<int>(m.key_bytes)};
        return with_scratch([&](void* scratch, std::size_t& bytes) {
          return cub_select_indices(scratch, bytes, heads, starts, found, n, grid_.stream);
        });
      },
      [&] { return step([&] { return store_unique(grid_, t_, m, keys.now, starts, found); }); },
      [&] {
        return step(
            [&] { return has_inverse ? store_inverse(grid_, t_, numbers.now, number, starts, found) : cudaSuccess; });
      });
}

cudaError_t device_sorting::select() {
  const std::uint64_t n = t_.length;
  const bool is_direct = t_.positions && t_.kept >= n;
  auto* const indices = static_cast<std::int64_t*>(is_direct ? static_cast<void*>(t_.positions) : take(n * 8));
  auto* const found = static_cast<std::uint64_t*>(take(sizeof(std::uint64_t)));
  const index_filter mask{t_.from, 0};
  return in_turn(
      [&] {
        return with_scratch([&](void* scratch, std::size_t& bytes) {
          return cub_select_indices(scratch, bytes, mask, indices, found, n, grid_.stream);
        });
      },
      [&] { return step([&] { return store_selected(grid_, t_, indices, found); }); });
}

}  // namespace ferry::inline FERRY_ABI::detail::cuda
