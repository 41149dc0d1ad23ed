// Reductions over all cells of sharded arrays: values, several in one pass, numbers of submissions, errors. Random ones
// are in axes_reductions.
#include <cmath>
#include <tuple>

#include "contract/small_chunks.hpp"
#include "ferry/core/compare.hpp"
#include "multigpu/counted_devices.hpp"
#include "support/check_error.hpp"

using namespace shards;

namespace totals {
namespace {

using support::check_error;
const fr::shard_options rows{.axis = 0, .halo = 1};

}  // namespace
}  // namespace totals

BOOST_AUTO_TEST_SUITE(totals)

BOOST_AUTO_TEST_CASE(reductions) {
  for (const char* how : {"devices=1", "devices=2", "devices=3;peers=none", "devices=4"}) {
    fr::simulation sim(how);
    const fr::team t = fr::team::all();
    auto u = numbered(t, {3, 2}, rows);  // with four members, one has no cells
    BOOST_TEST(fr::sum(u).value() == 63);
    BOOST_TEST(fr::prod(u + 1).value() == 1 * 2 * 11 * 12 * 21 * 22);
    BOOST_TEST(fr::min(u).value() == 0);
    BOOST_TEST(fr::max(-u).value() == 0);
    BOOST_TEST(fr::max(fr::shift(u, {1, 0})).value() == 21);
    BOOST_TEST(fr::min(fr::shift(u, {1, 0})).value() == -1);
    BOOST_TEST(std::abs(fr::mean(u).value() - 10.5f) < 1e-5f);
    BOOST_TEST(std::abs(fr::var(u).value() - 401.5f / 6) < 1e-3f);
    BOOST_TEST(std::abs(fr::std(u, fr::ddof{1}).value() - std::sqrt(401.5f / 5)) < 1e-4f);
    BOOST_TEST(std::abs(fr::var(fr::make_complex(u, -2 * u)).value() - 5 * 401.5f / 6) < 1e-2f);
    BOOST_TEST(std::abs(fr::std(fr::make_complex(u, u)).value() - std::sqrt(2 * 401.5f / 6)) < 1e-4f);
    BOOST_TEST(std::abs(fr::norm(u).value() - std::sqrt(1063.f)) < 1e-4f);
    BOOST_TEST(fr::dot(u, u).value() == 1063);
    BOOST_TEST(fr::any(u > 20).value());
    BOOST_TEST(!fr::any(u > 21).value());
    BOOST_TEST(fr::all(u >= 0).value());
    BOOST_TEST(!fr::all(u > 0).value());
    BOOST_TEST(fr::count(u > 5).value() == 4u);
    static_assert(std::is_same_v<decltype(fr::count(u > 5)), fr::sharded_total<std::uint64_t>>);
    static_assert(std::is_same_v<decltype(fr::sum(fr::cast<int>(u))), fr::sharded_total<std::int64_t>>);
    static_assert(std::is_same_v<decltype(fr::evaluate(fr::mean(fr::cast<int>(u)))), fr::team_scalar<double>>);
    BOOST_TEST(fr::mean(fr::cast<int>(u)).value() == 10.5);
    BOOST_TEST(float(fr::min(fr::cast<fr::half>(u - 2)).value()) == -2);
    BOOST_TEST((fr::sum(fr::make_complex(u, -u)).value() == std::complex<float>(63, -63)));
    BOOST_TEST(std::isnan(fr::max(fr::sqrt(u - 1)).value()));
    const float now = fr::sum(u);
    BOOST_TEST(now == 63);

    fr::sharded_array<float, 2> none(t, {0, 2});
    BOOST_TEST(fr::sum(none).value() == 0);
    BOOST_TEST(fr::all(none > 0).value());
    check_error<fr::invalid_argument>([&] { (void)fr::evaluate(fr::min(none)); }, {"is over no elements", "0 x 2"});
  }
}

// One pass of each member for all; one more for the mean of a variance. Positions are joined by each member.
BOOST_AUTO_TEST_CASE(several_in_one_pass) {
  const contract::variable on("FERRY_PEER", "on");  // copies that are staged are other submissions
  counted_devices d("devices=3");
  const fr::team t = fr::team::all();
  auto u = numbered(t, {7, 2}, rows);
  const auto passes = [&](auto call) {
    (void)d.count(call);
    return d.notes->reductions;
  };
  BOOST_TEST(passes([&] {
               auto [sum, most, mean] = fr::reduce_all(fr::sum(u), fr::max(fr::abs(u)), fr::mean(u));
               BOOST_TEST(sum.value() == 427);
               BOOST_TEST(most.value() == 61);
               BOOST_TEST(mean.value() == 30.5f);
             }) == 3);
  BOOST_TEST(passes([&] {
               auto [least, at, any] = fr::reduce_all(fr::min(2 * u), fr::argmax(u), fr::any(u > 60));
               BOOST_TEST(least.value() == 0);
               BOOST_TEST(at.value() == 13);
               BOOST_TEST(any.value());
             }) == 3);
  BOOST_TEST(passes([&] {
               auto [spread, count] = fr::reduce_all(fr::var(u), fr::count(u > 5));
               BOOST_TEST(std::abs(spread.value() - 400.25f) < 1e-2f);
               BOOST_TEST(count.value() == 12u);
             }) == 6);
  // Shifted operands are exchanged once.
  u = u + 1;
  BOOST_TEST((d.count([&] {
    auto [next, before] = fr::reduce_all(fr::max(fr::shift(u, {1, 0}) - u), fr::sum(fr::shift(u, {-1, 0})));
    BOOST_TEST(next.value() == 10);
    BOOST_TEST(before.value() == 316);
  }) == std::pair(0, 3)));
  // Members without cells take part.
  const auto few = numbered(t, {2, 2}, {});
  auto [first, last] = fr::reduce_all(fr::argmin(few), fr::argmax(few));
  BOOST_TEST(first.value() == 0);
  BOOST_TEST(last.value() == 3);
  auto [product, all, where, norm] =
      fr::reduce_all(fr::prod(few + 1), fr::all(few >= 0), fr::argmin(-few), fr::norm(few));
  BOOST_TEST(product.value() == 1 * 2 * 11 * 12);
  BOOST_TEST(all.value());
  BOOST_TEST(where.value() == 3);
  BOOST_TEST(std::abs(norm.value() - std::sqrt(222.f)) < 1e-4f);
}

BOOST_AUTO_TEST_CASE(are_computed_when_they_are_used) {
  counted_devices d("devices=2");
  const fr::team t = fr::team::all();
  auto u = numbered(t, {3, 2}, rows);
  u.name("u");
  const auto total = fr::sum(2 * u);
  BOOST_TEST(total.text() == "sum(2 * u)");
  BOOST_TEST((d.count([&] { (void)fr::max(u + 1); }) == std::pair(0, 0)));
  BOOST_TEST(d.notes->reductions == 0);
  const fr::team_scalar<float> first = total;
  u = u + 1;
  const fr::team_scalar<float> second = total;
  BOOST_TEST(first.value() == 126);
  BOOST_TEST(second.value() == 138);
  fr::sharded_array<float, 2> y(t, {3, 2});
  y = u / total + fr::max(u);
  BOOST_TEST(fr::to_vector(y).front() == 1 / 138.f + 22);
  u = u - fr::min(u);  // reads what is overwritten
  BOOST_TEST(fr::to_vector(u).front() == 0);
  BOOST_TEST(fr::explain(total).find("readers join the parts") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(comparisons) {
  for (const char* how : {"devices=1", "devices=3;peers=none"}) {
    fr::simulation sim(how);
    const fr::team t = fr::team::all();
    const auto u = numbered(t, {7, 2}, rows);
    fr::sharded_array<float, 2> v(t, {7, 2}), none(t, {0, 2}), small(t, {6, 2});
    fr::assign(v, u), fr::assign(small, 0);
    BOOST_TEST(fr::all_equal(u, v).value());
    BOOST_TEST(fr::all_equal(2 * u, u + v).value());
    BOOST_TEST(fr::allclose(u, v * 1.000001f).value());
    BOOST_TEST(!fr::allclose(u, v * 1.001f).value());
    BOOST_TEST(fr::allclose(u, v * 1.001f, 1e-2).value());
    v = fr::where(fr::index(0) == 6, NAN, v);  // the last member's
    BOOST_TEST(!fr::all_equal(v, v).value());
    BOOST_TEST(!fr::allclose(v, v).value());
    BOOST_TEST(fr::allclose(v, v, 0, 0, fr::nan_rule::equals).value());
    BOOST_TEST(!fr::all_equal(u, 3).value());
    BOOST_TEST(fr::all_equal(fr::cast<int>(0 * u), 0).value());
    BOOST_TEST(!fr::all_equal(u, small).value());
    BOOST_TEST(!fr::all_equal(none, u).value());
    BOOST_TEST(fr::all_equal(none, none).value());
    BOOST_TEST(!fr::all_equal(fr::host_array<float, 1>({2}, 0.f), u).value());
    BOOST_TEST(fr::allclose(fr::make_complex(u, u), fr::host_array<float, 2>({7, 2}, 30.f), 0, 100).value());
  }
}

// Of another shape, a replicated array differs from a sharded one, or is stretched to its shape, as on one device.
BOOST_AUTO_TEST_CASE(comparisons_with_replicated_arrays) {
  for (const char* how : {"devices=1", "devices=3"}) {
    fr::simulation sim(how);
    const fr::team t = fr::team::all();
    const fr::sharded_array<float, 2> u(t, {7, 2}, rows, 3.f), one(t, {1, 2}, {}, 3.f), none(t, {0, 2});
    const fr::replicated_array<float, 2> same(t, {7, 2}, 3.f), small(t, {6, 2}, 3.f), row(t, {1, 2}, 3.f);
    const fr::replicated_array<float, 1> line(t, {2}, 3.f), longer(t, {3}, 3.f);
    BOOST_TEST(fr::all_equal(u, same).value());
    BOOST_TEST(fr::all_equal(same, u).value());
    BOOST_TEST(!fr::all_equal(same, u + 1).value());
    BOOST_TEST(!fr::all_equal(u, small).value());
    BOOST_TEST(!fr::all_equal(small, u).value());
    BOOST_TEST(!fr::all_equal(2 * small, u).value());
    BOOST_TEST(!fr::all_equal(row, u).value());  // equal elements, if it were stretched
    BOOST_TEST(!fr::all_equal(line, u).value());
    BOOST_TEST(!fr::all_equal(u, line).value());
    BOOST_TEST(!fr::all_equal(small, none).value());
    BOOST_TEST(fr::allclose(u, line).value());
    BOOST_TEST(fr::allclose(line, u).value());
    BOOST_TEST(fr::allclose(row, u).value());
    BOOST_TEST(!fr::allclose(2 * row, u).value());
    BOOST_TEST(fr::allclose(none, line).value());
    using error = fr::invalid_argument;
    check_error<error>([&] { (void)fr::allclose(u, small); }, {"6 x 2", "7 x 2", "do not broadcast"});
    check_error<error>([&] { (void)fr::allclose(longer, u); }, {"of 3", "7 x 2", "do not broadcast"});
    check_error<error>([&] { (void)fr::allclose(same, one); },
                       {"stretches", "of 1 x 2"});  // the team has no such cells
    check_error<error>([&] { (void)fr::all_equal(same, small); }, {"reads no sharded array", "copy_of(member)"});
  }
}

BOOST_AUTO_TEST_CASE(bad_input) {
  fr::simulation sim("devices=2");
  const fr::team t = fr::team::all(), other(fr::devices().subspan(0, 1));
  auto u = numbered(t, {6, 4}, rows), across = numbered(t, {6, 4}, {.axis = 1}),
       elsewhere = numbered(other, {6, 4}, {}), small = numbered(t, {5, 4}, {});
  u.name("u"), across.name("across"), elsewhere.name("elsewhere"), small.name("small");
  fr::sharded_array<float, 2> none(t, {0, 2});
  using error = fr::invalid_argument;
  check_error<error>([&] { (void)fr::reduce_all(fr::sum(u), fr::sum(across)); }, {"'across'", "'u'", "reshard"});
  check_error<error>([&] { (void)fr::reduce_all(fr::sum(u), fr::max(small)); }, {"'small' of 5 x 4", "'u' of 6 x 4"});
  check_error<error>([&] { (void)fr::reduce_all(fr::argmin(u), fr::max(elsewhere)); }, {"'elsewhere'", "another team"});
  check_error<error>([&] { (void)fr::allclose(u, across); }, {"'across'", "reshard"});
  check_error<error>([&] { (void)fr::allclose(u, small); }, {"5 x 4", "6 x 4", "do not broadcast"});
  check_error<error>([&] { (void)fr::reduce_all(fr::sum(none), fr::argmin(none)); }, {"argmin", "is over no elements"});
}

BOOST_AUTO_TEST_SUITE_END()
