// Shared by the tests of collectives: arrays for this process's members, their contents, and the expected results.
#pragma once
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <random>
#include <type_traits>
#include <vector>

#include "contract/fixture.hpp"
#include "ferry/multigpu.hpp"

namespace collectives {

namespace fr = ferry;
using contract::check_error;
using contract::needs_devices;

// Element i of rank r's input: small integers, so that sums and products over few ranks are exact in every type. Some
// are negative, because transports may round averages of negative numbers differently.
template <class T>
T given(std::size_t r, std::size_t i) {
  const auto value = static_cast<int>((r * 7 + i * 3 + i / 5) % 4 + 1);
  return static_cast<T>(std::is_signed_v<T> && (r + i / 2) % 3 == 0 ? -value : value);
}
template <class T>
std::vector<T> given_by(std::size_t rank, std::size_t count) {
  std::vector<T> v(count);
  for (std::size_t i = 0; i < count; ++i) v[i] = given<T>(rank, i);
  return v;
}

// One array per member of this process, filled with given_by(rank, count) or with one value.
template <class T, fr::memory_kind Kind = fr::memory_kind::device>
using arrays = std::vector<fr::basic_array<T, 1, Kind>>;
template <class T, fr::memory_kind Kind = fr::memory_kind::device>
arrays<T, Kind> give(const fr::team& t, std::size_t count) {
  arrays<T, Kind> all;
  for (std::size_t m = 0; m < t.local_size(); ++m)
    all.push_back(
        fr::basic_array<T, 1, Kind>::from(given_by<T>(t.first_local() + m, count), t.device(t.first_local() + m)));
  return all;
}
template <class T, fr::memory_kind Kind = fr::memory_kind::device>
arrays<T, Kind> filled(const fr::team& t, std::size_t count, T value) {
  arrays<T, Kind> all;
  for (std::size_t m = 0; m < t.local_size(); ++m)
    all.emplace_back(fr::extents<1>{count}, value, t.device(t.first_local() + m));
  return all;
}

// The oracle: element i of all ranks, combined in rank order.
template <class T, class Op>
T combined(std::size_t ranks, std::size_t i, const Op& op) {
  using U = std::conditional_t<std::is_floating_point_v<T>, T, std::int64_t>;
  U sum = static_cast<U>(given<T>(0, i));
  for (std::size_t r = 1; r < ranks; ++r) {
    const auto x = static_cast<U>(given<T>(r, i));
    if constexpr (std::is_same_v<Op, fr::average>)
      sum += x;
    else
      sum = op(sum, x);
  }
  if constexpr (std::is_same_v<Op, fr::average>) sum /= static_cast<U>(ranks);
  return static_cast<T>(sum);
}

// Printable form: small integers are not printed as characters.
template <class T>
auto printed(const std::vector<T>& v) {
  if constexpr (sizeof(T) == 1)
    return std::vector<int>(v.begin(), v.end());
  else
    return v;
}
template <class View, class T>
void check_is(const View& found, const std::vector<T>& expected, const char* what, std::size_t rank) {
  const std::vector<T> values = fr::to_vector(found);
  if (values == expected) return;
  BOOST_TEST_CONTEXT(what << " at rank " << rank) CHECK_EQUAL(printed(values), printed(expected));
}

// Averages that do not divide evenly are rounded, and may be computed with a factor.
template <class T, class Op>
void check_near(const fr::device_array<T>& found, const std::vector<T>& expected, const Op&, const char* what,
                std::size_t rank) {
  if constexpr (std::is_same_v<Op, fr::average> && std::is_floating_point_v<T>) {
    const std::vector<T> values = fr::to_vector(found);
    for (std::size_t i = 0; i < values.size(); ++i)
      if (std::abs(values[i] - expected[i]) > 32 * std::numeric_limits<T>::epsilon())
        BOOST_ERROR(what << " at rank " << rank << ": " << values[i] << " instead of " << expected[i]);
  } else {
    check_is(found, expected, what, rank);
  }
}

// Every collective in turn, with one type and count, on all ranks of the team.
template <class T>
void check_moves(const fr::team& t, std::size_t n) {
  const std::size_t ranks = t.size(), first = t.first_local(), here = t.local_size();
  std::vector<T> in_order, of_root;
  for (std::size_t r = 0; r < ranks; ++r)
    for (std::size_t i = 0; i < n; ++i) in_order.push_back(given<T>(r, i));

  for (const std::size_t root : {std::size_t{0}, ranks - 1}) {
    auto a = give<T>(t, n);
    fr::broadcast(t, a, root);
    for (std::size_t m = 0; m < here; ++m) check_is(a[m], given_by<T>(root, n), "broadcast", first + m);

    auto b = give<T>(t, n);
    fr::device_array<T> all({n * ranks}, T(77), t.device(t.is_local(root) ? root : first));
    fr::gather(t, b, all, root);
    check_is(all, t.is_local(root) ? in_order : std::vector<T>(n * ranks, T(77)), "gather", root);

    const auto whole =
        fr::device_array<T>::from(given_by<T>(root, n * ranks), t.device(t.is_local(root) ? root : first));
    auto c = filled<T>(t, n, T(77));
    fr::scatter(t, whole, c, root);
    for (std::size_t m = 0; m < here; ++m) {
      const auto expected = given_by<T>(root, n * ranks);
      const auto begin = expected.begin() + static_cast<std::ptrdiff_t>((first + m) * n);
      check_is(c[m], std::vector<T>(begin, begin + static_cast<std::ptrdiff_t>(n)), "scatter", first + m);
    }
  }

  const auto a = give<T>(t, n);
  auto b = filled<T>(t, n * ranks, T(77));
  fr::all_gather(t, a, b);
  for (std::size_t m = 0; m < here; ++m) check_is(b[m], in_order, "all_gather", first + m);

  auto c = filled<T>(t, n * ranks, T(77));
  for (std::size_t m = 0; m < here; ++m) {
    const std::size_t r = first + m;
    fr::copy(std::as_const(a[m]), c[m].slice({r * n, (r + 1) * n}));
  }
  fr::all_gather(t, c);
  for (std::size_t m = 0; m < here; ++m) check_is(c[m], in_order, "all_gather in place", first + m);

  const auto d = give<T>(t, n * ranks);
  auto e = filled<T>(t, n * ranks, T(77));
  fr::all_to_all(t, d, e);
  for (std::size_t m = 0; m < here; ++m) {
    std::vector<T> expected;
    for (std::size_t r = 0; r < ranks; ++r)
      for (std::size_t i = 0; i < n; ++i) expected.push_back(given<T>(r, (first + m) * n + i));
    check_is(e[m], expected, "all_to_all", first + m);
  }
}

template <class T, class Op>
void check_reductions(const fr::team& t, std::size_t n, const Op& op) {
  const std::size_t ranks = t.size(), first = t.first_local(), here = t.local_size();
  std::vector<T> all;
  for (std::size_t i = 0; i < n * ranks; ++i) all.push_back(combined<T>(ranks, i, op));
  const std::vector<T> some(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(n));

  auto a = give<T>(t, n);
  auto b = filled<T>(t, n, T(77));
  fr::all_reduce(t, a, b, op);
  for (std::size_t m = 0; m < here; ++m) check_near(b[m], some, op, "all_reduce", first + m);
  for (std::size_t m = 0; m < here; ++m) check_is(a[m], given_by<T>(first + m, n), "source of all_reduce", first + m);
  fr::all_reduce(t, a, op);
  for (std::size_t m = 0; m < here; ++m) check_near(a[m], some, op, "all_reduce in place", first + m);

  const std::size_t root = ranks / 2;
  auto c = give<T>(t, n);
  fr::device_array<T> one({n}, T(77), t.device(t.is_local(root) ? root : first));
  fr::reduce(t, c, one, op, root);
  if (t.is_local(root)) check_near(one, some, op, "reduce", root);
  fr::reduce(t, c, op, root);
  for (std::size_t m = 0; m < here; ++m)
    check_near(c[m], first + m == root ? some : given_by<T>(first + m, n), op, "reduce in place", first + m);

  const auto d = give<T>(t, n * ranks);
  auto e = filled<T>(t, n, T(77));
  fr::reduce_scatter(t, d, e, op);
  auto f = give<T>(t, n * ranks);
  fr::reduce_scatter(t, f, op);
  for (std::size_t m = 0; m < here; ++m) {
    const std::size_t r = first + m;
    const auto begin = all.begin() + static_cast<std::ptrdiff_t>(r * n);
    const std::vector<T> share(begin, begin + static_cast<std::ptrdiff_t>(n));
    check_near(e[m], share, op, "reduce_scatter", r);
    fr::device_array<T> kept({n}, t.device(r));
    fr::copy(std::as_const(f[m]).slice({r * n, (r + 1) * n}), kept);
    check_near(kept, share, op, "reduce_scatter in place", r);
  }
}

template <class T>
void check_type(const fr::team& t, std::size_t n) {
  check_moves<T>(t, n);
  check_reductions<T>(t, n, fr::plus{});
  check_reductions<T>(t, n, fr::multiplies{});
  check_reductions<T>(t, n, fr::minimum{});
  check_reductions<T>(t, n, fr::maximum{});
  check_reductions<T>(t, n, fr::minimum_number{});
  check_reductions<T>(t, n, fr::maximum_number{});
  check_reductions<T>(t, n, fr::average{});
}

// Minima and maxima where some values are NaN, infinite, or zeros of both signs. Element i of rank r is one of a few
// values, in all combinations over the ranks. `of` and `value` convert from and to float.
template <class T, class Of, class Value>
void check_special_values(const fr::team& t, Of of, Value value) {
  constexpr float nan = std::numeric_limits<float>::quiet_NaN(), inf = std::numeric_limits<float>::infinity();
  constexpr std::array some{0.0f, -0.0f, nan, 1.5f, -2.0f, inf, -inf};
  const std::size_t ranks = t.size(), first = t.first_local(), here = t.local_size(), n = 7 * 49 * ranks;
  const auto given = [&](std::size_t r, std::size_t i) {
    for (std::size_t k = 0; k < r % 3; ++k) i /= some.size();
    return some[(i + r / 3) % some.size()];
  };
  // The oracle, by cases.
  const auto expected = [&](std::size_t i, bool least, bool numbers) {
    float best = nan;
    bool any = false;
    for (std::size_t r = 0; r < ranks; ++r) {
      const float x = given(r, i);
      if (std::isnan(x) && numbers) continue;
      if (std::isnan(x)) return nan;
      const bool below = x < best || (x == best && std::signbit(x) && !std::signbit(best));
      const bool above = x > best || (x == best && !std::signbit(x) && std::signbit(best));
      if (!any || (least ? below : above)) best = x;
      any = true;
    }
    return best;
  };
  const auto check = [&](const auto& found, std::size_t at, bool least, bool numbers, const char* what) {
    const std::vector<T> values = fr::to_vector(found);
    for (std::size_t i = 0; i < values.size(); ++i) {
      const float is = value(values[i]), must = expected(at + i, least, numbers);
      const bool same = std::isnan(must) ? std::isnan(is) : is == must && std::signbit(is) == std::signbit(must);
      if (!same) BOOST_ERROR(what << ", element " << at + i << ": " << is << " instead of " << must);
    }
  };
  const auto enqueue_all = [&] {
    arrays<T> all;
    for (std::size_t m = 0; m < here; ++m) {
      std::vector<T> v;
      for (std::size_t i = 0; i < n; ++i) v.push_back(of(given(first + m, i)));
      all.push_back(fr::device_array<T>::from(v, t.device(first + m)));
    }
    return all;
  };
  const auto check_op = [&](const auto& op, bool least, bool numbers) {
    auto a = enqueue_all();
    arrays<T> b, shares;
    for (std::size_t m = 0; m < here; ++m) {
      b.emplace_back(fr::extents<1>{n}, t.device(first + m));
      shares.emplace_back(fr::extents<1>{n / ranks}, t.device(first + m));
    }
    fr::all_reduce(t, a, b, op);
    for (auto& x : b) check(x, 0, least, numbers, "all_reduce");
    fr::reduce_scatter(t, a, shares, op);
    for (std::size_t m = 0; m < here; ++m)
      check(shares[m], (first + m) * (n / ranks), least, numbers, "reduce_scatter");
    const std::size_t root = ranks - 1;
    fr::reduce(t, a, op, root);
    if (t.is_local(root)) check(a[root - first], 0, least, numbers, "reduce");
    a = enqueue_all();
    fr::all_reduce(t, a, op);
    for (auto& x : a) check(x, 0, least, numbers, "all_reduce in place");
  };
  check_op(fr::minimum{}, true, false);
  check_op(fr::maximum{}, false, false);
  check_op(fr::minimum_number{}, true, true);
  check_op(fr::maximum_number{}, false, true);
}
template <class T>
void check_special_values(const fr::team& t) {
  check_special_values<T>(
      t, [](float x) { return static_cast<T>(x); }, [](T x) { return static_cast<float>(x); });
}

// Neighbours in a ring exchange arrays that are written before and read after, grouped with a sum.
inline void check_ring(const fr::team& t, std::size_t n) {
  const std::size_t ranks = t.size(), first = t.first_local(), here = t.local_size();
  if (ranks < 2) return;
  const auto mine = give<int>(t, n);
  auto left = filled<int>(t, n, 77), right = filled<int>(t, n, 77);
  auto sums = give<double>(t, 1);
  fr::collective_group g(t);
  for (std::size_t m = 0; m < here; ++m) {
    const std::size_t r = first + m, before = (r + ranks - 1) % ranks, after = (r + 1) % ranks;
    g.send(mine[m], r, after).send(mine[m], r, before).receive(left[m], r, before).receive(right[m], r, after);
  }
  g.all_reduce(sums, fr::plus{}).submit();
  for (std::size_t m = 0; m < here; ++m) {
    const std::size_t r = first + m;
    // With two ranks both neighbours are the same rank, and its first send is the one to its right.
    check_is(left[m], given_by<int>((r + ranks - 1) % ranks, n), "ring, from the left", r);
    check_is(right[m], given_by<int>((r + 1) % ranks, n), "ring, from the right", r);
    check_is(sums[m], std::vector{combined<double>(ranks, 0, fr::plus{})}, "sum beside the ring", r);
  }
}

inline fr::team first_devices(std::size_t n) { return fr::team(fr::devices().subspan(0, n)); }

}  // namespace collectives
