// Random reductions of sharded arrays along axes, compared with reductions of one array in CPU memory.
#pragma once
#include <cmath>
#include <cstdint>
#include <optional>
#include <tuple>
#include <vector>

#include "multigpu/shards.hpp"

namespace axes_reductions {

namespace fr = ferry;
using namespace shards;

// float: sums of these integers are exact.
template <class T>
bool is_near(T a, T b) {
  return a == b || (a != a && b != b);
}
inline bool is_near(float a, float b) {
  return a == b || (std::isnan(a) && std::isnan(b)) || std::abs(a - b) <= 1e-5f * std::max(1.f, std::abs(b));
}

template <class T>
void check_elements(const std::vector<T>& found, const std::vector<T>& expected, const std::string& what) {
  BOOST_TEST_REQUIRE(found.size() == expected.size(), what);
  std::size_t wrong = 0;
  for (std::size_t i = 0; i != found.size(); ++i) wrong += !is_near(T(found[i]), T(expected[i]));
  BOOST_TEST(wrong == 0u, wrong << " of " << found.size() << " elements are wrong: " << what);
}

template <std::size_t Rank>
class random_reductions {
 public:
  random_reductions(dice& d, const fr::team& t) : dice_(d), team_(t) {
    auto [e, o] = any_layout<Rank>(d, t);
    options_ = o;
    u_.emplace(t, e, o, -7.f);
    std::vector<float> values(e.count());
    for (float& x : values) x = static_cast<float>(d.below(20)) - 9;
    if (d.below(4) == 0) values[d.below(values.size())] = NAN;
    fr::copy(std::span<const float>(values), *u_);
    u_->name("u");
    one_ = fr::host_array<float, Rank>(e);
    fr::copy(std::span<const float>(values), one_);
  }

  void run() {
    scans();
    axis_ = static_cast<int>(dice_.below(Rank));
    if (dice_.flip())
      all_functions(fr::axes{dice_.flip() ? axis_ : axis_ - static_cast<int>(Rank)});
    else
      two_axes();
    positions_over_all();
    totals();
    counts();
  }

 private:
  template <class F>
  void check_scan(F f) {
    const auto r = f(*u_);
    const auto whole = fr::evaluate_to<fr::memory_kind::host>(f(one_));
    using T = typename std::remove_cvref_t<decltype(r)>::value_type;
    const std::vector<T> expected = fr::to_vector(whole);
    fr::sharded_array<T, Rank> y(team_, u_->extents(), options_);
    y = r;
    check_elements(fr::to_vector(y), expected, r.text() + " over " + u_->layout().text());
    if (dice_.flip()) return;
    fr::sharded_array<double, Rank> wide(team_, u_->extents(),
                                         {.axis = options_.axis, .grid = options_.grid});  // by way of temporaries
    wide = r;
    std::vector<float> found, wanted;
    for (const double x : fr::to_vector(wide)) found.push_back(static_cast<float>(x));
    for (const T& x : expected) wanted.push_back(static_cast<float>(x));
    check_elements(found, wanted, "doubles of " + r.text());
  }
  bool is_cut(int axis) const { return u_->layout().is_cut(static_cast<std::size_t>(axis)); }
  bool is_cut_along_several() const { return options_.axis.axes.size() > 1; }
  // Along each axis; and along several, as the elements or a result that keeps their axes.
  std::vector<fr::shard_options> any_cuts_of(std::size_t rank) const {
    std::vector<fr::shard_options> all;
    for (std::size_t axis = 0; axis != rank; ++axis) all.push_back({axis});
    const fr::shard_options own = fr::detail::options_of(u_->layout().grid(), Rank);
    if (own.axis.axes.size() < 2 || own.axis.axes.size() > rank) return all;
    all.push_back(own);
    if (rank == Rank) return all;
    for (std::size_t k = 0; k != own.axis.axes.size(); ++k)
      all.back().axis.axes[k] = static_cast<std::ptrdiff_t>(k + rank - own.axis.axes.size());
    return all;
  }
  template <class R>
  void check_refusal(const R& r) {
    BOOST_CHECK_EXCEPTION(fr::explain(r), fr::invalid_argument, [](const fr::invalid_argument& e) {
      return std::string_view(e.what()).find("reshard the array along") != std::string_view::npos;
    });
  }
  void scans() {
    const int axis = static_cast<int>(dice_.below(Rank));
    if (is_cut(axis) && is_cut_along_several()) return check_refusal(fr::cumsum(*u_, axis));
    check_scan([&](const auto& a) { return fr::cumsum(a, axis); });
    check_scan([&](const auto& a) { return fr::cumsum(fr::cast<int>(fr::where(a == a, a, 0)), axis); });
    check_scan([&](const auto& a) { return fr::cumprod(fr::sign(a), axis - static_cast<int>(Rank)); });
    check_scan([&](const auto& a) { return fr::inclusive_scan(a, fr::maximum{}, axis); });
    check_scan([&](const auto& a) { return fr::inclusive_scan(fr::cast<fr::half>(a), fr::minimum{}, axis); });
    exclusive_scans(axis);
  }
  void exclusive_scans(int axis) {
    const auto whole = [](const auto& a) { return fr::cast<int>(fr::where(a == a, a, 0)); };
    check_scan([&](const auto& a) { return fr::exclusive_scan(a, fr::plus{}, axis, 3); });
    check_scan([&](const auto& a) { return fr::exclusive_scan(whole(a), fr::plus{}, axis); });
    check_scan([&](const auto& a) { return fr::exclusive_scan(fr::sign(a), fr::multiplies{}, axis, -2); });
    check_scan([&](const auto& a) { return fr::exclusive_scan(fr::sign(a), fr::multiplies{}, axis); });
    check_scan([&](const auto& a) { return fr::exclusive_scan(a, fr::maximum{}, axis); });
    check_scan([&](const auto& a) { return fr::exclusive_scan(whole(a), fr::minimum{}, axis); });
    check_scan([&](const auto& a) { return fr::exclusive_scan(whole(a), fr::maximum{}, axis, 4); });
    check_scan([&](const auto& a) { return fr::exclusive_scan(fr::cast<fr::half>(a), fr::minimum{}, axis); });
  }
  void two_axes() {
    if constexpr (Rank > 2)
      all_functions(fr::axes{axis_, (axis_ + 1) % static_cast<int>(Rank)});
    else
      all_functions(fr::axes{axis_});
  }

  // Checks a reduction as an array of its own, and as an operand.
  template <class F, class... O>
  void check(F f, O... options) {
    auto r = f(*u_, options...);
    auto whole = fr::evaluate_to<fr::memory_kind::host>(f(one_, options...));
    using T = typename decltype(r)::value_type;
    constexpr std::size_t rank = decltype(r)::rank;
    static_assert(rank == decltype(whole)::rank);
    const std::string what = r.text() + " over " + u_->layout().text();
    BOOST_TEST(r.text() == f(one_.name("u"), options...).text());
    const std::vector<T> expected = fr::to_vector(whole);
    if (dice_.flip()) {
      (void)dice_.below(2);
      std::size_t fitting = 0;
      for (const fr::shard_options& how : any_cuts_of(rank)) {
        fr::sharded_array<T, rank> y(team_, r.extents(), how);
        try {
          y = r;
        } catch (const fr::invalid_argument& e) {  // parts of members, along another axis
          BOOST_TEST(std::string_view(e.what()).find("do not fit") != std::string_view::npos, e.what());
          continue;
        }
        ++fitting;
        check_elements(fr::to_vector(y), expected, what);
      }
      BOOST_TEST((fitting > 0u || (is_mixed_ && rank != Rank)), what);
    }
    try {
      fr::replicated_array<T, rank> z(r);
      check_elements(fr::to_vector(z), expected, what);
    } catch (const fr::invalid_argument& e) {
      BOOST_TEST(std::string_view(e.what()).find("keeps the ax") != std::string_view::npos, e.what());
    }
  }
  // True if some axes of distribution are reduced, and others are kept.
  template <class Axes>
  bool is_mixed(const Axes& axes) const {
    std::vector<bool> reduced(Rank, false);
    for (const int axis : axes.span())
      reduced[static_cast<std::size_t>(axis < 0 ? axis + static_cast<int>(Rank) : axis)] = true;
    std::size_t cut_and_reduced = 0;
    for (std::size_t d = 0; d != Rank; ++d) cut_and_reduced += reduced[d] && u_->layout().is_cut(d);
    return cut_and_reduced != 0 && cut_and_reduced != options_.axis.axes.size();
  }
  template <class Axes>
  void all_functions(Axes axes) {
    is_mixed_ = is_mixed(axes);
    check([](const auto& a, auto... o) { return fr::sum(a, o...); }, axes);
    check([](const auto& a, auto... o) { return fr::sum(fr::cast<int>(fr::where(a == a, a, 0)), o...); }, axes);
    check([](const auto& a, auto... o) { return fr::prod(a / 4, o...); }, axes);
    check([](const auto& a, auto... o) { return fr::min(a, o...); }, axes);
    check([](const auto& a, auto... o) { return fr::max(fr::cast<fr::half>(a), o...); }, axes);
    check([](const auto& a, auto... o) { return fr::mean(a, o...); }, axes, fr::keep_dims);
    check([](const auto& a, auto... o) { return fr::var(a, o...); }, axes, fr::ddof{1});
    check([](const auto& a, auto... o) { return fr::std(a, o...); }, axes);
    check([](const auto& a, auto... o) { return fr::var(fr::make_complex(a, 2 - 3 * a), o...); }, axes);
    check([](const auto& a, auto... o) { return fr::norm(a, o...); }, axes);
    check([](const auto& a, auto... o) { return fr::any(a > 7, o...); }, axes);
    check([](const auto& a, auto... o) { return fr::all(a > -8, o...); }, axes, fr::keep_dims);
    check([](const auto& a, auto... o) { return fr::count(a > 0, o...); }, axes);
    check([](const auto& a, auto... o) { return fr::argmin(a, o...); }, axes);
    check([](const auto& a, auto... o) { return fr::argmax(fr::abs(a), o...); }, axes, fr::keep_dims);
    as_operand(axes);
  }
  template <class Axes>
  void as_operand(Axes axes) {
    fr::sharded_array<float, Rank> y(team_, u_->extents(), options_);
    y = *u_ - fr::max(*u_, axes, fr::keep_dims);
    fr::host_array<float, Rank> expected(one_ - fr::max(one_, axes, fr::keep_dims));
    check_elements(fr::to_vector(y), fr::to_vector(expected), "as an operand over " + u_->layout().text());
  }
  void positions_over_all() {
    const fr::scalar<std::int64_t> least = fr::argmin(one_), most = fr::argmax(one_ * 2);
    BOOST_TEST(fr::argmin(*u_).value() == least.value(), u_->layout().text());
    BOOST_TEST(fr::argmax(*u_ * 2).value() == most.value(), u_->layout().text());
  }

  template <class F>
  void check_counts(F f) {
    const auto r = f(*u_);
    using T = typename std::remove_cvref_t<decltype(r)>::value_type;
    const std::vector<T> expected = fr::to_vector(fr::evaluate_to<fr::memory_kind::host>(f(one_)));
    BOOST_TEST(r.text() == f(one_.name("u")).text());
    const std::string what = r.text() + " over " + u_->layout().text();
    fr::replicated_array<T, 1> copies(r);
    for (std::size_t m = 0; m != team_.local_size(); ++m)
      check_elements(fr::to_vector(copies.copies()[m]), expected, what);
    fr::sharded_array<T, 1> y(team_, r.extents());
    y = r;
    check_elements(fr::to_vector(y), expected, what + ", distributed");
  }
  void counts() {
    const std::size_t bins = dice_.between(1, 12);
    const auto whole = [](const auto& a) { return fr::cast<int>(fr::where(a == a, a, 0)); };
    const auto weight = [](const auto& a) { return fr::where(a == a, a * 2 + 1, 3); };
    check_counts([&](const auto& a) { return fr::histogram(a, bins, -8., 9.); });
    check_counts([&](const auto& a) { return fr::histogram(a / 2, bins, -3., 2., weight(a)); });
    check_counts([&](const auto& a) { return fr::bincount(whole(a), bins); });
    check_counts([&](const auto& a) { return fr::bincount(fr::index(0) + whole(a), bins, weight(a) + fr::index(-1)); });
  }
  // Several in one pass, compared with single ones over one array.
  void totals() {
    const auto whole = [](const auto& a) { return fr::cast<int>(fr::where(a == a, a, 0)); };
    const auto check_all = [&](const auto&... f) {
      auto found = fr::reduce_all(f(*u_)...);
      const std::tuple expected{fr::evaluate(f(one_))...};
      std::size_t k = 0;
      const auto check_one = [&](const auto& x, const auto& y) {
        BOOST_TEST(is_near(x.value(), y.value()),
                   x.value() << " instead of " << y.value() << ": total " << k << " over " << u_->layout().text());
        ++k;
      };
      [&]<std::size_t... I>(std::index_sequence<I...>) { (check_one(std::get<I>(found), std::get<I>(expected)), ...); }
      (std::make_index_sequence<sizeof...(f)>());
    };
    check_all([](const auto& a) { return fr::sum(a); }, [](const auto& a) { return fr::max(fr::abs(a)); },
              [](const auto& a) { return fr::argmin(a); }, [](const auto& a) { return fr::mean(a); },
              [](const auto& a) { return fr::count(a > 0); }, [](const auto& a) { return fr::argmax(a); });
    check_all([](const auto& a) { return fr::var(a, fr::ddof{1}); },
              [](const auto& a) { return fr::argmax(fr::abs(a)); }, [](const auto& a) { return fr::any(a > 9); },
              [](const auto& a) { return fr::min(a); });
    check_all([&](const auto& a) { return fr::sum(whole(a)); }, [](const auto& a) { return fr::std(a); },
              [](const auto& a) { return fr::norm(a); }, [&](const auto& a) { return fr::argmin(whole(a) / 4); });
  }

  dice& dice_;
  fr::team team_;
  fr::shard_options options_;
  std::optional<fr::sharded_array<float, Rank>> u_;
  fr::host_array<float, Rank> one_;
  int axis_ = 0;
  bool is_mixed_ = false;
};

inline void run_any(dice& d, const fr::team& t) {
  if (d.flip())
    random_reductions<2>(d, t).run();
  else
    random_reductions<3>(d, t).run();
}

}  // namespace axes_reductions
