// Random statements over sharded arrays, compared with the same arrays in CPU memory.
#pragma once
#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "multigpu/shards.hpp"

namespace sharded_programs {

namespace fr = ferry;
using namespace shards;

constexpr float beyond = -7;  // cells of halos that mirror nothing

inline bool is_same(float a, float b) { return a == b || (std::isnan(a) && std::isnan(b)); }

FERRY_FUNCTION(float, blend, (float a, float b), { return a > b ? a - b : a * 0.5f; });

// A sharded array and its cells.
template <std::size_t Rank>
struct checked_array {
  fr::sharded_array<float, Rank> cells;
  std::vector<float> values;
};

// An expression, and the values that it must have now.
template <std::size_t Rank>
struct checked_expression {
  fr::sharded_expression<float, Rank> e;
  std::vector<float> values;
};

template <std::size_t Rank>
class random_statements {
 public:
  using checked = checked_expression<Rank>;

  random_statements(dice& d, const fr::team& t) : dice_(d), team_(t), row_(t, {1}), whole_(t, {}), pinned_({1}) {
    const auto layout = any_layout<Rank>(d, t);
    extents_ = layout.first;
    for (std::size_t i = 0; i != 3; ++i) {
      fr::shard_options o = any_layout_like(layout.second);
      arrays_.push_back({fr::sharded_array<float, Rank>(t, extents_, o, beyond), {}});
      arrays_.back().cells.name(std::string(1, static_cast<char>('u' + i)));
      arrays_.back().values = random_values<float>(d, extents_.count());
      fr::copy(std::span<const float>(arrays_.back().values), arrays_.back().cells);
    }
    const std::size_t columns = extents_[Rank - 1];
    row_ = fr::replicated_array<float, 1>(t, {columns});
    row_values_ = random_values<float>(d, columns);
    fr::copy(std::span<const float>(row_values_), row_);
    whole_ = fr::replicated_array<float, Rank>(t, extents_);
    whole_values_ = random_values<float>(d, extents_.count());
    fr::copy(std::span<const float>(whole_values_), whole_);
    pinned_ = fr::host_array<float, 1>({columns});
    pinned_values_ = random_values<float>(d, columns);
    fr::copy(std::span<const float>(pinned_values_), pinned_);
  }

  void run(std::size_t statements) {
    for (std::size_t i = 0; i != statements; ++i) statement();
    for (auto& a : arrays_) check(a);
  }

 private:
  // The same distribution with other halos and periods, as sharded arrays of one statement may have.
  fr::shard_options any_layout_like(const fr::shard_options& o) {
    fr::shard_options other = o;
    for (std::ptrdiff_t& w : other.halo.widths)
      if (dice_.below(4) == 0) w = std::max<std::ptrdiff_t>(0, w - 1);
    for (auto&& p : other.periodic.axes)
      if (dice_.below(4) == 0) p = !p;
    return other;
  }
  checked_array<Rank>& any_array() { return arrays_[dice_.below(arrays_.size())]; }

  template <class F>
  std::vector<float> each_cell(F f) const {
    std::vector<float> v;
    fr::box<Rank> all;
    for (std::size_t d = 0; d != Rank; ++d) all.end[d] = static_cast<std::ptrdiff_t>(extents_[d]);
    for_each_index(all, [&](auto at) { v.push_back(f(at)); });
    return v;
  }
  std::size_t column_of(const std::array<std::ptrdiff_t, Rank>& at) const {
    return static_cast<std::size_t>(at[Rank - 1]);
  }

  checked shifted() {
    checked_array<Rank>& a = any_array();
    const auto& l = a.cells.layout();
    std::ptrdiff_t by[Rank];
    for (std::size_t d = 0; d != Rank; ++d) {
      const auto w = static_cast<std::ptrdiff_t>(l.halo(d));
      by[d] = static_cast<std::ptrdiff_t>(dice_.between(0, static_cast<std::size_t>(2 * w))) - w;
    }
    return {fr::shift(a.cells, by), each_cell([&](auto at) {
              for (std::size_t d = 0; d != Rank; ++d) at[d] += by[d];
              return wrap(l, at) ? a.values[offset(extents_, at)] : beyond;
            })};
  }

  checked leaf() {
    switch (dice_.below(8)) {
      case 0: {
        checked_array<Rank>& a = any_array();
        return {fr::lazy(a.cells), a.values};
      }
      case 1: {
        checked_array<Rank>& a = any_array();
        return {a.cells * row_,
                with_values(a.values, [&](auto at, float x) { return x * row_values_[column_of(at)]; })};
      }
      case 2: {
        checked_array<Rank>& a = any_array();
        return {whole_ - a.cells,
                with_values(a.values, [&](auto at, float x) { return whole_values_[offset(extents_, at)] - x; })};
      }
      case 3: {
        checked_array<Rank>& a = any_array();
        return {a.cells + pinned_,
                with_values(a.values, [&](auto at, float x) { return x + pinned_values_[column_of(at)]; })};
      }
      case 4: {
        const std::size_t axis = dice_.below(Rank);
        const int named = dice_.flip() ? static_cast<int>(axis) : static_cast<int>(axis) - static_cast<int>(Rank);
        checked_array<Rank>& a = any_array();
        return {a.cells + fr::cast<float>(fr::index(named)),
                with_values(a.values, [&](auto at, float x) { return x + static_cast<float>(at[axis]); })};
      }
      default: return shifted();
    }
  }
  template <class F>
  std::vector<float> with_values(const std::vector<float>& values, F f) const {
    return each_cell([&](auto at) { return f(at, values[offset(extents_, at)]); });
  }
  template <class F>
  static std::vector<float> combined(const std::vector<float>& a, const std::vector<float>& b, F f) {
    std::vector<float> v(a.size());
    for (std::size_t i = 0; i != v.size(); ++i) v[i] = f(a[i], b[i]);
    return v;
  }

  checked tree(std::size_t depth) {
    if (depth == 0) return leaf();
    checked a = tree(depth - 1);
    if (dice_.below(5) == 0)
      return {fr::sqrt(fr::abs(std::move(a.e))),
              combined(a.values, a.values, [](float x, float) { return std::sqrt(std::abs(x)); })};
    if (dice_.below(6) == 0) {
      const auto number = static_cast<float>(dice_.below(5));
      return {number - 2 * std::move(a.e),
              combined(a.values, a.values, [&](float x, float) { return number - 2 * x; })};
    }
    checked b = dice_.below(4) == 0 ? leaf() : tree(depth - 1);
    switch (dice_.below(6)) {
      case 0: return {a.e + b.e, combined(a.values, b.values, [](float x, float y) { return x + y; })};
      case 1: return {std::move(a.e) - b.e, combined(a.values, b.values, [](float x, float y) { return x - y; })};
      case 2: return {a.e * std::move(b.e), combined(a.values, b.values, [](float x, float y) { return x * y; })};
      case 3: return {a.e / 4 + b.e, combined(a.values, b.values, [](float x, float y) { return x / 4 + y; })};
      case 4: return {blend(a.e, b.e), combined(a.values, b.values, [](float x, float y) { return blend(x, y); })};
      default:
        return {fr::where(a.e < b.e, a.e, 2.f * b.e),
                combined(a.values, b.values, [](float x, float y) { return x < y ? x : 2 * y; })};
    }
  }

  void statement() {
    checked_array<Rank>& y = any_array();
    checked e = tree(dice_.below(4));
    switch (dice_.below(10)) {
      case 0:
        y.cells += e.e;
        y.values = combined(y.values, e.values, [](float a, float b) { return a + b; });
        break;
      case 1:
        y.cells = fr::where(y.cells > 10.f, e.e, y.cells);
        y.values = combined(y.values, e.values, [](float a, float b) { return a > 10 ? b : a; });
        break;
      case 2: {
        checked_array<Rank>& z = arrays_[(static_cast<std::size_t>(&y - arrays_.data()) + 1) % arrays_.size()];
        checked f = tree(2);
        fr::assign(y.cells, e.e, z.cells, f.e);
        y.values = e.values, z.values = f.values;
        break;
      }
      case 3: {
        const auto sum = fr::max(fr::abs(e.e));
        float most = extents_.count() == 0 ? 0 : std::abs(e.values[0]);
        for (const float x : e.values) most = std::isnan(x) || x != x ? NAN : std::max(most, std::abs(x));
        y.cells = y.cells + sum;
        for (float& x : y.values) x = x + most;
        break;
      }
      case 4: fr::exchange_halos(y.cells); break;
      case 5:
        y.values = random_values<float>(dice_, y.values.size());
        fr::copy(std::span<const float>(y.values), y.cells);
        break;
      default: y.cells = e.e; y.values = e.values;
    }
    for (auto& a : arrays_)  // small numbers, so that results stay finite
      if (std::any_of(a.values.begin(), a.values.end(), [](float x) { return !(std::abs(x) < 1e6f); })) {
        fr::assign(a.cells, 3);
        std::fill(a.values.begin(), a.values.end(), 3.f);
      }
    if (dice_.below(4) == 0) check(y);
  }
  void check(const checked_array<Rank>& a) {
    const std::vector<float> found = fr::to_vector(a.cells);
    std::size_t wrong = 0;
    for (std::size_t i = 0; i != found.size(); ++i) wrong += !is_same(found[i], a.values[i]);
    BOOST_TEST(wrong == 0u, wrong << " cells of " << a.cells.name() << " are wrong: " << a.cells.layout().text());
  }

  dice& dice_;
  fr::team team_;
  fr::extents<Rank> extents_;
  std::vector<checked_array<Rank>> arrays_;
  fr::replicated_array<float, 1> row_;
  fr::replicated_array<float, Rank> whole_;
  fr::host_array<float, 1> pinned_;
  std::vector<float> row_values_, whole_values_, pinned_values_;
};

}  // namespace sharded_programs
