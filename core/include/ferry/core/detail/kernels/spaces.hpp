// Index spaces as kernels use them. Compiled for devices as well: no host code.
#pragma once
#include <cstddef>
#include <utility>

#include "ferry/core/detail/support/internal.hpp"
#include "ferry/core/macros.hpp"
#include "ferry/core/tile.hpp"

namespace ferry::inline FERRY_ABI::detail {

FERRY_HOST_DEVICE inline std::size_t ceil_div(std::size_t a, std::size_t b) { return a / b + (a % b != 0); }
FERRY_HOST_DEVICE inline std::size_t at_most(std::size_t a, std::size_t b) { return a < b ? a : b; }

// Spaces as kernels use them: up to three extents, x fastest, and the call of a functor at one index.
struct space_1d {
  std::size_t x;
  using index_list = void(std::size_t&);  // parameters that call() passes before p
  static constexpr std::size_t y = 1, z = 1, indices = 1;
  template <class F, class... P>
  FERRY_HOST_DEVICE decltype(auto) call(const F& f, std::size_t i, std::size_t, std::size_t, const P&... p) const {
    return f(i, p...);
  }
};
struct space_2d {
  std::size_t x, y;
  using index_list = void(std::size_t&, std::size_t&);
  static constexpr std::size_t z = 1, indices = 2;
  template <class F, class... P>
  FERRY_HOST_DEVICE decltype(auto) call(const F& f, std::size_t i, std::size_t j, std::size_t, const P&... p) const {
    return f(j, i, p...);
  }
};
struct space_3d {
  std::size_t x, y, z;
  using index_list = void(std::size_t&, std::size_t&, std::size_t&);
  static constexpr std::size_t indices = 3;
  template <class F, class... P>
  FERRY_HOST_DEVICE decltype(auto) call(const F& f, std::size_t i, std::size_t j, std::size_t k, const P&... p) const {
    return f(k, j, i, p...);
  }
};
// Spaces whose indices begin at any index, as those of ghost cells.
struct box_space_1d {
  std::size_t x;
  using index_list = space_1d::index_list;
  std::size_t first_x;
  static constexpr std::size_t y = 1, z = 1, indices = 1;
  template <class F, class... P>
  FERRY_HOST_DEVICE decltype(auto) call(const F& f, std::size_t i, std::size_t, std::size_t, const P&... p) const {
    return f(first_x + i, p...);
  }
};
struct box_space_2d {
  std::size_t x, y;
  using index_list = space_2d::index_list;
  std::size_t first_x, first_y;
  static constexpr std::size_t z = 1, indices = 2;
  template <class F, class... P>
  FERRY_HOST_DEVICE decltype(auto) call(const F& f, std::size_t i, std::size_t j, std::size_t, const P&... p) const {
    return f(first_y + j, first_x + i, p...);
  }
};
struct box_space_3d {
  std::size_t x, y, z;
  using index_list = space_3d::index_list;
  std::size_t first_x, first_y, first_z;
  static constexpr std::size_t indices = 3;
  template <class F, class... P>
  FERRY_HOST_DEVICE decltype(auto) call(const F& f, std::size_t i, std::size_t j, std::size_t k, const P&... p) const {
    return f(first_z + k, first_y + j, first_x + i, p...);
  }
};

// Parameters of Rank indices.
template <std::size_t>
struct index_parameter {
  using type = std::size_t&;
};
template <class Dimensions>
struct index_parameters;
template <std::size_t... D>
struct index_parameters<std::index_sequence<D...>> {
  using type = void(typename index_parameter<D>::type...);
};

// Where the indices along the dimensions of space_nd begin: at 0, or at any index.
struct from_zero {
  FERRY_HOST_DEVICE std::size_t operator()(std::size_t, std::size_t i) const { return i; }
};
template <std::size_t Rank>
struct from_first {
  std::size_t first[Rank];  // slowest first
  FERRY_HOST_DEVICE std::size_t operator()(std::size_t d, std::size_t i) const { return first[d] + i; }
};
// Four dimensions and more. z is the product of the extents of all but the two fastest; call() splits their joint
// index.
template <std::size_t Rank, class Along = from_zero>
struct space_nd {
  std::size_t x, y, z;
  std::size_t outer[Rank - 2];  // extents, slowest first
  Along along;                  // maps the index along each dimension
  using index_list = typename index_parameters<std::make_index_sequence<Rank>>::type;
  static constexpr std::size_t indices = Rank;
  template <class F, class... P>
  FERRY_HOST_DEVICE decltype(auto) call(const F& f, std::size_t i, std::size_t j, std::size_t k, const P&... p) const {
    std::size_t at[Rank];
    at[Rank - 1] = i, at[Rank - 2] = j;
    for (std::size_t d = Rank - 2; d-- > 1; k /= outer[d]) at[d] = k % outer[d];
    at[0] = k;
    return call_at(std::make_index_sequence<Rank>(), f, at, p...);
  }

 private:
  template <std::size_t... D, class F, class... P>
  FERRY_HOST_DEVICE decltype(auto) call_at(std::index_sequence<D...>, const F& f, const std::size_t (&at)[Rank],
                                           const P&... p) const {
    return f(along(D, at[D])..., p...);
  }
};

struct space_of_tiles {
  std::size_t x, y;  // numbers of tiles
  std::size_t rows, columns, all_rows, all_columns;
  using index_list = void(tile);
  static constexpr std::size_t z = 1, indices = 1;
  template <class F, class... P>
  FERRY_HOST_DEVICE decltype(auto) call(const F& f, std::size_t i, std::size_t j, std::size_t, const P&... p) const {
    const std::size_t row = j * rows, column = i * columns;
    return f(tile{row, column, at_most(rows, all_rows - row), at_most(columns, all_columns - column)}, p...);
  }
};

}  // namespace ferry::inline FERRY_ABI::detail
