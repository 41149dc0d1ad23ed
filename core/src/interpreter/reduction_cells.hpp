// How values are combined: one cell for each operation and type. Included by reduction_loops_of.hpp only; no include
// guard.
namespace ferry::inline FERRY_ABI::detail::FERRY_LOOPS {

template <class T>
struct complex_cell {
  T re, im;
};
template <class T>
inline constexpr bool is_complex_cell = false;
template <class T>
inline constexpr bool is_complex_cell<complex_cell<T>> = true;

template <class T>
static inline T plus_of(T a, T b) {
  if constexpr (is_complex_cell<T>)
    return {a.re + b.re, a.im + b.im};
  else
    return static_cast<T>(a + b);
}
template <class T>
static inline T times_of(T a, T b) {
  if constexpr (is_complex_cell<T>)
    return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
  else
    return static_cast<T>(a * b);
}
// Sums, products and quotients of values and real numbers: of complex values, of each part.
template <class T>
struct part_type {
  using type = T;
};
template <class T>
struct part_type<complex_cell<T>> {
  using type = T;
};
template <class T>
using part_of = typename part_type<T>::type;
template <class T>
static inline T difference_of(T a, T b) {
  if constexpr (is_complex_cell<T>)
    return {a.re - b.re, a.im - b.im};
  else
    return a - b;
}
template <class T>
static inline T scaled_by(T a, part_of<T> factor) {
  if constexpr (is_complex_cell<T>)
    return {a.re * factor, a.im * factor};
  else
    return a * factor;
}
template <class T>
static inline T divided_by(T a, part_of<T> divisor) {
  if constexpr (is_complex_cell<T>)
    return {a.re / divisor, a.im / divisor};
  else
    return a / divisor;
}
// a times b; of complex values the scalar product, which is their squared magnitude if they are equal.
template <class T>
static inline part_of<T> scalar_product(T a, T b) {
  if constexpr (is_complex_cell<T>)
    return a.re * b.re + a.im * b.im;
  else
    return a * b;
}
template <class T>
using bits_of = std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>;
// Minimum or maximum: NaN if one value is NaN; -0 is less than +0.
template <class T>
static inline T lesser_of(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) {
    const T same = std::bit_cast<T>(std::bit_cast<bits_of<T>>(a) | std::bit_cast<bits_of<T>>(b));
    return a < b ? a : b < a ? b : a == b ? same : a + b;
  } else {
    return b < a ? b : a;
  }
}
template <class T>
static inline T greater_of(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) {
    const T same = std::bit_cast<T>(std::bit_cast<bits_of<T>>(a) & std::bit_cast<bits_of<T>>(b));
    return a > b ? a : b > a ? b : a == b ? same : a + b;
  } else {
    return b > a ? b : a;
  }
}

// A cell with a value only. What: the operation.
template <reduction_operation What, class T>
struct plain_cell {
  static constexpr bool has_second = false;
  using value = T;
  using second = T;
  T v;
  static constexpr T none() {
    using limits = std::numeric_limits<T>;
    if constexpr (is_complex_cell<T>) {
      return What == reduction_operation::product ? T{1, 0} : T{0, 0};
    } else {
      switch (What) {
        case reduction_operation::product:
        case reduction_operation::all: return T(1);
        case reduction_operation::minimum: return limits::has_infinity ? limits::infinity() : limits::max();
        case reduction_operation::maximum: return limits::has_infinity ? -limits::infinity() : limits::lowest();
        default: return T(0);
      }
    }
  }
  static inline T joined(T a, T b) {
    if constexpr (What == reduction_operation::sum)
      return plus_of(a, b);
    else if constexpr (What == reduction_operation::product)
      return times_of(a, b);
    else if constexpr (What == reduction_operation::minimum)
      return lesser_of(a, b);
    else if constexpr (What == reduction_operation::maximum)
      return greater_of(a, b);
    else if constexpr (What == reduction_operation::any)
      return static_cast<T>(a | b);
    else
      return static_cast<T>(a & b);
  }
  inline void add(T x, std::int64_t, part_of<T>) { v = joined(v, x); }
  inline void join(const plain_cell& o, part_of<T>, part_of<T>) { v = joined(v, o.v); }
};

// A cell with the least or greatest value, and its position.
template <reduction_operation What, class T>
struct position_cell {
  static constexpr bool has_second = true;
  using value = T;
  using second = std::int64_t;
  T v;
  std::int64_t at;
  static constexpr bool is_better(T a, T b) {
    const bool wins = What == reduction_operation::least ? a < b : a > b;
    if constexpr (std::is_floating_point_v<T>)
      return wins | ((a != a) & (b == b));
    else
      return wins;
  }
  inline void add(T x, std::int64_t position, T) {
    const bool takes = (at < 0) | is_better(x, v);
    v = takes ? x : v;
    at = takes ? position : at;
  }
  inline void join(const position_cell& o, T, T) {
    const bool theirs = is_better(o.v, v), ours = is_better(v, o.v);
    const bool is_tie = !theirs & !ours;
    const bool takes = (o.at >= 0) & ((at < 0) | theirs | (is_tie & (o.at < at)));
    v = takes ? o.v : v;
    at = takes ? o.at : at;
  }
};

// A cell with the mean, and the sum of squared distances from it. add() is by Welford, join() by Chan, Golub and
// LeVeque.
template <class T>
struct moments_cell {
  static constexpr bool has_second = true;
  using value = T;
  using second = part_of<T>;
  T v;
  second squares;
  // share: 1 / number of values, with this one.
  inline void add(T x, std::int64_t, second share) {
    const T distance = difference_of(x, v);
    v = plus_of(v, scaled_by(distance, share));
    squares += scalar_product(distance, difference_of(x, v));
  }
  // share: of the other's values in all; weight: product of both numbers by all.
  inline void join(const moments_cell& o, second share, second weight) {
    const T distance = difference_of(o.v, v);
    v = plus_of(v, scaled_by(distance, share));
    squares += o.squares + scalar_product(distance, distance) * weight;
  }
};

}  // namespace ferry::inline FERRY_ABI::detail::FERRY_LOOPS
