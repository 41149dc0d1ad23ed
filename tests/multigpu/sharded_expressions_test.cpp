// Expressions over sharded arrays: results computed by hand, numbers of submissions and exchanges, errors.
#include <cmath>

#include "contract/small_chunks.hpp"
#include "multigpu/counted_devices.hpp"
#include "support/check_error.hpp"

using namespace shards;

namespace sharded_expressions {
namespace {

FERRY_FUNCTION(float, half_of, (float x), { return x / 2; });

const fr::shard_options rows{.axis = 0, .halo = 1};

template <class T, std::size_t Rank, fr::memory_kind Kind>
void check_cells(const fr::sharded_array<T, Rank, Kind>& a, const std::vector<T>& expected) {
  BOOST_TEST(fr::to_vector(a) == expected, boost::test_tools::per_element());
}

using support::check_error;

using counts = std::pair<int, int>;

}  // namespace
}  // namespace sharded_expressions

BOOST_AUTO_TEST_SUITE(sharded_expressions)

BOOST_AUTO_TEST_CASE(by_hand) {
  fr::simulation sim("devices=2");
  const fr::team t = fr::team::all();
  auto u = numbered(t, {3, 2}, rows);
  fr::sharded_array<float, 2> b(t, {3, 2}, {}, 1.f), y(t, {3, 2}, {.halo = 1});
  u.name("u"), b.name("b");
  check_cells(u, {0, 1, 10, 11, 20, 21});
  y = b + 2 * fr::shift(u, {1, 0});
  check_cells(y, {21, 23, 41, 43, -1, -1});
  BOOST_TEST((b + 2 * fr::shift(u, {1, 0})).text() == "b + 2 * shift(u, {1, 0})");
  BOOST_TEST((b + 2 * fr::shift(u, {1, 0})).size() == 6u);
  y += half_of(u) - 1;
  check_cells(y, {20, 22.5, 45, 47.5, 8, 8.5});
  y = fr::where(u > 10, y, 0);
  check_cells(y, {0, 0, 0, 47.5, 8, 8.5});
  fr::assign(y, u, b, -u);
  check_cells(y, {0, 1, 10, 11, 20, 21}), check_cells(b, {-0.f, -1, -10, -11, -20, -21});
  fr::assign(y, 4);
  check_cells(y, {4, 4, 4, 4, 4, 4});
}

// Each member reads the elements for its own indices of the whole.
BOOST_AUTO_TEST_CASE(arrays_of_one_device_are_read_at_indices) {
  fr::simulation sim("devices=2");
  const fr::team t = fr::team::all();
  const auto u = numbered(t, {3, 2}, rows);
  fr::sharded_array<float, 2> y(t, {3, 2}, rows);
  fr::unified_array<float, 2> table({3, 4}), like_u({3, 2});
  fr::unified_array<int> columns({2});
  table = 100.f * fr::index(0) + fr::index(1), like_u = 10.f * fr::index(0) + fr::index(1);
  columns = 3 - 2 * fr::cast<int>(fr::index(0));
  y = u + fr::take(table, columns, 1);
  check_cells(y, {3, 2, 113, 112, 223, 222});
  y = u + fr::roll(like_u, 1, 0);
  check_cells(y, {20, 22, 10, 12, 30, 32});
  BOOST_TEST(fr::sum(u * 0 + fr::take(table, columns, 1)).value() == 612.f);
}

BOOST_AUTO_TEST_CASE(other_types_and_memory) {
  fr::simulation sim("devices=3");
  const fr::team t = fr::team::all();
  fr::unified_sharded_array<int, 1> i(t, {7}, {.halo = 2, .periodic = true});
  i = fr::cast<int>(fr::index(0));
  fr::sharded_array<std::complex<double>, 1> z(t, {7});
  z = fr::make_complex(fr::cast<double>(fr::shift(i, {-2})), fr::cast<double>(i));
  check_cells(z, {{5, 0}, {6, 1}, {0, 2}, {1, 3}, {2, 4}, {3, 5}, {4, 6}});
  fr::sharded_array<bool, 1> is_odd(t, {7});
  is_odd = i % 2 == 1;
  fr::sharded_array<fr::half, 1> h(t, {7}, {.halo = 1});
  h = fr::where(is_odd, 0.1f, fr::cast<float>(i));
  fr::sharded_array<float, 1> back(t, {7});
  fr::assign(back, h);
  check_cells(back, {0, float(fr::half(0.1f)), 2, float(fr::half(0.1f)), 4, float(fr::half(0.1f)), 6});
}

BOOST_AUTO_TEST_CASE(scalars_and_copies_on_each_member_broadcast) {
  fr::simulation sim("devices=2;peers=none");
  const fr::team t = fr::team::all();
  const auto u = numbered(t, {3, 2}, rows);
  fr::sharded_array<float, 2> y(t, {3, 2});
  fr::replicated_array<float, 1> row(t, {2});
  fr::replicated_array<float, 2> column(t, {3, 1});
  fr::copy(std::vector<float>{1, 2}, row), fr::copy(std::vector<float>{100, 200, 300}, column);
  y = u + row + column;
  check_cells(y, {101, 103, 211, 213, 321, 323});
  const fr::team_scalar<float> total = fr::sum(u), most = fr::max(u);
  y = (u - most) / total;
  check_cells(y, {-21 / 63.f, -20 / 63.f, -11 / 63.f, -10 / 63.f, -1 / 63.f, 0});
  fr::scalar<float> one;
  fr::assign(one.as_array(), 1);
  y = u + one;
  check_cells(y, {1, 2, 11, 12, 21, 22});
  // On one device, too.
  fr::host_array<float, 1> x({2}, 1.f);
  x = x * total;
  BOOST_TEST(x(0) == 63);
  // An operation of the program's own: the CPU joins the parts.
  fr::team_scalar<float> own(t, 0.f, [](const float& a, const float& b) { return a > b ? a : b; });
  own.parts()(0) = 1, own.parts()(1) = 4;
  y = 0 * u + own;
  check_cells(y, {4, 4, 4, 4, 4, 4});
}

BOOST_AUTO_TEST_CASE(cells_alone_are_no_communication) {
  for (int devices = 1; devices <= 4; ++devices) {
    counted_devices d("devices=" + std::to_string(devices));
    const fr::team t = fr::team::all();
    auto u = numbered(t, {9, 4}, rows);
    fr::sharded_array<float, 2> y(t, {9, 4}, rows), z(t, {9, 4});
    BOOST_TEST((d.count([&] { y = 2 * u + fr::sin(u); }) == counts(devices, 0)));
    BOOST_TEST((d.count([&] { y += u; }) == counts(devices, 0)));
    BOOST_TEST((d.count([&] { fr::assign(y, u + 1, z, u - 1); }) == counts(devices, 0)));
    BOOST_TEST((d.count([&] { u = fr::sqrt(u); }) == counts(devices, 0)));
    (void)d.count([&] { (void)fr::evaluate(fr::sum(u * y)); });
    BOOST_TEST(d.notes->reductions == devices);
    BOOST_TEST(d.notes->kernels == 0);
  }
}

BOOST_AUTO_TEST_CASE(halos_are_exchanged_when_needed) {
  const contract::variable on("FERRY_PEER", "on");  // copies that are staged are other submissions
  counted_devices d("devices=3");
  const fr::team t = fr::team::all();
  auto u = numbered(t, {9, 4}, {.axis = 0, .halo = {1, 1}});
  fr::sharded_array<float, 2> y(t, {9, 4}, rows);
  const auto both = [&] { y = fr::shift(u, {1, 0}) + fr::shift(u, {-1, 0}); };
  both(), u = u + 1;                            // makes the plan
  BOOST_TEST((d.count(both) == counts(7, 3)));  // interiors, and edges beside others
  BOOST_TEST((d.count(both) == counts(3, 0)));  // the halos are still valid
  BOOST_TEST((d.count([&] { y = fr::shift(u, {0, 1}); }) == counts(3, 0)));
  u = 2 * u;
  BOOST_TEST((d.count([&] { y = fr::shift(u, {0, 1}); }) == counts(3, 0)));  // its halo mirrors nothing
  BOOST_TEST((d.count([&] { y = fr::shift(u, {1, 0}); }) == counts(5, 3)));  // one edge
  BOOST_TEST((d.count(both) == counts(3, 0)));
  fr::copy(std::vector<float>(36, 1.f), u);
  BOOST_TEST((d.count(both) == counts(7, 3)));
  fr::fill(u, 3);
  BOOST_TEST((d.count(both) == counts(3, 0)));
  fr::assign(u, 3);
  fr::exchange_halos(u);
  BOOST_TEST((d.count(both) == counts(3, 0)));
  (void)u.cells(0, {{-1, 0}});  // cells that mirror nothing
  BOOST_TEST((d.count(both) == counts(3, 0)));
  u = u + 0;
  (void)d.count([&] { (void)fr::evaluate(fr::sum(fr::shift(u, {1, 0}) * y)); });
  BOOST_TEST(d.notes->reductions == 3);
  BOOST_TEST(d.notes->kernels == 3);
  (void)u.shard(1);  // may be written at any time
  for (int again = 0; again < 2; ++again) BOOST_TEST((d.count(both) == counts(7, 3)));
}

BOOST_AUTO_TEST_CASE(the_interior_does_not_wait_for_the_exchange) {
  counted_devices d("devices=4");
  using enum noting_backend::what;
  const fr::team t = fr::team::all();
  auto u = numbered(t, {64, 32}, rows);
  fr::sharded_array<float, 2> v(t, {64, 32}, rows);
  for (int i = 0; i < 10; ++i) {
    d.notes->given.clear();
    u = v + 1;
    v = fr::shift(u, {1, 0}) - fr::shift(u, {-1, 0});
  }
  for (std::size_t m = 0; m < t.size(); ++m) {
    const std::vector<noting_backend::what> given = d.notes->given[t.stream(m).timeline().stream().handle];
    const auto first = std::find(given.begin(), given.end(), evaluation);
    BOOST_TEST_REQUIRE((first != given.end() && first + 1 != given.end()));
    BOOST_TEST((first[1] == evaluation), "the interior of member " << m << " waits");
    BOOST_TEST(std::count(given.begin(), given.end(), evaluation) == (m == 0 || m == 3 ? 3 : 4));
    BOOST_TEST((std::find(first + 2, given.end(), wait) < std::find(first + 2, given.end(), evaluation)),
               "the edges of member " << m << " do not wait");
  }
}

BOOST_AUTO_TEST_CASE(an_array_that_is_read_elsewhere_is_replaced_at_the_end) {
  counted_devices d("devices=2");
  const fr::team t = fr::team::all();
  for (const bool periodic : {false, true}) {
    auto u = numbered(t, {5, 2}, {.axis = 0, .halo = 2, .periodic = periodic});
    u = fr::shift(u, {-2, 0});
    check_cells(u, periodic ? std::vector<float>{30, 31, 40, 41, 0, 1, 10, 11, 20, 21}
                            : std::vector<float>{-1, -1, -1, -1, 0, 1, 10, 11, 20, 21});
  }
  auto u = numbered(t, {5, 2}, rows), v = numbered(t, {5, 2}, rows);
  (void)fr::shift(u, {1, 0}), fr::exchange_halos(u);
  BOOST_TEST((d.count([&] { u = fr::shift(u, {1, 0}); }) == counts(4, 0)));  // and the copies of the temporaries
  fr::exchange_halos(u);
  BOOST_TEST((d.count([&] { fr::assign(v, fr::shift(u, {0, 0}), u, v); }) == counts(2, 0)));
  // A view of one member's cells is read by all.
  fr::unified_sharded_array<int, 1> w(t, {4});
  w = fr::cast<int>(fr::index(0));
  const auto first = std::as_const(w).shard(0).slice({1, 2});
  w = w + first;
  check_cells(w, {1, 2, 3, 4});
}

BOOST_AUTO_TEST_CASE(expressions_keep_their_arrays) {
  fr::simulation sim("devices=2");
  const fr::team t = fr::team::all();
  fr::sharded_array<float, 2> y(t, {3, 2});
  std::optional<fr::sharded_array<float, 2>> u(numbered(t, {3, 2}, rows));
  const auto e = fr::shift(*u, {1, 0}) + fr::replicated_array<float, 1>(t, {2}, 1.f);
  *u = *u * 2;
  u.reset();
  for (int again = 0; again < 2; ++again) {
    y = e;
    check_cells(y, {21, 23, 41, 43, 0, 0});
  }
}

BOOST_AUTO_TEST_CASE(graphs_exchange_halos_themselves) {
  fr::simulation sim("devices=2");
  const fr::team t = fr::team::all();
  auto u = numbered(t, {4, 1}, rows);
  fr::sharded_array<float, 2> y(t, {4, 1}, rows);
  y = fr::shift(u, {1, 0});  // the halos of u are valid
  fr::graph read = fr::capture(t.stream(0), [&] { y = fr::shift(u, {1, 0}); });
  fr::graph step = fr::capture(t.stream(0), [&] {
    u = u + 1;
    y = fr::shift(u, {1, 0});
    u = u + 1;
  });
  u = u + 1;
  read.launch(t.stream(0));
  check_cells(y, {11, 21, 31, -1});
  fr::exchange_halos(u);
  step.launch(t.stream(0));
  check_cells(y, {12, 22, 32, -1});
  y = fr::shift(u, {1, 0});
  check_cells(y, {13, 23, 33, -1});
}

BOOST_AUTO_TEST_CASE(explanations) {
  counted_devices d("devices=2");
  const fr::team t = fr::team::all();
  auto u = numbered(t, {6, 4}, rows);
  fr::sharded_array<float, 2> y(t, {6, 4});
  u.name("u"), y.name("y");
  const auto e = y + 2 * fr::shift(u, {1, 0});
  const auto shows = [](const std::string& text, std::initializer_list<std::string_view> parts) {
    for (const std::string_view p : parts)
      BOOST_TEST((text.find(p) != text.npos), "'" << p << "' is missing: " << text);
  };
  y = e, u = u + 0;
  shows(fr::explain(e), {"expression y + 2 * shift(u, {1, 0}) over a team of 2", "6 x 4 of float",
                         "exchanges the halos of sharded array 'u' of 6 x 4", "member 0: cells [0, 3) of axis 0",
                         "moves 144 bytes: 96 read, 48 written"});
  fr::exchange_halos(u);
  BOOST_TEST((fr::explain(e).find("exchanges") == std::string::npos));
  shows(fr::explain(fr::sum(u * y, fr::axes{0})),
        {"reduction sum(u * y, axes{0}) over a team of 2", "result: 4 of float",
         "every member joins the results of all", "member 0: cells [0, 3) of axis 0"});
  shows(fr::explain(fr::max(u, fr::axes{1})), {"reduction max(u, axes{1})", "each member has its part"});
  // Nothing is compiled on simulated devices, and nothing is submitted.
  BOOST_TEST((d.count([&] { BOOST_TEST(!fr::precompile(e)); }) == counts(0, 0)));
  BOOST_TEST(d.notes->prepared == 4);  // of each member the interior, and the edge beside the other
  check_error<fr::invalid_argument>([&] { (void)fr::precompile(fr::replicated_array<float, 1>(t, {4}, 1.f) + 1); },
                                    {"no sharded array"});
}

BOOST_AUTO_TEST_CASE(bad_input) {
  fr::simulation sim("devices=2");
  const fr::team t = fr::team::all(), other(fr::devices().subspan(0, 1));
  auto u = numbered(t, {6, 4}, rows);
  u.name("u");
  fr::sharded_array<float, 2> y(t, {6, 4}), across(t, {6, 4}, {.axis = 1}), elsewhere(other, {6, 4}), small(t, {5, 4});
  y.name("y"), across.name("across"), elsewhere.name("elsewhere"), small.name("small");
  fr::assign(across, 0), fr::assign(elsewhere, 0), fr::assign(y, 0), fr::assign(small, 0);
  using error = fr::invalid_argument;
  check_error<error>(
      [&] {
        y = fr::shift(u, {2, 0});
      },
      {"shift(u, {2, 0}) needs a halo of 2 cells along axis 0", "sharded array 'u' of 6 x 4 along axis 0",
       "has one of 1", "shard_options"});
  check_error<error>([&] { y = fr::shift(u, {0, -1}); }, {"a halo of 1 cells along axis 1", "has one of 0"});
  check_error<error>([&] { y = u + across; },
                     {"'across' of 6 x 4 along axis 1", "'y' of 6 x 4 along axis 0", "reshard"});
  check_error<error>([&] { y = u * elsewhere; }, {"'elsewhere'", "belongs to another team", "'y'"});
  check_error<error>([&] { y = u * fr::replicated_array<float, 1>(other, {4}, 1.f); }, {"another team", "'y'"});
  check_error<error>([&] { y = u + small; }, {"6 x 4", "5 x 4", "do not broadcast"});
  check_error<error>([&] { y = small + 1; }, {"cannot assign", "5 x 4", "'y' of 6 x 4"});
  check_error<error>([&] { fr::assign(y, u, across, u); }, {"'across'", "'y'", "call of its own"});
  check_error<error>([&] { fr::assign(y, u, y, u); }, {"'y'", "assigned twice"});
  check_error<error>([&] { y = u + fr::index(2); }, {"no such axis"});
  check_error<error>([&] { (void)fr::evaluate(fr::sum(u + across)); }, {"'across'", "reshard"});
  check_error<error>([&] { (void)fr::evaluate(fr::sum(fr::replicated_array<float, 1>(t, {4}, 1.f) + 1)); },
                     {"no sharded array"});
  fr::sharded_array<float, 2> one(t, {1, 4});
  fr::assign(one, 1);
  check_error<error>([&] { (void)fr::evaluate(fr::sum(one * fr::host_array<float, 2>({3, 4}, 1.f))); }, {"stretches"});
  check_error<error>([&] { y = one + u; }, {"is distributed otherwise", "reshard"});
  fr::sharded_array<float, 2> moved(std::move(one));
  check_error<error>([&] { y = one + 1; }, {"default-constructed, or moved from"});
  check_error<error>([&] { one = y + 1; }, {"default-constructed, or moved from"});
  fr::host_array<float, 1> freed({4}, 1.f);
  const auto e = u + freed;
  freed.free();
  check_error<fr::use_after_free>([&] { y = e; }, {"freed"});
  check_cells(y, std::vector<float>(24, 0.f));  // unchanged
}

BOOST_AUTO_TEST_SUITE_END()
