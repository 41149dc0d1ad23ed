// as: host
// Copies of strided views, copies that convert numbers, and several copies as one, by all routes. Threads of the CPU
// copy pageable memory.
#include "contract/fixture.hpp"
#include "contract/small_chunks.hpp"

#include <algorithm>
#include <cstdint>
#include <random>
#include <span>
#include <string>
#include <vector>

using namespace contract;

BOOST_FIXTURE_TEST_SUITE(contract_of_routes, clean)

BOOST_AUTO_TEST_CASE(strided_views_in_parts) {
  const auto run = [](unsigned seed) {
    std::mt19937 random(seed);
    const auto below = [&](std::size_t n) { return static_cast<std::size_t>(random() % n); };
    const auto any_device = [&] { return fr::devices()[below(fr::devices().size())]; };
    for (int round = 0; round < 12; ++round) {
      const fr::extents<3> e{1 + below(9), 1 + below(9), 1 + below(9)};
      auto a = counted<int, 3, memory_kind::device>(e, any_device(), 100);
      fr::device_array<int, 3> b({e[2], e[1], e[0]}, -1, any_device());
      const auto slice = [&](std::size_t d) { return fr::slice{0, e[d], below(2) ? 1 : -1}; };
      const fr::slice i = slice(0), j = slice(1), k = slice(2);
      const auto turned = std::as_const(a).slice({i, j, k}).transpose();
      fr::copy(fr::stream(any_device()), turned, b);
      CHECK_EQUAL(fr::to_vector(b), fr::to_vector(turned));
      fr::copy(b.slice({0, e[2], -1}), a.transpose().slice({0, e[2], -1}));
      CHECK_EQUAL(fr::to_vector(a.transpose()), fr::to_vector(b));
      fr::device_array<double, 3> wide({e[2], e[1], e[0]}, any_device());
      fr::copy(a.transpose(), wide);
      const auto v = fr::to_vector(wide);
      CHECK_EQUAL(std::vector<int>(v.begin(), v.end()), fr::to_vector(b));
    }
  };
  for (unsigned seed = 0; seed < 3; ++seed) run(seed);
  for (unsigned seed = 0; seed < 20; ++seed) {
    const fr::simulation sim("devices=3;peers=0-1;schedule=random:" + std::to_string(seed));
    const small_chunks small;
    run(seed);
  }
}

BOOST_AUTO_TEST_CASE(numbers_are_converted) {
  const auto check = [](auto from, auto to, fr::device a, fr::device b) {
    using From = decltype(from);
    using To = decltype(to);
    const auto v = counting<From>(60, sizeof(From) == 1 ? 1 : 1000);
    std::vector<To> expected(v.size());
    std::transform(v.begin(), v.end(), expected.begin(), [](From x) { return static_cast<To>(x); });
    const auto source = fr::device_array<From, 2>::from(std::span<const From>(v), {6, 10}, a);
    fr::device_array<To, 2> target({6, 10}, b);
    fr::copy(source, target);
    CHECK_EQUAL(fr::to_vector(target), expected);
    fr::device_array<To, 2> turned({10, 6}, b);
    fr::copy(source.transpose(), turned.slice({{0, 10, -1}, {0, 6}}));
    for (std::size_t i = 0; i < 10; ++i)
      for (std::size_t j = 0; j < 6; ++j) BOOST_TEST(fr::to_vector(turned)[(9 - i) * 6 + j] == expected[j * 10 + i]);
    fr::host_array<To, 2> pinned({6, 10}, a);
    fr::copy(source, pinned);
    CHECK_EQUAL(fr::to_vector(pinned), expected);
    fr::unified_array<To, 2> unified({6, 10}, a);
    fr::copy(pinned, unified);
    CHECK_EQUAL(fr::to_vector(unified), expected);
    std::vector<To> memory(60);
    fr::copy(source, memory);
    CHECK_EQUAL(memory, expected);
    fr::copy(fr::stream(b), source.slice({0, 6, -1}), std::span(memory));
    for (std::size_t i = 0; i < 60; ++i) BOOST_TEST(memory[i] == expected[(5 - i / 10) * 10 + i % 10]);
    fr::fill(target, To{});
    fr::copy(v, target);
    CHECK_EQUAL(fr::to_vector(target), expected);
    fr::fill(target, To{});
    fr::copy(fr::stream(a), std::span<const From>(v), target.slice({0, 6, -1}));
    CHECK_EQUAL(fr::to_vector(target.slice({0, 6, -1})), expected);
    std::fill(memory.begin(), memory.end(), To{});
    fr::copy(v, memory);
    CHECK_EQUAL(memory, expected);
  };
  const auto all = [&](fr::device a, fr::device b) {
    check(float{}, double{}, a, b), check(double{}, float{}, a, b), check(std::int32_t{}, double{}, a, b);
    check(double{}, std::int16_t{}, a, b), check(std::uint8_t{}, float{}, a, b), check(std::int64_t{}, int{}, a, b);
    check(std::uint16_t{}, std::uint64_t{}, a, b), check(std::int8_t{}, std::int32_t{}, a, b);
    check(std::uint32_t{}, std::int8_t{}, a, b), check(float{}, std::uint16_t{}, a, b);
  };
  all(fr::devices().front(), fr::devices().back());
  for (const char* how : {"devices=2;peers=none", "devices=2;schedule=random:9"}) {
    const fr::simulation sim(how);
    all(fr::device(0), fr::device(1));
  }
}

BOOST_AUTO_TEST_CASE(many_copies_are_one) {
  const auto run = [](unsigned seed) {
    std::mt19937 random(seed);
    const auto below = [&](std::size_t n) { return static_cast<std::size_t>(random() % n); };
    const std::size_t devices = fr::devices().size();
    std::vector<fr::device_array<int>> arrays;
    std::vector<std::vector<int>> expected;
    for (int i = 0; i < 5; ++i) {
      expected.push_back(counting<int>(200, 1000 * i));
      arrays.push_back(fr::device_array<int>::from(expected.back(), fr::device(static_cast<int>(below(devices)))));
    }
    const fr::stream s{fr::device(static_cast<int>(below(devices)))};
    for (int round = 0; round < 10; ++round) {
      std::vector<fr::copy_task> tasks;
      for (std::size_t k = below(6); k-- > 0;) {
        const std::size_t a = below(5), b = below(5), n = below(60), x = below(140), y = below(140);
        const std::ptrdiff_t step = below(4) == 0 ? 2 : 1;
        tasks.emplace_back(std::as_const(arrays[a]).slice({x, x + n, step}), arrays[b].slice({y, y + n, step}));
        const std::vector<int> before = expected[a];
        for (std::size_t i = 0; i < n; i += static_cast<std::size_t>(step)) expected[b][y + i] = before[x + i];
      }
      fr::copy_many(s, tasks);
    }
    for (std::size_t i = 0; i < 5; ++i) CHECK_EQUAL(fr::to_vector(arrays[i]), expected[i]);
  };
  for (unsigned seed = 0; seed < 5; ++seed) run(seed);
  for (unsigned seed = 0; seed < 30; ++seed) {
    const fr::simulation sim("devices=3;peers=0-1;schedule=random:" + std::to_string(seed));
    const small_chunks small;
    run(seed);
  }
}

BOOST_AUTO_TEST_SUITE_END()
