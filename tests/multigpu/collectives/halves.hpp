// Collectives on 16-bit floating-point numbers.
#pragma once
#include <cstdint>

#include "cases.hpp"
#include "transport/collective_math.hpp"

// The same bits as the types in CUDA's headers, which these tests do not include.
struct __half {  // NOLINT(bugprone-reserved-identifier)
  std::uint16_t bits;
};
struct __nv_bfloat16 {  // NOLINT(bugprone-reserved-identifier)
  std::uint16_t bits;
};

namespace collectives {

template <class T>
struct half_format;
template <>
struct half_format<__half> {
  static __half of(float x) { return {fr::detail::to_float16(x)}; }
  static float value(__half x) { return fr::detail::from_float16(x.bits); }
  static constexpr float epsilon = 1 / 1024.f;
};
template <>
struct half_format<__nv_bfloat16> {
  static __nv_bfloat16 of(float x) { return {fr::detail::to_bfloat16(x)}; }
  static float value(__nv_bfloat16 x) { return fr::detail::from_bfloat16(x.bits); }
  static constexpr float epsilon = 1 / 128.f;
};

template <class T>
arrays<T> enqueue_halves(const fr::team& t, std::size_t count) {
  arrays<T> all;
  for (std::size_t m = 0; m < t.local_size(); ++m) {
    std::vector<T> values;
    for (const float x : given_by<float>(t.first_local() + m, count)) values.push_back(half_format<T>::of(x));
    all.push_back(fr::device_array<T>::from(values, t.device(t.first_local() + m)));
  }
  return all;
}

template <class T, class Op>
void check_half_reductions(const fr::team& t, std::size_t n, const Op& op) {
  const float most = std::is_same_v<Op, fr::average> ? 32 * half_format<T>::epsilon : 0;
  const auto check = [&](const fr::device_array<T>& found, std::size_t first, const char* what, std::size_t rank) {
    const std::vector<T> values = fr::to_vector(found);
    for (std::size_t i = 0; i < values.size(); ++i) {
      const float is = half_format<T>::value(values[i]), expected = combined<float>(t.size(), first + i, op);
      if (!(std::abs(is - expected) <= most))
        BOOST_ERROR(what << " at rank " << rank << ", element " << i << ": " << is << " instead of " << expected);
    }
  };
  auto a = enqueue_halves<T>(t, n);
  fr::all_reduce(t, a, op);
  for (std::size_t m = 0; m < t.local_size(); ++m) check(a[m], 0, "all_reduce", t.first_local() + m);
  const auto b = enqueue_halves<T>(t, n * t.size());
  auto parts = enqueue_halves<T>(t, n);
  fr::reduce_scatter(t, b, parts, op);
  for (std::size_t m = 0; m < t.local_size(); ++m)
    check(parts[m], (t.first_local() + m) * n, "reduce_scatter", t.first_local() + m);
}

// On a team of at most four, so that products are integers that both formats represent.
template <class T>
void check_halves(const fr::team& t, std::size_t n) {
  check_half_reductions<T>(t, n, fr::plus{});
  check_half_reductions<T>(t, n, fr::multiplies{});
  check_half_reductions<T>(t, n, fr::minimum{});
  check_half_reductions<T>(t, n, fr::maximum{});
  check_half_reductions<T>(t, n, fr::minimum_number{});
  check_half_reductions<T>(t, n, fr::maximum_number{});
  check_half_reductions<T>(t, n, fr::average{});
}

// For floating-point types of every size.
inline void check_special_values_of_floats(const fr::team& t) {
  check_special_values<float>(t);
  check_special_values<double>(t);
  check_special_values<__half>(t, half_format<__half>::of, half_format<__half>::value);
  check_special_values<__nv_bfloat16>(t, half_format<__nv_bfloat16>::of, half_format<__nv_bfloat16>::value);
}

}  // namespace collectives
