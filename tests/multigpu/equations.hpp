// Jacobi's method, the heat equation and the wave equation by shift(), compared bit for bit with loops over CPU memory.
// All products are exact, so that compilers that contract multiply and add do not change the loops' results.
#pragma once
#include <cstring>
#include <vector>

#include "multigpu/shards.hpp"

namespace equations {

namespace fr = ferry;
using namespace shards;

template <class T>
using field = fr::sharded_array<T, 2>;

constexpr float rate = 0.125f;
constexpr float edge = 0.75f;  // cells beyond an edge that is not periodic

template <class T>
auto around(const field<T>& u) {
  return fr::shift(u, {-1, 0}) + fr::shift(u, {1, 0}) + fr::shift(u, {0, -1}) + fr::shift(u, {0, 1});
}

// The same cells in CPU memory.
template <class T>
class loops {
 public:
  loops(const fr::shard_layout<2>& l, std::vector<T> start) : layout_(l), u_(start), other_(start), source_(start) {}
  template <class Cell>
  void step(Cell cell) {
    for_each_index(layout_.whole(), [&](auto at) {
      const T sum = u(at, 0, -1) + u(at, 0, 1) + u(at, 1, -1) + u(at, 1, 1);
      const std::size_t k = offset(layout_.extents(), at);
      other_[k] = cell(u_[k], other_[k], source_[k], sum);
    });
    u_.swap(other_);
  }
  const std::vector<T>& cells() const { return u_; }

 private:
  T u(std::array<std::ptrdiff_t, 2> at, std::size_t axis, std::ptrdiff_t by) const {
    at[axis] += by;
    return wrap(layout_, at) ? u_[offset(layout_.extents(), at)] : T(edge);
  }
  const fr::shard_layout<2>& layout_;
  std::vector<T> u_, other_, source_;
};

template <class T>
void check_bits(const field<T>& found, const std::vector<T>& expected, const char* what) {
  const std::vector<T> cells = fr::to_vector(found);
  BOOST_TEST_REQUIRE(cells.size() == expected.size());
  BOOST_TEST(std::memcmp(cells.data(), expected.data(), cells.size() * sizeof(T)) == 0,
             what << " differs from the loops: " << found.layout().text());
}

// All three equations, from the same random cells.
template <class T>
void check(dice& d, const fr::team& t) {
  const fr::extents<2> e{d.between(t.size(), 24), d.between(1, 24)};
  fr::shard_options o{.axis = 0, .halo = {1, 1}};
  o.periodic = {d.flip(), d.flip()};
  std::vector<T> start(e.count());
  for (T& x : start) x = static_cast<T>(d.below(1u << 20)) / T(1 << 20);

  field<T> u(t, e, o, T(edge)), v(t, e, o, T(edge)), f(t, e);
  const auto run = [&](const char* what, auto statement, auto cell) {
    fr::copy(std::span<const T>(start), u), fr::copy(std::span<const T>(start), v);
    fr::copy(std::span<const T>(start), f);
    loops<T> expected(u.layout(), start);
    for (int step = 0; step != 7; ++step) statement(), swap(u, v), expected.step(cell);
    check_bits(u, expected.cells(), what);
  };
  const auto jacobi = [&] { v = 0.25f * (around(u) + f); };
  const auto heat = [&] { v = u + rate * (around(u) - 4 * u); };
  const auto wave = [&] { v = 2 * u - v + rate * (around(u) - 4 * u); };
  run("Jacobi's method", jacobi, [](T, T, T source, T sum) { return T(0.25) * (sum + source); });
  run("the heat equation", heat, [](T here, T, T, T sum) { return here + T(rate) * (sum - 4 * here); });
  run("the wave equation", wave,
      [](T here, T before, T, T sum) { return 2 * here - before + T(rate) * (sum - 4 * here); });
}

}  // namespace equations
