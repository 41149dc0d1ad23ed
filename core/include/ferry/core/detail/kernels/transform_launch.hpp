// Launches of kernels that call a functor with the values of elements.
#pragma once
#include "ferry/core/detail/support/internal.hpp"
#include "ferry/core/macros.hpp"
#if FERRY_HAS_CUDA
#include <cstdint>
#include <string>

#include "ferry/core/detail/kernels/element_layout.hpp"
#include "ferry/core/detail/kernels/prepared_kernel.hpp"
#include "ferry/core/detail/kernels/transform_kernels.hpp"
#include "ferry/core/error.hpp"

namespace ferry::inline FERRY_ABI::detail {

template <>
struct kernel_type<strided_rows> {
  static std::string name(kernel_writer&) { return "strided_rows"; }
};
template <class T>
struct kernel_type<flat_input<T>> {
  static std::string name(kernel_writer& w) { return "flat_input<" + kernel_type_name<T>(w) + ">"; }
};
template <class T>
struct kernel_type<strided_elements<T>> {
  static std::string name(kernel_writer& w) { return "strided_elements<" + kernel_type_name<T>(w) + ">"; }
};
template <class Numbers, class First, class... T>
struct kernel_type<numbered_values<Numbers, First, T...>> {
  static std::string name(kernel_writer& w) {
    return "values_of_types<" + kernel_type_name<First>(w) + (std::string() + ... + (", " + kernel_type_name<T>(w))) +
           ">";
  }
};

inline namespace FERRY_UNIT {

struct transforming_vectors {
  static constexpr device_function text{
      .header = "ferry/core/detail/kernels/transform_kernels.hpp", .name = "transform_vectors", .has_constants = true};
  FERRY_DETAIL_KERNEL_BODY(transform_vectors)
};
struct transforming_elements {
  static constexpr device_function text{
      .header = "ferry/core/detail/kernels/transform_kernels.hpp", .name = "transform_elements", .has_constants = true};
  FERRY_DETAIL_KERNEL_BODY(transform_elements)
};
struct transforming_rows {
  static constexpr device_function text{
      .header = "ferry/core/detail/kernels/transform_kernels.hpp", .name = "transform_rows", .has_constants = true};
  FERRY_DETAIL_KERNEL_BODY(transform_rows)
};

static_assert(most_axes == max_rank);

inline unsigned blocks_of_transform(std::size_t blocks) {
  if (blocks > 0x7fffffff)
    throw invalid_argument("transform: the arrays need more than 2^31 - 1 blocks of 256 threads: split them");
  return static_cast<unsigned>(blocks);
}

// The kernel for a layout, and its parameters. Y: elements of the outputs, X: of the inputs.
template <class F, class Y, class X>
class transform_launch;
template <class F, std::size_t... O, class... Y, std::size_t... I, class... X>
class transform_launch<F, element_types<std::index_sequence<O...>, Y...>,
                       element_types<std::index_sequence<I...>, X...>> {
 public:
  // data: the first element of each array. Blocks until the kernel is compiled.
  transform_launch(stream_ref s, const element_layout& l, void* const* data)
      : is_flat_(l.is_flat(arrays, outputs)),
        code_(is_flat_ ? choose_flat(s, l, data) : choose_rows(s, l, data)) {}
  void operator()(const launch_place& where, const F& f) const {
    if (is_flat_)
      launch_kernel(where, prepared_kernel<std::size_t, F, flat_outputs, flat_inputs>{code_}, blocks_, threads_, n_, f,
                    flat_y_, flat_x_);
    else
      launch_kernel(where, prepared_kernel<strided_rows, F, strided_outputs, strided_inputs>{code_}, blocks_, threads_,
                    rows_, f, y_, x_);
  }

 private:
  using flat_outputs = values_of_types<Y*...>;
  using flat_inputs = values_of_types<flat_input<X>...>;
  using strided_outputs = values_of_types<strided_elements<Y>...>;
  using strided_inputs = values_of_types<strided_elements<const X>...>;
  static constexpr std::size_t outputs = sizeof...(Y), arrays = outputs + sizeof...(X);

  kernel_code choose_flat(stream_ref s, const element_layout& l, void* const* data) {
    n_ = l.count();
    ((numbered<O, Y*>(flat_y_) = static_cast<Y*>(data[O])), ...);
    const auto is_one = [&](std::size_t k) { return l.rank != 0 && l.stride[k][0] == 0; };
    ((numbered<I, flat_input<X>>(flat_x_) = {static_cast<const X*>(data[outputs + I]),
                                             is_one(outputs + I) ? std::size_t{0} : std::size_t{1}}),
     ...);
    constexpr unsigned lanes = lanes_for<Y..., X...>();
    const auto is_aligned = [&](std::size_t k, std::size_t bytes) {
      return reinterpret_cast<std::uintptr_t>(data[k]) % (bytes * lanes) == 0;
    };
    const bool fits =
        (... && is_aligned(O, sizeof(Y))) && (... && (is_one(outputs + I) || is_aligned(outputs + I, sizeof(X))));
    const auto set_blocks = [&](unsigned width, unsigned unroll) {
      threads_ = transform_threads;
      blocks_ = blocks_of_transform(ceil_div(n_, std::size_t{transform_threads} * width * unroll));
    };
    if constexpr (lanes > 1)
      if (fits) {
        set_blocks(lanes, unroll_for<lanes, X...>());
        return kernel_code_on<transforming_vectors, F, std::size_t, F, flat_outputs, flat_inputs>(s);
      }
    set_blocks(1, unroll_for<1, X...>());
    return kernel_code_on<transforming_elements, F, std::size_t, F, flat_outputs, flat_inputs>(s);
  }

  kernel_code choose_rows(stream_ref s, const element_layout& l, void* const* data) {
    strided_rows& r = rows_;
    r = {l.extent[0], l.count() / l.extent[0], static_cast<unsigned>(l.rank), transform_threads, 1, {}};
    for (std::size_t d = 0; d != l.rank; ++d) r.extent[d] = l.extent[d];
    while (r.bx > 32 && r.bx / 2 >= r.n) r.bx /= 2;
    const std::size_t along = ceil_div(r.n, std::size_t{r.bx} * unroll_for<1, X...>());
    const std::size_t lines = ceil_div(r.rows, transform_threads / r.bx);
    blocks_ = blocks_of_transform(along > 0x7fffffff / lines ? ~std::size_t{0} : along * lines);
    threads_ = grid_size(r.bx, transform_threads / r.bx);
    r.along = static_cast<unsigned>(along);
    const auto set = [&](auto& to, std::size_t k) {
      to.data = static_cast<decltype(to.data)>(data[k]);
      for (std::size_t d = 0; d != max_rank; ++d) to.stride[d] = l.stride[k][d];
    };
    (set(numbered<O, strided_elements<Y>>(y_), O), ...);
    (set(numbered<I, strided_elements<const X>>(x_), outputs + I), ...);
    return kernel_code_on<transforming_rows, F, strided_rows, F, strided_outputs, strided_inputs>(s);
  }

  // Of one of the two forms, the parameters are set.
  const bool is_flat_;
  grid_size blocks_ = 1, threads_ = 1;
  std::size_t n_;
  flat_outputs flat_y_;
  flat_inputs flat_x_;
  strided_rows rows_;
  strided_outputs y_;
  strided_inputs x_;
  const kernel_code code_;  // the last member: its initializer sets the others
};

}  // namespace FERRY_UNIT
}  // namespace ferry::inline FERRY_ABI::detail
#endif
