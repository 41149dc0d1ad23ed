// The loops of scans: running values. Included by reduction_loops_of.hpp only; no include guard.
//
// The running sum of floats is a double. The running sum of doubles has its rounding errors in a second double (Knuth,
// Neumaier).
namespace ferry::inline FERRY_ABI::detail::FERRY_LOOPS {

template <class T>
struct running_sum {
  T v = 0;
  inline void add(T x) { v = static_cast<T>(v + x); }
  inline T get() const { return v; }
};
template <>
struct running_sum<float> {
  double v = 0;
  inline void add(float x) { v += static_cast<double>(x); }
  inline float get() const { return static_cast<float>(v); }
};
template <>
struct running_sum<double> {
  double v = 0, lost = 0;
  inline void add(double x) {
    const double sum = v + x;
    const double kept = sum - v, error = (v - (sum - kept)) + (x - kept);
    v = sum;
    lost += error == error ? error : 0;  // the error of an infinite sum is NaN
  }
  inline double get() const { return v + lost; }
};
template <class T>
struct running_sum<complex_cell<T>> {
  running_sum<T> re, im;
  inline void add(complex_cell<T> x) { re.add(x.re), im.add(x.im); }
  inline complex_cell<T> get() const { return {re.get(), im.get()}; }
};
template <reduction_operation What, class T>
struct running_value {
  T v = plain_cell<What, T>::none();
  inline void add(T x) { v = plain_cell<What, T>::joined(v, x); }
  inline T get() const { return v; }
};
template <reduction_operation What, class T>
using running = std::conditional_t<What == reduction_operation::sum, running_sum<T>, running_value<What, T>>;

// Running values are in the caller's memory, at distances of scan_carry_bytes.
template <class Running>
static inline Running& running_at(std::byte* carry, std::size_t i) {
  static_assert(sizeof(Running) <= scan_carry_bytes);
  return *reinterpret_cast<Running*>(carry + i * scan_carry_bytes);
}

template <class Running, class T>
static void run_scan_clear(std::byte* carry, std::size_t n, const std::byte* initial) {
  for (std::size_t i = 0; i < n; ++i) {
    Running r;
    if (initial) {
      T first;
      std::memcpy(&first, initial, sizeof first);
      r.add(first);
    }
    std::construct_at(reinterpret_cast<Running*>(carry + i * scan_carry_bytes), r);
  }
}
template <class Running, class T>
static inline T step(Running& r, T x, bool is_exclusive) {
  const T before = r.get();
  r.add(x);
  return is_exclusive ? before : r.get();
}
template <class Running, class T>
static void run_scan_along(std::byte* to, const std::byte* x, std::size_t n, std::byte* carry, bool is_exclusive) {
  Running r = running_at<Running>(carry, 0);
  auto* out = reinterpret_cast<T*>(to);
  const auto* from = reinterpret_cast<const T*>(x);
  if (is_exclusive)
    for (std::size_t i = 0; i < n; ++i) out[i] = step(r, from[i], true);
  else
    for (std::size_t i = 0; i < n; ++i) out[i] = step(r, from[i], false);
  running_at<Running>(carry, 0) = r;
}
template <class Running, class T>
static void run_scan_each(std::byte* to, const std::byte* x, std::size_t n, std::byte* carry, bool is_exclusive) {
  auto* out = reinterpret_cast<T*>(to);
  const auto* from = reinterpret_cast<const T*>(x);
  for (std::size_t i = 0; i < n; ++i) out[i] = step(running_at<Running>(carry, i), from[i], is_exclusive);
}

template <reduction_operation What, class T>
static constexpr scan_loops scans_for() {
  using value = running<What, T>;
  return {&run_scan_clear<value, T>, &run_scan_along<value, T>, &run_scan_each<value, T>};
}

}  // namespace ferry::inline FERRY_ABI::detail::FERRY_LOOPS
