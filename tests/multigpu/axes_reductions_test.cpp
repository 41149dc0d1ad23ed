// Reductions of sharded arrays along axes: random ones, results by hand, numbers of submissions, errors.
#include <cmath>

#include "multigpu/random_axes_reductions.hpp"
#include "support/check_error.hpp"

namespace axes_reductions {
namespace {

using support::check_error;

}  // namespace
}  // namespace axes_reductions

BOOST_AUTO_TEST_SUITE(axes_reductions)

BOOST_AUTO_TEST_CASE(equal_those_of_one_array_on_simulated_devices) {
  for (std::size_t seed = 0; seed < seeds(60); ++seed) {
    BOOST_TEST_CONTEXT("seed " << seed) {
      dice d(seed);
      fr::simulation sim(simulated_machine(seed, d.between(1, 4)));
      fr::team t = fr::team::all();
      if (d.below(8) == 0) t.submit(fr::submission::by_threads);
      run_any(d, t);
    }
  }
}

BOOST_AUTO_TEST_CASE(equal_those_of_one_array_on_this_machine) {
  for (std::size_t seed = 0; seed < 5; ++seed) {
    dice d(seed);
    run_any(d, fr::team(fr::devices().subspan(0, d.between(1, fr::devices().size()))));
  }
}

// More members than one program joins.
BOOST_AUTO_TEST_CASE(results_of_many_members_are_joined_in_several_steps) {
  fr::simulation sim("devices=19");
  const fr::team t = fr::team::all();
  for (const std::size_t rows : {16u, 17u, 40u}) {
    fr::sharded_array<float, 2> u(t, {rows, 3});
    u = fr::abs(fr::cast<float>(fr::index(0)) - 11) + fr::cast<float>(fr::index(1));
    const fr::replicated_array<std::int64_t, 1> least(fr::argmin(u, fr::axes{0}));
    for (std::size_t m = 0; m != t.size(); ++m)
      BOOST_TEST((fr::to_vector(least.copy_of(m)) == std::vector<std::int64_t>(3, 11)));
    float sum = 0;
    for (std::size_t i = 0; i != rows; ++i) sum += std::abs(static_cast<float>(i) - 11);
    const fr::replicated_array<float, 1> sums(fr::sum(u, fr::axes{0})), means(fr::mean(u, fr::axes{0}));
    const auto n = static_cast<float>(rows);
    BOOST_TEST((fr::to_vector(sums) == std::vector<float>{sum, sum + n, sum + 2 * n}));
    BOOST_TEST((fr::to_vector(means) == std::vector<float>{sum / n, (sum + n) / n, (sum + 2 * n) / n}));
    BOOST_TEST(fr::argmin(u).value() == 33);
    fr::sharded_array<std::int64_t, 2> counted(t, {rows, 3});
    counted = fr::cumsum(fr::cast<int>(u) * 0 + 1, 0);
    const std::vector<std::int64_t> found = fr::to_vector(counted);
    for (std::size_t i = 0; i != found.size(); ++i) BOOST_TEST(found[i] == static_cast<std::int64_t>(i / 3 + 1));
    counted = fr::exclusive_scan(fr::cast<int>(u) * 0 + 1, fr::plus{}, 0, 10);
    const std::vector<std::int64_t> before = fr::to_vector(counted);
    for (std::size_t i = 0; i != before.size(); ++i) BOOST_TEST(before[i] == static_cast<std::int64_t>(i / 3 + 10));
  }
}

// The order of sums does not depend on the schedule: the bits of every member are equal, in every run.
BOOST_AUTO_TEST_CASE(sums_are_deterministic) {
  std::vector<float> first;
  for (int seed = 0; seed < 6; ++seed) {
    fr::simulation sim("devices=3;schedule=random:" + std::to_string(seed));
    const fr::team t = fr::team::all();
    fr::sharded_array<float, 2> u(t, {31, 5});
    u = fr::sin(fr::cast<float>(fr::index(0)) * 1.7f + fr::cast<float>(fr::index(1)));
    const fr::replicated_array<float, 1> sums(fr::sum(u, fr::axes{0}));
    for (std::size_t m = 0; m != t.size(); ++m) {
      const std::vector<float> now = fr::to_vector(sums.copy_of(m));
      if (first.empty()) first = now;
      BOOST_TEST(now == first, boost::test_tools::per_element());
    }
  }
}

BOOST_AUTO_TEST_CASE(zeros_and_nan) {
  fr::simulation sim("devices=2");
  const fr::team t = fr::team::all();
  fr::sharded_array<float, 2> u(t, {4, 3});
  fr::copy(std::vector<float>{0.f, -0.f, 1, 1, 1, NAN, -0.f, 0.f, 0, 2, 2, -1}, u);
  const std::vector<float> least = fr::to_vector(fr::replicated_array<float, 1>(fr::min(u, fr::axes{0})));
  BOOST_TEST((least[0] == 0 && std::signbit(least[0])));
  BOOST_TEST((least[1] == 0 && std::signbit(least[1])));
  BOOST_TEST(std::isnan(least[2]));
  const std::vector<float> most = fr::to_vector(fr::replicated_array<float, 1>(fr::max(-u, fr::axes{0})));
  BOOST_TEST((most[0] == 0 && !std::signbit(most[0])));
  const fr::replicated_array<std::int64_t, 1> at(fr::argmin(u, fr::axes{0}));
  BOOST_TEST((fr::to_vector(at) == std::vector<std::int64_t>{0, 0, 1}));
}

BOOST_AUTO_TEST_CASE(halos_and_operands) {
  fr::simulation sim("devices=3");
  const fr::team t = fr::team::all();
  fr::sharded_array<float, 2> u(t, {7, 2}, {.axis = 0, .halo = 1}, 100.f), y(t, {7, 1}), z(t, {7, 2});
  u = 10.f * fr::cast<float>(fr::index(0)) + fr::cast<float>(fr::index(1));
  const fr::replicated_array<float, 1> sums(fr::sum(fr::shift(u, {1, 0}), fr::axes{0}));
  BOOST_TEST((fr::to_vector(sums) == std::vector<float>{310, 316}));
  const auto r = fr::sum(fr::shift(u, {1, 0}), fr::axes{1}, fr::keep_dims);
  y = r;
  BOOST_TEST((fr::to_vector(y) == std::vector<float>{21, 41, 61, 81, 101, 121, 200}));
  y += 2 * r - r;
  BOOST_TEST((fr::to_vector(y) == std::vector<float>{42, 82, 122, 162, 202, 242, 400}));
  u = u + 1, y = r;  // computed where it is written
  BOOST_TEST((fr::to_vector(y) == std::vector<float>{23, 43, 63, 83, 103, 123, 200}));
  z = u - fr::mean(u, fr::axes{1}, fr::keep_dims) + fr::max(u, fr::axes{0});
  BOOST_TEST((fr::to_vector(z) ==
              std::vector<float>{60.5, 62.5, 60.5, 62.5, 60.5, 62.5, 60.5, 62.5, 60.5, 62.5, 60.5, 62.5, 60.5, 62.5}));
  // Its own destination.
  fr::sharded_array<float, 2> w(t, {7, 1}, {.axis = 0, .halo = 1}, 5.f);
  w = fr::cast<float>(fr::index(0));
  w = fr::sum(fr::shift(w, {1, 0}), fr::axes{1}, fr::keep_dims);
  BOOST_TEST((fr::to_vector(w) == std::vector<float>{1, 2, 3, 4, 5, 6, 5}));
  // Of one dimension, and converted.
  fr::sharded_array<double, 1> wide(t, {7});
  wide = fr::sum(u, fr::axes{1});
  BOOST_TEST((fr::to_vector(wide) == std::vector<double>{3, 23, 43, 63, 83, 103, 123}));
  const fr::team_scalar<double> all = fr::sum(wide, fr::axes{0});
  BOOST_TEST(all.value() == 441);
  fr::replicated_array<double, 2> kept(t, {1, 2});
  kept = fr::sum(u, fr::axes{0}, fr::keep_dims);
  BOOST_TEST((fr::to_vector(kept) == std::vector<double>{217, 224}));
}

BOOST_AUTO_TEST_CASE(scans) {
  fr::simulation sim("devices=3");
  const fr::team t = fr::team::all();
  fr::sharded_array<float, 1> u(t, {7}, {.axis = 0, .halo = 1, .periodic = true}), y(t, {7}), none(t, {0});
  u = fr::cast<float>(fr::index(0));
  y = fr::cumsum(u);
  BOOST_TEST((fr::to_vector(y) == std::vector<float>{0, 1, 3, 6, 10, 15, 21}));
  u = fr::cumsum(fr::shift(u, {1}) - u);  // its own destination
  BOOST_TEST((fr::to_vector(u) == std::vector<float>{1, 2, 3, 4, 5, 6, 0}));
  y = fr::shift(u, {-1});  // the scan left the halos out of date
  BOOST_TEST((fr::to_vector(y) == std::vector<float>{0, 1, 2, 3, 4, 5, 6}));
  u = fr::exclusive_scan(fr::shift(u, {1}), fr::plus{}, 0, 100);  // its own destination
  BOOST_TEST((fr::to_vector(u) == std::vector<float>{100, 102, 105, 109, 114, 120, 120}));
  u = fr::exclusive_scan(u, fr::maximum{}, -1);
  BOOST_TEST((fr::to_vector(u) == std::vector<float>{-INFINITY, 100, 102, 105, 109, 114, 120}));
  y = fr::shift(u, {1});
  BOOST_TEST((fr::to_vector(y) == std::vector<float>{100, 102, 105, 109, 114, 120, -INFINITY}));
  none = fr::cumsum(none);
  none = fr::exclusive_scan(none, fr::plus{}, 0, 1);
  fr::sharded_array<float, 2> m(t, {4, 3}), across(t, {4, 3}, {.axis = 1});
  m = fr::cast<float>(fr::index(0));
  m.name("m"), across.name("across"), y.name("y");
  m = fr::inclusive_scan(m - 2, fr::maximum{}, 0);
  BOOST_TEST((fr::to_vector(m) == std::vector<float>{-2, -2, -2, -1, -1, -1, 0, 0, 0, 1, 1, 1}));
  using error = fr::invalid_argument;
  check_error<error>([&] { across = fr::cumsum(m, 0); }, {"cumsum(m, 0)", "'across'", "the distribution of", "'m'"});
  check_error<error>([&] { across = fr::exclusive_scan(m, fr::plus{}, 0); },
                     {"exclusive_scan(m, 0)", "'across'", "the distribution of", "'m'"});
  check_error<error>([&] { y = fr::cumsum(none); }, {"'y'", "the shape"});
  check_error<error>([&] { m = fr::cumsum(m, 2); }, {"there is no axis 2"});
}

BOOST_AUTO_TEST_CASE(counts) {
  fr::simulation sim("devices=3");
  const fr::team t = fr::team::all(), other(fr::devices().subspan(0, 1));
  fr::sharded_array<int, 1> u(t, {7}, {.axis = 0, .halo = 1, .periodic = true}), few(t, {2}), none(t, {0});
  fr::sharded_array<double, 1> y(t, {3});
  u = fr::cast<int>(fr::index(0) % 3), few = fr::cast<int>(fr::index(0));
  u.name("u"), few.name("few"), y.name("y");
  using whole = std::vector<std::uint64_t>;
  const fr::replicated_array<std::uint64_t, 1> of_u(fr::bincount(u, 3)), of_few(fr::histogram(few, 2, 0, 1)),
      of_none(fr::bincount(none, 2)), of_next(fr::bincount(fr::shift(u, {1}) + 3 * u, 9));
  BOOST_TEST((fr::to_vector(of_u) == whole{3, 2, 2}));
  BOOST_TEST((fr::to_vector(of_few) == whole{1, 1}));
  BOOST_TEST((fr::to_vector(of_none) == whole{0, 0}));
  BOOST_TEST((fr::to_vector(of_next) == whole{1, 2, 0, 0, 0, 2, 2, 0, 0}));
  // Weights of one device, and counts as an operand.
  const fr::device_array<float, 1> weights(fr::cast<float>(fr::index(0)) + fr::lazy_linspace(0.f, 0.f, 7));
  y = fr::bincount(u, 3, weights);
  BOOST_TEST((fr::to_vector(y) == std::vector<double>{9, 5, 7}));
  y = y + fr::cast<double>(fr::bincount(u, 3));
  BOOST_TEST((fr::to_vector(y) == std::vector<double>{12, 7, 9}));
  BOOST_TEST(fr::explain(fr::bincount(u, 3)).find("every member joins the results of all") != std::string::npos);
  // The arrays may be destroyed before the counts are assigned.
  const auto late = [&] {
    fr::sharded_array<int, 1> v(t, {7}), w(t, {7});
    v = fr::cast<int>(fr::index(0) % 2), w = fr::cast<int>(fr::index(0));
    return fr::bincount(v, 3, w);
  }();
  y = late;
  BOOST_TEST((fr::to_vector(y) == std::vector<double>{12, 9, 0}));
  using error = fr::invalid_argument;
  check_error<error>([&] { (void)fr::bincount(u, 0); }, {"bincount('u', 0)", "at least one bin"});
  check_error<error>([&] { (void)fr::histogram(u, 3, 1, 1); }, {"histogram('u', 3", "low must be less"});
  check_error<error>([&] { (void)fr::bincount(u, 3, few); }, {"the weights 'few' of 2", "another shape", "of 7"});
  check_error<error>([&] { few = fr::cast<int>(fr::bincount(u, 3)); }, {"of 3", "'few' of 2"});
  fr::sharded_array<int, 1> elsewhere(other, {7});
  elsewhere.name("elsewhere");
  check_error<error>([&] { y = fr::bincount(u + 1, 3, elsewhere); }, {"'u + 1' needs", "'elsewhere'", "another team"});
}

BOOST_AUTO_TEST_CASE(no_elements) {
  fr::simulation sim("devices=3");
  const fr::team t = fr::team::all();
  fr::sharded_array<float, 2> none(t, {0, 2}), narrow(t, {4, 0});
  BOOST_TEST((fr::to_vector(fr::replicated_array<float, 1>(fr::sum(none, fr::axes{0}))) == std::vector<float>{0, 0}));
  BOOST_TEST(std::isnan(fr::to_vector(fr::replicated_array<float, 1>(fr::var(none, fr::axes{0})))[1]));
  fr::sharded_array<float, 1> y(t, {4}), empty(t, {0});
  y = fr::prod(narrow, fr::axes{1});
  BOOST_TEST((fr::to_vector(y) == std::vector<float>{1, 1, 1, 1}));
  empty = fr::max(none, fr::axes{1});
  const fr::replicated_array<float, 1> of_none(fr::max(narrow, fr::axes{0}));
  BOOST_TEST(of_none.size() == 0u);
  fr::sharded_array<float, 2> one(t, {1, 2});
  fr::assign(one, 2);
  const fr::replicated_array<float, 1> spread(fr::var(one, fr::axes{0}, fr::ddof{1}));
  BOOST_TEST(std::isnan(fr::to_vector(spread)[0]));
  using error = fr::invalid_argument;
  check_error<error>([&] { fr::replicated_array<float, 1> z(fr::min(none, fr::axes{0})); },
                     {"'min(sharded array, axes{0})' is over no elements", "of nothing is undefined"});
  check_error<error>([&] { y = fr::max(narrow, fr::axes{1}); }, {"is over no elements"});
  check_error<error>([&] { (void)fr::evaluate(fr::argmin(none)); }, {"is over no elements"});
}

BOOST_AUTO_TEST_CASE(bad_input) {
  fr::simulation sim("devices=2");
  const fr::team t = fr::team::all(), other(fr::devices().subspan(0, 1));
  fr::sharded_array<float, 2> u(t, {6, 4}), across(t, {6, 4}, {.axis = 1}), y(t, {6, 1}, {.axis = 1});
  fr::assign(u, 1), fr::assign(across, 1);
  u.name("u"), across.name("across"), y.name("y");
  fr::sharded_array<float, 1> wrong(t, {5});
  fr::sharded_array<float, 1> foreign(other, {4});
  fr::replicated_array<float, 1> copies(t, {4}), small(t, {3}), elsewhere(other, {4});
  using error = fr::invalid_argument;
  check_error<error>([&] { (void)fr::sum(u, fr::axes{2}); }, {"there is no axis 2"});
  check_error<error>([&] { (void)fr::sum(wrong, fr::axes{1}); }, {"there is no axis 1"});
  check_error<error>([&] { (void)fr::sum(u, fr::axes{0, -2}); }, {"named twice"});
  check_error<error>([&] { wrong = fr::sum(u, fr::axes{1}); }, {"sum(u, axes{1})' of 6", "the shapes must be equal"});
  check_error<error>([&] { y = fr::sum(u, fr::axes{1}, fr::keep_dims); }, {"do not fit", "'y'", "reshard"});
  foreign.name("foreign");
  check_error<error>([&] { foreign = fr::sum(u, fr::axes{0}); }, {"'foreign'", "another team than", "'u'", "reshard"});
  check_error<error>([&] { copies = fr::sum(across, fr::axes{0}); },
                     {"keeps the axis along which", "'across'", "assign it to a sharded array of 4"});
  check_error<error>([&] { small = fr::sum(u, fr::axes{0}); }, {"of 4", "replicated array of 3"});
  check_error<error>([&] { elsewhere = fr::sum(u, fr::axes{0}); }, {"on another team"});
  check_error<error>([&] { (void)(u + fr::sum(u + across, fr::axes{0})); }, {"'across'", "reshard"});
  check_error<error>([&] { across = across + fr::sum(u, fr::axes{1}, fr::keep_dims); }, {"sum(u, axes{1}, keep_dims)"});
  check_error<error>([&] { (void)fr::evaluate(fr::sum(2 * fr::sum(u, fr::axes{1}))); }, {"reads no sharded array"});
}

BOOST_AUTO_TEST_SUITE_END()
