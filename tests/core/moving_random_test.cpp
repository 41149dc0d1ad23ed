// Random shapes, views, indices and moves of all types, each against a plain loop over NumPy's rule, under random
// schedules with the race checker.
#include <algorithm>
#include <array>
#include <complex>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "expressions_fixture.hpp"
#include "ferry/core/moving.hpp"
#include "support/seeds.hpp"

namespace moving_random {
namespace {

using namespace expressions_test;
using dice = std::mt19937_64;

std::size_t below(dice& d, std::size_t n) { return d() % n; }

// Elements in row-major order, with their shape.
template <class V, std::size_t Rank>
struct table {
  fr::extents<Rank> shape;
  std::vector<V> values;
  V at(const std::array<std::size_t, Rank>& i) const {
    std::size_t n = 0;
    for (std::size_t d = 0; d != Rank; ++d) n = n * shape[d] + i[d];
    return values[n];
  }
};
// The element of a shape by a function of its indices.
template <std::size_t Rank, class F>
auto filled(const fr::extents<Rank>& shape, F f) {
  std::array<std::size_t, Rank> i{};
  table<decltype(f(i)), Rank> t{shape, {}};
  for (std::size_t n = 0; n != shape.count(); ++n) {
    std::size_t rest = n;
    for (std::size_t d = Rank; d-- > 0; rest /= shape[d]) i[d] = rest % shape[d];
    t.values.push_back(f(i));
  }
  return t;
}

template <class T, std::size_t Rank>
struct sample {
  fr::device_array<T, Rank> owner;
  fr::array_view<T, Rank, fr::memory_kind::device> view;
  auto content() const {
    const auto v = elements(view);
    return table<typename std::decay_t<decltype(v)>::value_type, Rank>{view.extents(), v};
  }
};
// A view that may be a slice, transposed, and reversed.
template <class T, std::size_t Rank>
sample<T, Rank> random_array(dice& d) {
  fr::extents<Rank> e;
  for (std::size_t k = 0; k != Rank; ++k) e[k] = 1 + below(d, Rank > 3 ? 3 : 6);
  if (below(d, 8) == 0) e[0] += 600;  // more than a block
  sample<T, Rank> s{fr::device_array<T, Rank>(e), {}};
  if constexpr (std::is_same_v<T, bool>)
    s.owner = fr::index(-1) % 2 == 0;
  else
    s.owner = counted<T>(e);
  s.view = s.owner;
  if (below(d, 2) != 0) s.view = fr::array_view<T, Rank, fr::memory_kind::device>(s.view.transpose());
  if (below(d, 3) == 0)
    s.view = fr::array_view<T, Rank, fr::memory_kind::device>(fr::flip(s.view, static_cast<int>(below(d, Rank))));
  if (s.view.extent(0) > 2 && below(d, 3) == 0)
    s.view = fr::array_view<T, Rank, fr::memory_kind::device>(s.view.slice({1, s.view.extent(0)}));
  return s;
}

// The expression alone, and as a part of a larger one.
template <class E, class V, std::size_t Rank>
void check(const E& e, const table<V, Rank>& want, const std::string& what) {
  BOOST_TEST((e.extents() == want.shape), what);
  BOOST_TEST((elements(e) == want.values), what);
}

std::ptrdiff_t modulo(std::ptrdiff_t a, std::size_t n) {
  const auto m = static_cast<std::ptrdiff_t>(n);
  return (a % m + m) % m;
}
// NumPy's padding, one step at a time.
std::size_t padded(std::ptrdiff_t i, std::size_t n, fr::pad_mode mode) {
  const auto last = static_cast<std::ptrdiff_t>(n) - 1;
  if (mode == fr::pad_mode::edge) return static_cast<std::size_t>(std::clamp<std::ptrdiff_t>(i, 0, last));
  if (mode == fr::pad_mode::wrap) return static_cast<std::size_t>(modulo(i, n));
  if (n == 1) return 0;
  while (i < 0 || i > last) {
    const std::ptrdiff_t extra = mode == fr::pad_mode::symmetric ? 1 : 0;
    i = i < 0 ? -i - extra : 2 * last - i + extra;
  }
  return static_cast<std::size_t>(i);
}

template <class T, std::size_t Rank>
void check_moves(dice& d) {
  const sample<T, Rank> s = random_array<T, Rank>(d);
  const auto& a = s.view;
  const auto from = s.content();
  const std::size_t axis = below(d, Rank), n = from.shape[axis];
  const int number = below(d, 2) != 0 ? static_cast<int>(axis) : static_cast<int>(axis) - static_cast<int>(Rank);
  const auto moved = [&](std::size_t extent, auto index) {
    fr::extents<Rank> shape = from.shape;
    shape[axis] = extent;
    return filled(shape, [&](std::array<std::size_t, Rank> i) {
      i[axis] = index(i[axis]);
      return from.at(i);
    });
  };
  const auto shift = static_cast<std::ptrdiff_t>(below(d, 15)) - 7;
  check(
      fr::roll(a, shift, number),
      moved(n,
            [&](std::size_t i) { return static_cast<std::size_t>(modulo(static_cast<std::ptrdiff_t>(i) - shift, n)); }),
      "roll");
  const std::size_t times = 1 + below(d, 3);
  check(fr::repeat(a, times, number), moved(n * times, [&](std::size_t i) { return i / times; }), "repeat");
  if constexpr (Rank == 2) {
    const std::size_t t0 = 1 + below(d, 3), t1 = 1 + below(d, 3);
    check(fr::tiled(a, {t0, t1}),
          filled(fr::extents<2>{from.shape[0] * t0, from.shape[1] * t1},
                 [&](auto i) {
                   return from.at({i[0] % from.shape[0], i[1] % from.shape[1]});
                 }),
          "tiled");
    const fr::pad_width w[] = {{below(d, 9), below(d, 9)}, {below(d, 9), below(d, 9)}};
    const fr::extents<2> shape{from.shape[0] + w[0].before + w[0].after, from.shape[1] + w[1].before + w[1].after};
    const auto place = [&](auto i, std::size_t k) {
      return static_cast<std::ptrdiff_t>(i[k]) - static_cast<std::ptrdiff_t>(w[k].before);
    };
    for (const auto mode : {fr::pad_mode::edge, fr::pad_mode::wrap, fr::pad_mode::reflect, fr::pad_mode::symmetric})
      check(
          fr::pad(a, {w[0], w[1]}, mode),
          filled(shape,
                 [&](auto i) {
                   return from.at({padded(place(i, 0), from.shape[0], mode), padded(place(i, 1), from.shape[1], mode)});
                 }),
          "pad " + std::to_string(static_cast<int>(mode)));
    using value = typename decltype(from.values)::value_type;
    check(fr::pad(a, {w[0], w[1]}, T(1)),
          filled(shape,
                 [&](auto i) {
                   const std::ptrdiff_t x = place(i, 0), y = place(i, 1);
                   const auto rows = static_cast<std::ptrdiff_t>(from.shape[0]);
                   const bool is_inside =
                       x >= 0 && y >= 0 && x < rows && y < static_cast<std::ptrdiff_t>(from.shape[1]);
                   return is_inside ? from.at({static_cast<std::size_t>(x), static_cast<std::size_t>(y)}) : value(T(1));
                 }),
          "pad");
  }
  const std::size_t part = below(d, n + 1);
  const auto at_axis = [&](fr::slice one) {
    auto v = a;
    fr::extents<Rank> e = v.extents();
    e[axis] = static_cast<std::size_t>(one.end - one.begin);
    T* const data = v.unsynchronized_data() + static_cast<std::ptrdiff_t>(one.begin) * v.strides()[axis];
    return fr::array_view<T, Rank, fr::memory_kind::device>(v.owner(), data, e, v.strides());
  };
  check(fr::concatenate(number, at_axis({part, n}), at_axis({0, part}), a),
        moved(2 * n, [&](std::size_t i) { return i < n ? (i + part) % n : i - n; }), "concatenate");
  if constexpr (Rank < 6) {
    const std::size_t side = below(d, Rank + 1);
    fr::extents<Rank + 1> shape;
    for (std::size_t k = 0; k != Rank + 1; ++k) shape[k] = k == side ? 2 : from.shape[k < side ? k : k - 1];
    const auto flipped = fr::flip(a, 0);
    check(fr::stack(static_cast<int>(side), a, flipped),
          filled(shape,
                 [&](auto i) {
                   std::array<std::size_t, Rank> k{};
                   for (std::size_t x = 0; x != Rank; ++x) k[x] = i[x < side ? x : x + 1];
                   if (i[side] == 1) k[0] = from.shape[0] - 1 - k[0];
                   return from.at(k);
                 }),
          "stack");
  }
}

template <class T, std::size_t Rank, std::size_t IndexRank, class Index>
void check_take(dice& d) {
  const sample<T, Rank> s = random_array<T, Rank>(d);
  const auto from = s.content();
  const std::size_t axis = below(d, Rank), n = std::min<std::size_t>(from.shape[axis], 100);
  fr::extents<IndexRank> e;
  for (std::size_t k = 0; k != IndexRank; ++k) e[k] = 1 + below(d, 5);
  std::vector<Index> values(e.count());
  for (Index& i : values) i = static_cast<Index>(below(d, n));
  if (std::is_signed_v<Index> && from.shape[axis] < 100)
    for (Index& i : values)
      if (below(d, 2) != 0) i = static_cast<Index>(i - static_cast<Index>(n));
  const auto indices = fr::device_array<Index, IndexRank>::from(std::span<const Index>(values), e);
  constexpr std::size_t rank = Rank - 1 + IndexRank;
  fr::extents<rank> shape;
  for (std::size_t k = 0; k != rank; ++k)
    shape[k] = k < axis ? from.shape[k] : k < axis + IndexRank ? e[k - axis] : from.shape[k + 1 - IndexRank];
  const auto want = filled(shape, [&](const std::array<std::size_t, rank>& i) {
    std::array<std::size_t, Rank> at{};
    std::size_t number = 0;
    for (std::size_t k = 0; k != IndexRank; ++k) number = number * e[k] + i[axis + k];
    for (std::size_t k = 0; k != Rank; ++k) at[k] = i[k < axis ? k : k - 1 + IndexRank < rank ? k - 1 + IndexRank : 0];
    const auto index = static_cast<std::ptrdiff_t>(values[number]);
    at[axis] = static_cast<std::size_t>(index < 0 ? index + static_cast<std::ptrdiff_t>(from.shape[axis]) : index);
    return from.at(at);
  });
  check(fr::take(s.view, indices, static_cast<int>(axis)), want, "take");
  // In another order of axes, where it is a part of a program.
  fr::extents<rank> reversed;
  for (std::size_t k = 0; k != rank; ++k) reversed[k] = shape[rank - 1 - k];
  fr::device_array<T, rank> turned{reversed};
  auto y = turned.transpose();
  y = fr::where(fr::index(0) >= 0, fr::take(s.view, indices, static_cast<int>(axis) - static_cast<int>(Rank)), y);
  BOOST_TEST((elements(y) == want.values));
}

// Dimensions of the array, of the indices, or of both have extent 1, and are stretched.
template <class T, std::size_t Rank, class Index>
void check_along(dice& d) {
  const std::size_t axis = below(d, Rank);
  fr::extents<Rank> a, i, all;
  for (std::size_t k = 0; k != Rank; ++k) {
    a[k] = i[k] = 1 + below(d, 5);
    if (k == axis)
      i[k] = 1 + below(d, 6);
    else if (const std::size_t one = below(d, 4); one < 2)
      (one == 0 ? a : i)[k] = 1;
    all[k] = k == axis ? i[k] : std::max(a[k], i[k]);
  }
  const bool is_turned = below(d, 2) != 0;
  fr::extents<Rank> turned;
  for (std::size_t k = 0; k != Rank; ++k) turned[k] = a[Rank - 1 - k];
  const auto owner = counted<T>(is_turned ? turned : a);
  fr::array_view<const T, Rank, fr::memory_kind::device> from = owner;
  if (is_turned) from = fr::array_view<const T, Rank, fr::memory_kind::device>(owner.transpose());
  const auto n = static_cast<std::ptrdiff_t>(a[axis]);
  std::vector<Index> values(i.count());
  for (Index& v : values)
    v = static_cast<Index>(static_cast<std::ptrdiff_t>(below(d, a[axis])) -
                           (std::is_signed_v<Index> && below(d, 2) != 0 ? n : 0));
  const auto content = elements(from);
  const table<typename std::decay_t<decltype(content)>::value_type, Rank> source{a, content};
  const table<Index, Rank> indices{i, values};
  const auto stretched = [](std::array<std::size_t, Rank> at, const fr::extents<Rank>& e) {
    for (std::size_t k = 0; k != Rank; ++k) at[k] = e[k] == 1 ? 0 : at[k];
    return at;
  };
  const auto want = filled(all, [&](const std::array<std::size_t, Rank>& at) {
    std::array<std::size_t, Rank> place = stretched(at, a);
    const auto index = static_cast<std::ptrdiff_t>(indices.at(stretched(at, i)));
    place[axis] = static_cast<std::size_t>(index < 0 ? index + n : index);
    return source.at(place);
  });
  check(fr::take_along_axis(from, fr::device_array<Index, Rank>::from(std::span<const Index>(values), i),
                            static_cast<int>(axis)),
        want, "take_along_axis");
}

}  // namespace
}  // namespace moving_random

BOOST_AUTO_TEST_SUITE(moving_random)

BOOST_AUTO_TEST_CASE(takes_of_all_types_and_ranks) {
  for (std::size_t seed = 0; seed != support::seeds(40); ++seed) {
    fr::simulation sim("devices=2;check=races;schedule=random:" + std::to_string(seed));
    dice d(seed);
    check_take<bool, 2, 1, std::int32_t>(d), check_take<std::int8_t, 1, 2, std::int64_t>(d);
    check_take<std::uint16_t, 3, 1, std::uint8_t>(d), check_take<int, 2, 2, std::int16_t>(d);
    check_take<std::int64_t, 1, 1, std::uint64_t>(d), check_take<fr::half, 2, 1, std::int32_t>(d);
    check_take<float, 4, 2, std::int32_t>(d), check_take<double, 6, 1, std::int64_t>(d);
    check_take<std::complex<float>, 2, 3, std::uint32_t>(d), check_take<std::complex<double>, 3, 1, std::int8_t>(d);
  }
}

BOOST_AUTO_TEST_CASE(one_element_for_each_index) {
  for (std::size_t seed = 0; seed != support::seeds(40); ++seed) {
    fr::simulation sim("devices=2;check=races;schedule=random:" + std::to_string(seed));
    dice d(seed);
    check_along<std::int8_t, 1, std::int64_t>(d), check_along<float, 2, int>(d);
    check_along<std::complex<double>, 3, std::int16_t>(d), check_along<double, 2, std::uint8_t>(d);
    check_along<fr::half, 5, std::int64_t>(d);
  }
}

BOOST_AUTO_TEST_CASE(moves_of_all_types_and_ranks) {
  for (std::size_t seed = 0; seed != support::seeds(40); ++seed) {
    fr::simulation sim("devices=2;check=races;schedule=random:" + std::to_string(seed));
    dice d(seed);
    check_moves<bool, 2>(d), check_moves<std::int16_t, 1>(d), check_moves<fr::bfloat16, 2>(d);
    check_moves<float, 3>(d), check_moves<double, 2>(d), check_moves<std::complex<double>, 2>(d);
    check_moves<std::uint8_t, 5>(d), check_moves<int, 6>(d);
  }
}

BOOST_AUTO_TEST_SUITE_END()
