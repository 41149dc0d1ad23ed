// A functor of the values of elements, called on the CPU.
#pragma once
#include <algorithm>
#include <cstddef>
#include <tuple>
#include <utility>

#include "ferry/core/detail/kernels/element_layout.hpp"
#include "ferry/core/detail/kernels/transform_kernels.hpp"
#include "ferry/core/detail/support/cpu_workers.hpp"
#include "ferry/core/detail/support/internal.hpp"
#include "ferry/core/detail/support/vector_loop.hpp"

namespace ferry::inline FERRY_ABI::detail {
inline namespace FERRY_UNIT {

// Elements along axis 0 are at y[i * stride]. Flat: all of these strides are 1.
template <bool Flat, class F, class... Y, class... X, std::size_t... O, std::size_t... I>
void transform_line(const F& f, std::size_t n, const std::ptrdiff_t* strides, std::index_sequence<O...>,
                    std::index_sequence<I...>, const std::tuple<Y*...>& y, const std::tuple<const X*...>& x) {
  const auto at = [](std::ptrdiff_t i, [[maybe_unused]] std::ptrdiff_t stride) { return Flat ? i : i * stride; };
  const auto over = [&](Y*... to, const X*... from) {
    vector_loop<Flat ? 32 : 1>(
        static_cast<std::ptrdiff_t>(n),
        [&](std::ptrdiff_t i) -> decltype(auto) { return f(from[at(i, strides[sizeof...(Y) + I])]...); },
        [&](std::ptrdiff_t i, const auto& values) { store_parts(values, to[at(i, strides[O])]...); });
  };
  over(std::get<O>(y)..., std::get<I>(x)...);
}
template <class F, class... Y, class... X>
void transform_on_cpu(const element_layout& l, const F& f, std::tuple<Y*...> y, std::tuple<const X*...> x) {
  constexpr std::size_t outputs = sizeof...(Y), arrays = outputs + sizeof...(X);
  constexpr auto of_outputs = std::index_sequence_for<Y...>();
  constexpr auto of_inputs = std::index_sequence_for<X...>();
  std::ptrdiff_t inner[arrays];
  bool is_flat = true;
  for (std::size_t k = 0; k != arrays; ++k) {
    inner[k] = l.rank == 0 ? 1 : l.stride[k][0];
    is_flat = is_flat && inner[k] == 1;
  }
  const std::size_t n = l.rank == 0 ? 1 : l.extent[0], lines = l.count() / n;
  // Elements [first, first + count) of a line.
  const auto run = [&](std::size_t line, std::size_t first, std::size_t count) {
    std::ptrdiff_t offset[arrays] = {};
    for (std::size_t k = 0; k != arrays; ++k) offset[k] = static_cast<std::ptrdiff_t>(first) * inner[k];
    std::size_t rest = line;
    for (std::size_t d = 1; d < l.rank; ++d) {
      for (std::size_t k = 0; k != arrays; ++k)
        offset[k] += static_cast<std::ptrdiff_t>(rest % l.extent[d]) * l.stride[k][d];
      rest /= l.extent[d];
    }
    const auto moved = [&]<std::size_t... O, std::size_t... I>(std::index_sequence<O...>, std::index_sequence<I...>) {
      const std::tuple<Y*...> to{std::get<O>(y) + offset[O]...};
      const std::tuple<const X*...> from{std::get<I>(x) + offset[outputs + I]...};
      if (is_flat)
        transform_line<true>(f, count, inner, of_outputs, of_inputs, to, from);
      else
        transform_line<false>(f, count, inner, of_outputs, of_inputs, to, from);
    };
    moved(of_outputs, of_inputs);
  };
  over_parts(n * lines, 1024, [&](std::size_t begin, std::size_t end) {
    std::size_t line = begin / n, first = begin % n;
    for (std::size_t left = end - begin; left != 0; first = 0, ++line) {
      const std::size_t count = std::min(left, n - first);
      run(line, first, count);
      left -= count;
    }
  });
}

}  // namespace FERRY_UNIT
}  // namespace ferry::inline FERRY_ABI::detail
