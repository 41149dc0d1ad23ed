#include "backend/cpu_scatter.hpp"

#include <algorithm>
#include <complex>
#include <cstring>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "ferry/core/detail/support/concat.hpp"
#include "ferry/core/error.hpp"

namespace ferry::inline FERRY_ABI::detail {
namespace {

void need_indices_inside(const scatter_task& t) {
  for (std::size_t k = 0; k != t.extent[t.axis]; ++k) {
    const std::int64_t i = t.index(k);
    if (i >= -t.indexed && i < t.indexed) continue;
    throw invalid_argument(concat("index ", i, " is outside of an axis of extent ", t.indexed));
  }
}

void need_different_indices(const scatter_task& t) {
  std::vector<std::int64_t> all(t.extent[t.axis]);
  for (std::size_t k = 0; k != all.size(); ++k) all[k] = t.index(k) < 0 ? t.index(k) + t.indexed : t.index(k);
  std::sort(all.begin(), all.end());
  if (const auto twice = std::adjacent_find(all.begin(), all.end()); twice != all.end())
    throw invalid_argument(
        concat("index ", *twice, " occurs twice: which value is stored is not defined (fr::scatter_add adds them)"));
}

// Calls f(destination, value) for all values, in their order.
template <class F>
void for_each_value(const scatter_task& t, F f) {
  const std::size_t size = size_of(t.type);
  std::ptrdiff_t offset = 0;
  std::int64_t i = 0;
  for (std::size_t k = 0; k != t.count; ++k)
    if (t.place(k, offset, i)) f(t.to + offset, t.values + k * size);
}

template <class T>
T sum_of(T a, T b) {
  if constexpr (std::is_integral_v<T>)
    return static_cast<T>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));  // wraps
  else if constexpr (std::is_same_v<T, half> || std::is_same_v<T, bfloat16>)
    return T(static_cast<float>(a) + static_cast<float>(b));
  else
    return a + b;
}

template <scalar_type Type>
void add_all(const scatter_task& t) {
  using element = scalar_of<Type>;
  for_each_value(t, [](std::byte* to, const std::byte* value) {
    element a, b;
    std::memcpy(&a, to, sizeof a), std::memcpy(&b, value, sizeof b);
    a = sum_of(a, b);
    std::memcpy(to, &a, sizeof a);
  });
}
template <std::size_t... Type>
void add_values(const scatter_task& t, std::index_sequence<Type...>) {
  ((t.type == static_cast<scalar_type>(Type + 2) ? add_all<static_cast<scalar_type>(Type + 2)>(t) : void()), ...);
}

}  // namespace

void scatter_on_cpu(const scatter_task& t) {
  need_indices_inside(t);
  if (t.is_sum) return add_values(t, std::make_index_sequence<scalar_types - 2>());  // neither none nor bool
  if (t.is_checked) need_different_indices(t);
  const std::size_t size = size_of(t.type);
  for_each_value(t, [size](std::byte* to, const std::byte* value) { std::memcpy(to, value, size); });
}

}  // namespace ferry::inline FERRY_ABI::detail
