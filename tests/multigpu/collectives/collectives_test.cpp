// Results of every collective: exact for integers, within error bounds otherwise.
#include <complex>

#include "cases.hpp"
#include "halves.hpp"
#include "transport/collective_math.hpp"

using namespace collectives;

BOOST_AUTO_TEST_SUITE(collectives_of_a_process)

// On the available devices, with every type.
BOOST_AUTO_TEST_CASE(on_this_machine) {
  for (std::size_t ranks = 1; ranks <= fr::devices().size(); ++ranks) {
    const fr::team t = first_devices(ranks);
    for (const std::size_t n : {1u, 3u, 1000u}) {
      check_type<std::int8_t>(t, n);
      check_type<std::uint8_t>(t, n);
      check_type<int>(t, n);
      check_type<unsigned>(t, n);
      check_type<long>(t, n);
      check_type<unsigned long long>(t, n);
      check_type<float>(t, n);
      check_type<double>(t, n);
      check_ring(t, n);
    }
    check_type<float>(t, 300'001);
    check_type<int>(t, 0);
  }
}

BOOST_AUTO_TEST_CASE(numbers_of_16_bits) {
  for (std::size_t ranks = 1; ranks <= std::min<std::size_t>(4, fr::devices().size()); ++ranks)
    for (const std::size_t n : {1u, 3u, 1000u}) {
      check_halves<__half>(first_devices(ranks), n);
      check_halves<__nv_bfloat16>(first_devices(ranks), n);
    }
}

BOOST_AUTO_TEST_CASE(nan_and_zeros_of_both_signs) {
  for (std::size_t ranks = 1; ranks <= std::min<std::size_t>(4, fr::devices().size()); ++ranks)
    check_special_values_of_floats(first_devices(ranks));
}

// Members' operations are delayed, and run in a random order that CUDA allows.
BOOST_AUTO_TEST_CASE(under_random_schedules) {
  for (int seed = 0; seed < 40; ++seed) {
    fr::simulation runtime("devices=4;peers=none;schedule=random:" + std::to_string(seed));
    const fr::team t = first_devices(1 + static_cast<std::size_t>(seed) % 4);
    BOOST_TEST_CONTEXT("seed " << seed) {
      check_type<int>(t, 5);
      check_reductions<double>(t, 3, fr::average{});
      check_ring(t, 4);
    }
  }
}

BOOST_AUTO_TEST_CASE(many_members) {
  const fr::simulation runtime("devices=11;schedule=random:1");
  const fr::team t = fr::team::all();
  BOOST_REQUIRE(t.size() == 11u);
  check_type<int>(t, 5);
  check_ring(t, 4);
}

// Other types are moved unchanged.
BOOST_AUTO_TEST_CASE(types_that_are_only_moved) {
  struct point {
    float x, y, z;
    bool operator==(const point&) const = default;
  };
  const fr::team t = fr::team::all();
  std::vector<fr::device_array<point>> a;
  for (std::size_t m = 0; m < t.size(); ++m)
    a.push_back(fr::device_array<point>::from(std::vector<point>(5, point{1, 2, static_cast<float>(m)}), t.device(m)));
  fr::broadcast(t, a, t.size() - 1);
  for (auto& x : a) BOOST_TEST((fr::to_vector(x) == fr::to_vector(a.back())));
  check_moves<std::int16_t>(t, 7);
  check_moves<std::complex<double>>(t, 7);
}

// Arrays of all kinds, views of larger arrays, scalars.
BOOST_AUTO_TEST_CASE(kinds_views_and_scalars) {
  const fr::team t = fr::team::all();
  const std::size_t ranks = t.size();
  auto u = give<float, fr::memory_kind::unified>(t, 100);
  fr::all_reduce(t, u, fr::plus{});
  auto h = give<float, fr::memory_kind::host>(t, 100);
  fr::all_reduce(t, h, fr::plus{});
  for (std::size_t i = 0; i < 100; ++i)
    for (std::size_t m = 0; m < ranks; ++m) {
      BOOST_TEST(u[m][i] == combined<float>(ranks, i, fr::plus{}));
      BOOST_TEST(h[m][i] == combined<float>(ranks, i, fr::plus{}));
    }

  fr::unified_array<int, 2> field({2 * ranks, 10}, 3);  // each member has two rows
  std::vector<fr::array_view<int, 2, fr::memory_kind::unified>> rows;
  for (std::size_t m = 0; m < ranks; ++m) rows.push_back(field.slice({2 * m, 2 * m + 1}));
  fr::all_reduce(t, rows, fr::plus{});
  for (std::size_t i = 0; i < 2 * ranks; ++i) BOOST_TEST(field(i, 4) == (i % 2 == 0 ? 3 * static_cast<int>(ranks) : 3));

  std::vector<fr::scalar<double>> parts;
  for (std::size_t m = 0; m < ranks; ++m) {
    parts.emplace_back(t.device(m));
    fr::fill(t[m], parts.back().as_array(), static_cast<double>(m + 1));
  }
  fr::all_reduce(t, parts, fr::maximum{});
  for (const auto& p : parts) BOOST_TEST(p.value() == static_cast<double>(ranks));
}

// Sums of numbers of any magnitude: the error is at most that of sequential addition.
BOOST_AUTO_TEST_CASE(sums_of_floats_are_within_bounds) {
  const fr::team t = fr::team::all();
  const std::size_t n = 10'000;
  std::mt19937 dice(7);
  std::normal_distribution<float> any;
  std::vector<std::vector<float>> values(t.size(), std::vector<float>(n));
  std::vector<fr::device_array<float>> a;
  for (std::size_t m = 0; m < t.size(); ++m) {
    for (float& v : values[m]) v = std::exp(4 * any(dice)) * any(dice);
    a.push_back(fr::device_array<float>::from(values[m], t.device(m)));
  }
  fr::all_reduce(t, a, fr::plus{});
  const std::vector<float> first = fr::to_vector(a[0]);
  for (auto& x : a) BOOST_TEST((fr::to_vector(x) == first));  // identical on all members
  for (std::size_t i = 0; i < n; ++i) {
    double sum = 0, size = 0;
    for (const auto& v : values) sum += v[i], size += std::abs(double{v[i]});
    const double bound = static_cast<double>(t.size()) * std::numeric_limits<float>::epsilon() / 2 * size;
    if (std::abs(first[i] - sum) > bound) BOOST_ERROR(first[i] << " instead of " << sum << ", bound " << bound);
  }
}

// Integers wrap, as on devices.
BOOST_AUTO_TEST_CASE(integers_wrap) {
  const fr::team t = fr::team::all();
  if (t.size() < 2) return check_reductions<int>(t, 5, fr::plus{});
  const int most = std::numeric_limits<int>::max();
  auto a = filled<int>(t, 3, 0);
  fr::fill(a[0], most);
  fr::fill(a[1], 1);
  fr::all_reduce(t, a, fr::plus{});
  BOOST_TEST((fr::to_vector(a.front()) == std::vector<int>(3, std::numeric_limits<int>::min())));
}

BOOST_AUTO_TEST_CASE(halves_round_to_nearest_even) {
  for (std::uint32_t bits = 0; bits < 65536; ++bits) {
    const auto h = static_cast<std::uint16_t>(bits);
    const float f = fr::detail::from_float16(h), g = fr::detail::from_bfloat16(h);
    if (!std::isnan(f)) BOOST_REQUIRE(fr::detail::to_float16(f) == h);
    if (!std::isnan(g)) BOOST_REQUIRE(fr::detail::to_bfloat16(g) == h);
    const float next = fr::detail::from_float16(static_cast<std::uint16_t>(bits + 1));
    if ((bits & 0x7fff) < 0x7bff) {
      const float middle = (f + next) / 2;
      BOOST_REQUIRE(fr::detail::to_float16(middle) == (bits % 2 == 0 ? bits : bits + 1));
    }
  }
  BOOST_TEST(fr::detail::to_float16(65520.f) == 0x7c00);
  BOOST_TEST(fr::detail::to_float16(65519.f) == 0x7bff);
  BOOST_TEST(std::isnan(fr::detail::from_float16(fr::detail::to_float16(std::nanf("")))));
  BOOST_TEST(std::isnan(fr::detail::from_bfloat16(fr::detail::to_bfloat16(std::nanf("")))));
}

BOOST_AUTO_TEST_CASE(nothing_is_left_behind) {
  fr::detail::backend& backend = fr::runtime::current().backend();
  const int last = static_cast<int>(fr::devices().size()) - 1, before = backend.exchange_current_device(last);
  const std::size_t arrays = fr::runtime::current().allocations();
  {
    const fr::team t = fr::team::all();
    auto a = give<float>(t, 1000);
    fr::all_reduce(t, a, fr::plus{});
    check_ring(t, 10);
  }
  BOOST_TEST(backend.exchange_current_device(before) == last);
  BOOST_TEST(fr::runtime::current().allocations() == arrays);
}

BOOST_AUTO_TEST_SUITE_END()
