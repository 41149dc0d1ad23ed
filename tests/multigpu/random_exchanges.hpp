// Random exchanges by plans, and the same reads in plain memory of the CPU.
#pragma once
#include <array>
#include <cstring>
#include <vector>

#include "ferry/multigpu/exchange_plan.hpp"
#include "multigpu/shards.hpp"

namespace exchanges {

namespace fr = ferry;

struct record {
  std::int16_t of[3];
  bool operator==(const record&) const = default;
};

template <class T>
T value_at(std::size_t i, std::size_t version) {
  const std::size_t x = (i * 7919 + version * 104729) % 10007;
  if constexpr (std::is_same_v<T, record>)
    return {{static_cast<std::int16_t>(x), static_cast<std::int16_t>(x / 2), static_cast<std::int16_t>(version)}};
  else
    return static_cast<T>(x);
}

// Reads by local numbers. Negative entries of the table read nothing.
template <class T>
struct read_line {
  FERRY_HOST_DEVICE void operator()(std::size_t i, std::size_t k, fr::shard_span<const int, 2> table,
                                    fr::gathered_span<const T, 1> u, fr::shard_span<T, 2> y) const {
    if (table(i, k) >= 0) y(i, k) = u(static_cast<std::size_t>(table(i, k)));
  }
};
struct read_rows {
  FERRY_HOST_DEVICE void operator()(std::size_t i, std::size_t k, fr::shard_span<const int, 2> table,
                                    fr::gathered_span<const float, 3> u, fr::shard_span<float, 2> y) const {
    if (table(i, k) >= 0) {
      float sum = 0;
      for (std::size_t a = 0; a < u.extent(1); ++a)
        for (std::size_t b = 0; b < u.extent(2); ++b)
          sum += static_cast<float>(a + 3 * b + 1) * u(static_cast<std::size_t>(table(i, k)), a, b);
      y(i, k) = sum;
    }
  }
};

// One table of indices, with the plan that it makes.
struct scene {
  std::size_t count, width;  // elements; indices a row
  std::vector<int> indices;  // of all rows
  fr::sharded_array<int, 2> table;
  fr::exchange_plan plan;

  template <class U>
  scene(shards::dice& d, const U& u)
      : count(u.extent(0)),
        width(d.between(1, 4)),
        table(u.team(), {d.between(0, 30), width}) {
    for (std::size_t i = 0; i != table.size(); ++i)
      indices.push_back(count == 0 || d.below(5) == 0 ? -1 : static_cast<int>(d.below(count)));
    fr::copy(std::span<const int>(indices), table);
    if (d.flip()) {
      plan = fr::exchange_plan(u, table);
    } else {
      std::vector<std::vector<std::size_t>> needed;
      for (std::size_t i = 0; i != u.team().local_size(); ++i) {
        const fr::box<2> own = table.layout().own(u.team().first_local() + i);
        needed.emplace_back();
        for (std::ptrdiff_t k = own.begin[0] * static_cast<std::ptrdiff_t>(width);
             k < own.end[0] * static_cast<std::ptrdiff_t>(width); ++k)
          if (const int x = indices[static_cast<std::size_t>(k)]; x >= 0)
            needed.back().push_back(static_cast<std::size_t>(x));
      }
      plan = fr::exchange_plan(u, needed);
    }
    plan.renumber(table);
  }
  template <class T, class At>
  std::vector<T> expected(T none, At at) const {
    std::vector<T> all;
    for (const int x : indices) all.push_back(x < 0 ? none : at(static_cast<std::size_t>(x)));
    return all;
  }
};

template <class T>
void set(fr::sharded_array<T, 1>& u, std::size_t version) {
  std::vector<T> all;
  for (std::size_t i = 0; i != u.size(); ++i) all.push_back(value_at<T>(i, version));
  fr::copy(std::span<const T>(all), u);
}

// Several exchanges of arrays of several types, which change in between, and change places.
template <class T>
void check_lines(shards::dice& d, const fr::team& t) {
  const std::size_t n = d.below(8) == 0 ? d.below(3) : d.between(1, 60);
  const fr::shard_options o{.halo = d.flip() && n >= t.size() ? 1 : 0};
  fr::sharded_array<T, 1> u(t, {n}, o), v(t, {n}, o);
  fr::sharded_array<std::int64_t, 1> w(t, {n});
  scene s(d, u);
  fr::sharded_array<T, 2> y(t, {s.table.extent(0), s.width});
  fr::sharded_array<std::int64_t, 2> z(t, {s.table.extent(0), s.width});
  std::array<std::size_t, 3> versions{}, seen{};
  for (int step = 0; step != 6; ++step) {
    const auto version = static_cast<std::size_t>(step + 1);
    if (d.flip() || step == 0) set(u, versions[0] = version);
    if (d.flip() || step == 0) set(v, versions[1] = version + 10);
    if (d.flip() || step == 0) set(w, versions[2] = version + 20);
    if (d.flip()) swap(u, v), std::swap(versions[0], versions[1]), std::swap(seen[0], seen[1]);
    if (d.flip() || step == 0) {
      s.plan.exchange(u, v, w), seen = versions;
    } else {
      s.plan.exchange(u), seen[0] = versions[0];
      s.plan.exchange(w), seen[2] = versions[2];
    }
    fr::fill(y, T{}), fr::fill(z, -5);
    fr::parallel_for(fr::owned(y), read_line<T>{}, fr::in(s.table), s.plan.reads(u), fr::inout(y));
    fr::parallel_for(fr::owned(z), read_line<std::int64_t>{}, fr::in(s.table), s.plan.reads(w), fr::inout(z));
    BOOST_TEST((fr::to_vector(y) == s.expected<T>(T{}, [&](std::size_t i) { return value_at<T>(i, versions[0]); })));
    BOOST_TEST((fr::to_vector(z) ==
                s.expected<std::int64_t>(-5, [&](std::size_t i) { return value_at<std::int64_t>(i, versions[2]); })));
  }
}

inline void check_rows(shards::dice& d, const fr::team& t) {
  const std::size_t n = d.between(1, 30), a = d.between(1, 3), b = d.between(0, 3);
  fr::sharded_array<float, 3> u(t, {n, a, b});
  std::vector<float> all;
  for (std::size_t i = 0; i != u.size(); ++i) all.push_back(static_cast<float>(d.below(100)));
  fr::copy(std::span<const float>(all), u);
  scene s(d, u);
  fr::sharded_array<float, 2> y(t, {s.table.extent(0), s.width}, {}, -1.f);
  s.plan.exchange(u);
  fr::parallel_for(fr::owned(y), read_rows{}, fr::in(s.table), s.plan.reads(u), fr::inout(y));
  BOOST_TEST((fr::to_vector(y) == s.expected<float>(-1.f, [&](std::size_t i) {
    float sum = 0;
    for (std::size_t j = 0; j != a; ++j)
      for (std::size_t k = 0; k != b; ++k) sum += static_cast<float>(j + 3 * k + 1) * all[(i * a + j) * b + k];
    return sum;
  })));
}

inline void check_all(std::size_t seed, const fr::team& t) {
  BOOST_TEST_CONTEXT("seed " << seed) {
    shards::dice d(seed);
    switch (d.below(4)) {
      case 0: check_lines<double>(d, t); break;
      case 1: check_lines<record>(d, t); break;
      case 2: check_lines<std::uint8_t>(d, t); break;
      case 3: check_lines<float>(d, t); break;
    }
    check_rows(d, t);
  }
}

}  // namespace exchanges
