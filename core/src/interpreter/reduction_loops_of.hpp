// The loops of reductions, in the namespace FERRY_LOOPS. Included once by each source that compiles them; no include
// guard. Both sources give the same bits: the number of lanes does not depend on the processor.
#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <type_traits>
#include <utility>

#include "interpreter/reduction_loops.hpp"

// These need the includes above.
#include "interpreter/reduction_cells.hpp"
#include "interpreter/scan_loops_of.hpp"

// Lets the compiler vectorize the next loop: its iterations are independent.
#ifdef __clang__
#define FERRY_INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#else
#define FERRY_INDEPENDENT _Pragma("GCC ivdep")
#endif

namespace ferry::inline FERRY_ABI::detail::FERRY_LOOPS {

inline constexpr std::size_t lanes = 32;  // partial results of a run: sums are not one chain of additions
inline constexpr std::size_t rows_of_leaf = 16;

template <class Cell>
struct cells {
  using value = typename Cell::value;
  using second = typename Cell::second;
  explicit cells(const accumulators& a)
      : v(reinterpret_cast<value*>(a.value)),
        s(reinterpret_cast<second*>(a.second)) {}
  inline Cell get(std::size_t i) const {
    if constexpr (Cell::has_second)
      return {v[i], s[i]};
    else
      return {v[i]};
  }
  inline void set(std::size_t i, const Cell& c) const {
    v[i] = c.v;
    if constexpr (requires { c.at; })
      s[i] = c.at;
    else if constexpr (requires { c.squares; })
      s[i] = c.squares;
  }
  value* v;
  second* s;
};
template <class Cell>
inline constexpr bool is_moments = requires(Cell c) {
  c.squares;
};
template <class Cell>
inline constexpr bool is_position = requires(Cell c) {
  c.at;
};

static inline float root_of(float a) { return __builtin_sqrtf(a); }
static inline double root_of(double a) { return __builtin_sqrt(a); }

template <class Cell>
static inline Cell no_value() {
  if constexpr (is_position<Cell>)
    return {typename Cell::value(0), -1};
  else if constexpr (is_moments<Cell>)
    return {typename Cell::value{}, 0};
  else
    return {Cell::none()};
}

// The factors of a join of moments; other cells need none.
template <class Cell>
struct join_weights {
  using T = part_of<typename Cell::value>;
  T share{}, weight{};
  join_weights(std::size_t had, std::size_t more) {
    if constexpr (is_moments<Cell>) {
      const double a = static_cast<double>(had), b = static_cast<double>(more), all = std::max(a + b, 1.0);
      share = static_cast<T>(b / all), weight = static_cast<T>(a / all * b);
    }
  }
};

// Combines the n values value_at(0), value_at(1) and so on.
template <class Cell, class Value>
static inline Cell combined_plain(const Value& value_at, std::size_t n) {
  using T = typename Cell::value;
  if (n < lanes) {
    Cell all = no_value<Cell>();
    for (std::size_t i = 0; i != n; ++i) all.v = Cell::joined(all.v, value_at(i));
    return all;
  }
  // Adds in pieces, so that no chain has more than rows_of_leaf additions.
  T part[lanes], sum[lanes];
  std::size_t i = 0;
  while (i + lanes <= n) {
    const std::size_t first = i, end = std::min(n - lanes, i + (rows_of_leaf - 1) * lanes);
    for (std::size_t j = 0; j != lanes; ++j) part[j] = value_at(i + j);
    for (i += lanes; i <= end; i += lanes)
      for (std::size_t j = 0; j != lanes; ++j) part[j] = Cell::joined(part[j], value_at(i + j));
    for (std::size_t j = 0; j != lanes; ++j) sum[j] = first == 0 ? part[j] : Cell::joined(sum[j], part[j]);
  }
  for (std::size_t j = 0; i + j < n; ++j) sum[j] = Cell::joined(sum[j], value_at(i + j));
  for (std::size_t width = lanes / 2; width != 0; width /= 2)
    for (std::size_t j = 0; j != width; ++j) sum[j] = Cell::joined(sum[j], sum[j + width]);
  return {sum[0]};
}

// Combines n values, whose positions begin at 0, into one cell.
template <class Cell>
static inline Cell combined(const typename Cell::value* x, std::size_t n) {
  using T = typename Cell::value;
  if constexpr (is_position<Cell>) {
    Cell best = no_value<Cell>();
    if (n == 0) return best;
    // Finds the extreme in a vectorized loop, then its first position.
    constexpr auto extreme = Cell::is_better(T(0), T(1)) ? reduction_operation::minimum : reduction_operation::maximum;
    const T found = combined<plain_cell<extreme, T>>(x, n).v;
    std::size_t i = 0;
    if constexpr (std::is_floating_point_v<T>)
      if (found != found)
        for (; x[i] == x[i]; ++i) {
        }
    if (found == found)
      for (; x[i] != found; ++i) {
      }
    return {x[i], static_cast<std::int64_t>(i)};
  } else if constexpr (is_moments<Cell>) {
    using real = part_of<T>;
    if (n == 0) return no_value<Cell>();
    const real count = static_cast<real>(n);
    const T mean = divided_by(combined<plain_cell<reduction_operation::sum, T>>(x, n).v, count);
    real part[lanes] = {};
    T rest[lanes] = {};
    std::size_t i = 0;
    for (; i + lanes <= n; i += lanes)
      for (std::size_t j = 0; j != lanes; ++j) {
        const T d = difference_of(x[i + j], mean);
        part[j] += scalar_product(d, d);
        rest[j] = plus_of(rest[j], d);
      }
    for (std::size_t j = 0; i + j < n; ++j) {
      const T d = difference_of(x[i + j], mean);
      part[j] += scalar_product(d, d);
      rest[j] = plus_of(rest[j], d);
    }
    for (std::size_t width = lanes / 2; width != 0; width /= 2)
      for (std::size_t j = 0; j != width; ++j) part[j] += part[j + width], rest[j] = plus_of(rest[j], rest[j + width]);
    // The mean is rounded: the rest is what the distances from the exact one lack.
    const T lacking = divided_by(rest[0], count);
    const real squares = part[0] - scalar_product(rest[0], lacking);
    return {plus_of(mean, lacking), squares < 0 ? real(0) : squares};
  } else {
    return combined_plain<Cell>([x](std::size_t i) { return x[i]; }, n);
  }
}

template <class Cell>
static void run_clear(const accumulators& to, std::size_t n) {
  const cells<Cell> all(to);
  const Cell none = no_value<Cell>();
  for (std::size_t i = 0; i < n; ++i) all.set(i, none);
}
template <class Cell>
static void run_fold(const accumulators& to, const std::byte* x, std::size_t n, std::int64_t position,
                     std::size_t had) {
  if (n == 0) return;
  const cells<Cell> all(to);
  Cell more = combined<Cell>(reinterpret_cast<const typename Cell::value*>(x), n), sum = all.get(0);
  if constexpr (is_position<Cell>) more.at += position;
  const join_weights<Cell> w(had, n);
  if (had == 0)
    sum = more;
  else
    sum.join(more, w.share, w.weight);
  all.set(0, sum);
}
template <class Cell>
static void run_fold_products(const accumulators& to, const std::byte* x, const std::byte* y, std::size_t n) {
  using T = typename Cell::value;
  const auto *a = reinterpret_cast<const T*>(x), *b = reinterpret_cast<const T*>(y);
  cells<Cell>(to).set(0, combined_plain<Cell>([a, b](std::size_t i) { return times_of(a[i], b[i]); }, n));
}
template <class Cell>
static inline void fold_row(const cells<Cell>& all, const typename Cell::value* x, std::size_t n, std::int64_t position,
                            std::size_t had) {
  using part = part_of<typename Cell::value>;
  part share{};
  if constexpr (is_moments<Cell>) share = static_cast<part>(1.0 / static_cast<double>(had + 1));
  FERRY_INDEPENDENT
  for (std::size_t i = 0; i < n; ++i) {
    Cell c = all.get(i);
    c.add(x[i], position, share);
    all.set(i, c);
  }
}
template <class Cell>
static void run_fold_each(const accumulators& to, const std::byte* x, std::size_t n, std::int64_t position,
                          std::size_t had) {
  fold_row(cells<Cell>(to), reinterpret_cast<const typename Cell::value*>(x), n, position, had);
}
template <class Cell>
static inline void join_cells(const cells<Cell>& a, const cells<Cell>& b, std::size_t n, std::size_t had,
                              std::size_t more) {
  if (had == 0) {
    for (std::size_t i = 0; i < n; ++i) a.set(i, b.get(i));
    return;
  }
  const join_weights<Cell> w(had, more);
  FERRY_INDEPENDENT
  for (std::size_t i = 0; i < n; ++i) {
    Cell c = a.get(i);
    c.join(b.get(i), w.share, w.weight);
    a.set(i, c);
  }
}
template <class Cell>
static void run_join(const accumulators& to, const accumulators& from, std::size_t n, std::size_t had,
                     std::size_t more) {
  join_cells(cells<Cell>(to), cells<Cell>(from), n, had, more);
}
template <class Cell>
static void run_fold_runs(const accumulators& to, const std::byte* x, std::size_t runs, std::size_t length) {
  const cells<Cell> all(to);
  const auto* from = reinterpret_cast<const typename Cell::value*>(x);
  for (std::size_t i = 0; i < runs; ++i, from += length) all.set(i, combined<Cell>(from, length));
}

// rows * columns is less than shortest_run (reduction_layout.hpp).
template <class Cell>
static void run_fold_groups(const accumulators& to, const std::byte* x, std::size_t groups, std::size_t rows,
                            std::size_t columns) {
  using value = typename Cell::value;
  const auto* from = reinterpret_cast<const value*>(x);
  value leaf_v[512];
  typename Cell::second leaf_s[512];
  const accumulators leaf_of{reinterpret_cast<std::byte*>(leaf_v), reinterpret_cast<std::byte*>(leaf_s)};
  const cells<Cell> leaf(leaf_of);
  cells<Cell> all(to);
  for (std::size_t g = 0; g < groups; ++g, all.v += columns) {
    for (std::size_t done = 0; done < rows; done += rows_of_leaf) {
      const std::size_t n = std::min(rows_of_leaf, rows - done);
      const cells<Cell>& into = done == 0 ? all : leaf;
      for (std::size_t j = 0; j < columns; ++j) into.set(j, no_value<Cell>());
      for (std::size_t r = 0; r < n; ++r, from += columns)
        fold_row(into, from, columns, static_cast<std::int64_t>(done + r), r);
      if (done != 0) join_cells(all, leaf, columns, done, n);
    }
    if constexpr (Cell::has_second) all.s += columns;
  }
}

template <class Cell>
static void run_finish(std::byte* to, const accumulators& from, std::size_t n, reduction_finish what, std::size_t count,
                       double freedom) {
  using T = typename Cell::value;
  if constexpr (is_position<Cell>) {
    std::memcpy(to, from.second, n * sizeof(std::int64_t));
  } else if constexpr (is_moments<Cell>) {
    using real = part_of<T>;
    auto* r = reinterpret_cast<real*>(to);
    const cells<Cell> all(from);
    const real by = static_cast<real>(static_cast<double>(count) - freedom);
    for (std::size_t i = 0; i < n; ++i) {
      const real variance = by > 0 ? all.s[i] / by : std::numeric_limits<real>::quiet_NaN();
      r[i] = what == reduction_finish::deviation ? root_of(variance) : variance;
    }
  } else {
    auto* r = reinterpret_cast<T*>(to);
    const cells<Cell> all(from);
    for (std::size_t i = 0; i < n; ++i) {
      if constexpr (is_complex_cell<T>) {
        using part = decltype(T().re);
        const part by = what == reduction_finish::mean ? static_cast<part>(count) : part(1);
        r[i] = {all.v[i].re / by, all.v[i].im / by};
      } else if constexpr (std::is_floating_point_v<T>) {
        r[i] = what == reduction_finish::mean   ? all.v[i] / static_cast<T>(count)
               : what == reduction_finish::root ? root_of(all.v[i])
                                                : all.v[i];
      } else {
        r[i] = all.v[i];
      }
    }
  }
}

template <class Cell, bool SumsProducts = false>
static constexpr reduction_loops loops_for() {
  reduction_loops all{&run_clear<Cell>,       &run_fold<Cell>,  nullptr,
                      &run_fold_each<Cell>,   &run_join<Cell>,  &run_fold_runs<Cell>,
                      &run_fold_groups<Cell>, &run_finish<Cell>};
  if constexpr (SumsProducts) all.fold_products = &run_fold_products<Cell>;
  return all;
}

template <scalar_type Type>
struct combined_type {
  using type = std::conditional_t<Type == scalar_type::boolean, std::uint8_t, scalar_of<Type>>;
};
template <>
struct combined_type<scalar_type::complex64> {
  using type = complex_cell<float>;
};
template <>
struct combined_type<scalar_type::complex128> {
  using type = complex_cell<double>;
};

template <reduction_operation What, scalar_type Type>
static constexpr void fill_loops(reduction_table& t) {
  if constexpr (combines(What, Type)) {
    using T = typename combined_type<Type>::type;
    constexpr int o = static_cast<int>(What), type = static_cast<int>(Type);
    if constexpr (What == reduction_operation::least || What == reduction_operation::greatest) {
      t.reduce[o][type] = loops_for<position_cell<What, T>>();
    } else if constexpr (What == reduction_operation::moments) {
      t.reduce[o][type] = loops_for<moments_cell<T>>();
    } else {
      constexpr bool sums_products = What == reduction_operation::sum && std::is_arithmetic_v<T>;
      t.reduce[o][type] = loops_for<plain_cell<What, T>, sums_products>();
      if constexpr (Type != scalar_type::boolean) t.scan[o][type] = scans_for<What, T>();
    }
  }
}
template <int What, std::size_t... Type>
static constexpr void fill_types(reduction_table& t, std::index_sequence<Type...>) {
  (fill_loops<static_cast<reduction_operation>(What), static_cast<scalar_type>(Type)>(t), ...);
}
template <std::size_t... What>
static constexpr reduction_table all_reduction_loops(std::index_sequence<What...>) {
  reduction_table t{};
  (fill_types<What>(t, std::make_index_sequence<scalar_types>()), ...);
  return t;
}
static constexpr reduction_table reductions = all_reduction_loops(std::make_index_sequence<reduction_operations>());

}  // namespace ferry::inline FERRY_ABI::detail::FERRY_LOOPS
