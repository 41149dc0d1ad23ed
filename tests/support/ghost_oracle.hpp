// Ghost cells of an array in plain memory of the CPU, set cell by cell, and random boundary conditions for it.
#pragma once
#include <algorithm>
#include <array>
#include <cstddef>
#include <random>
#include <type_traits>
#include <vector>

#include <ferry/core.hpp>

namespace ghost_oracle {

namespace fr = ferry;

template <std::size_t Rank>
using index = std::array<std::ptrdiff_t, Rank>;

// An array of n cells and w ghost cells at each end of each axis. Indices of ghost cells are negative, or n and more.
template <class T, std::size_t Rank>
struct padded {
  index<Rank> n{}, w{};
  std::vector<T> cells;

  padded(const index<Rank>& inside, const index<Rank>& widths, T ghosts)
      : n(inside),
        w(widths),
        cells(extents().count(), ghosts) {}
  fr::extents<Rank> extents() const {
    fr::extents<Rank> e;
    for (std::size_t d = 0; d != Rank; ++d) e[d] = static_cast<std::size_t>(n[d] + 2 * w[d]);
    return e;
  }
  T get(const index<Rank>& at) const { return cells[place(at)]; }
  void set(const index<Rank>& at, T value) { cells[place(at)] = value; }
  bool is_beyond(const index<Rank>& at, std::size_t d) const { return at[d] < 0 || at[d] >= n[d]; }
  bool is_inside(const index<Rank>& at) const {
    for (std::size_t d = 0; d != Rank; ++d)
      if (is_beyond(at, d)) return false;
    return true;
  }
  template <class F>
  void for_each(F f) const {
    index<Rank> at;
    for (std::size_t i = 0; i != cells.size(); ++i) {
      std::size_t rest = i;
      for (std::size_t d = Rank; d-- > 0;) {
        const auto e = static_cast<std::size_t>(n[d] + 2 * w[d]);
        at[d] = static_cast<std::ptrdiff_t>(rest % e) - w[d], rest /= e;
      }
      f(at);
    }
  }

 private:
  std::size_t place(const index<Rank>& at) const {
    std::size_t p = 0;
    for (std::size_t d = 0; d != Rank; ++d)
      p = p * static_cast<std::size_t>(n[d] + 2 * w[d]) + static_cast<std::size_t>(at[d] + w[d]);
    return p;
  }
};

enum class kind { fixed, zero_gradient, even, odd, periodic, loop };
// One boundary condition at some sides, or at all.
template <class T>
struct step {
  kind what;
  bool all;
  std::vector<fr::side> sides;
  T value;
  fr::side_list list() const {
    if (all) return fr::all_sides;
    fr::side_list some(fr::side::low(0));
    some.sides = sides;
    return some;
  }
};

template <class T>
T negated(const T& x) {
  if constexpr (std::is_same_v<T, bool> || requires { x.of; })
    return x;
  else
    return static_cast<T>(-x);
}
template <class T>
T tripled(const T& x) {
  if constexpr (std::is_same_v<T, bool> || requires { x.of; })
    return x;
  else
    return static_cast<T>(T(3) * x + T(1));
}

// Sets the ghost cells as a step says. Along axes that are periodic in the layout, cells beyond the ends are halos.
template <class T, std::size_t Rank>
void apply(padded<T, Rank>& a, const step<T>& s, const std::array<bool, Rank>& is_periodic = {}) {
  for (std::size_t d = 0; d != Rank; ++d)
    for (const fr::side_end end : {fr::side_end::low, fr::side_end::high}) {
      const fr::side here{static_cast<std::ptrdiff_t>(d), end};
      if (is_periodic[d] || (!s.all && std::find(s.sides.begin(), s.sides.end(), here) == s.sides.end())) continue;
      a.for_each([&](index<Rank> at) {
        const std::ptrdiff_t n = a.n[d];
        if (end == fr::side_end::low ? at[d] >= 0 : at[d] < n) return;
        for (std::size_t e = d + 1; e < Rank; ++e)
          if (a.is_beyond(at, e) && !is_periodic[e]) return;
        index<Rank> from = at;
        const bool low = end == fr::side_end::low;
        if (s.what == kind::zero_gradient) from[d] = low ? 0 : n - 1;
        if (s.what == kind::even || s.what == kind::odd) from[d] = low ? -1 - at[d] : 2 * n - 1 - at[d];
        if (s.what == kind::periodic) from[d] += low ? n : -n;
        T value = s.what == kind::fixed ? s.value : a.get(from);
        if (s.what == kind::odd) value = negated(value);
        if (s.what == kind::loop) value = tripled(value);
        a.set(at, value);
      });
    }
}
// Copies cells beyond periodic axes, as an exchange of halos does.
template <class T, std::size_t Rank>
void wrap(padded<T, Rank>& a, const std::array<bool, Rank>& is_periodic) {
  for (std::size_t d = 0; d != Rank; ++d)
    if (is_periodic[d])
      a.for_each([&](index<Rank> at) {
        index<Rank> from = at;
        if (a.is_beyond(at, d)) from[d] += at[d] < 0 ? a.n[d] : -a.n[d];
        a.set(at, a.get(from));
      });
}

// Runs a step of ready-made conditions on an array of any form.
template <class A, class T>
void run(A& a, const step<T>& s, const fr::ghost_widths& widths) {
  const auto cells = fr::ghosts(a, s.list(), widths);
  switch (s.what) {
    case kind::fixed: return fr::fill(cells, fr::fixed_value{s.value});
    case kind::zero_gradient: return fr::fill(cells, fr::zero_gradient{});
    case kind::even: return fr::fill(cells, fr::reflecting{});
    case kind::odd: return fr::fill(cells, fr::reflecting{fr::parity::odd});
    case kind::periodic: return fr::fill(cells, fr::periodic{});
    case kind::loop: break;
  }
}

// Some sides of the axes for which allowed[d]; possibly none. w: widths of the layer.
template <class T, std::size_t Rank>
step<T> any_step(std::mt19937_64& random, kind what, const std::array<bool, Rank>& allowed, const index<Rank>& w,
                 T value) {
  step<T> s{what, random() % 2 == 0 && w != index<Rank>{}, {}, value};
  for (std::size_t d = Rank; d-- > 0;)  // in another order than that of the axes
    for (const fr::side& one : {fr::side::high(d), fr::side::low(d)})
      if (!s.all && allowed[d] && random() % 2 == 0) s.sides.push_back(one);
  return s;
}

}  // namespace ghost_oracle
