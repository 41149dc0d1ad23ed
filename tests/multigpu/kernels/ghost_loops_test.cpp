// Loops of functors over ghost cells, on one device and on many.
#include <ferry/ferry.hpp>

#include "contract/fixture.hpp"
#include "multigpu/shards.hpp"
#include "support/check_error.hpp"
#include "support/ghost_oracle.hpp"

using namespace contract;

namespace ghost_loops {
namespace {

using ghost_oracle::index;
using ghost_oracle::kind;
using support::check_error;

// Changes each ghost cell once, so that a cell that is visited twice or never differs.
struct triple {
  template <class A>
  FERRY_HOST_DEVICE void operator()(std::size_t i, const A& u) const {
    u(i) = 3 * u(i) + 1;
  }
  template <class A>
  FERRY_HOST_DEVICE void operator()(std::size_t i, std::size_t j, const A& u) const {
    u(i, j) = 3 * u(i, j) + 1;
  }
  template <class A>
  FERRY_HOST_DEVICE void operator()(std::size_t i, std::size_t j, std::size_t k, const A& u) const {
    u(i, j, k) = 3 * u(i, j, k) + 1;
  }
  template <class A>
  FERRY_HOST_DEVICE void operator()(std::size_t h, std::size_t i, std::size_t j, std::size_t k, const A& u) const {
    u(h, i, j, k) = 3 * u(h, i, j, k) + 1;
  }
};
// One functor for both forms: the nearest cells in both directions along an axis, of another array.
struct mean_beside {
  template <class From, class To>
  FERRY_HOST_DEVICE void operator()(std::size_t i, std::size_t j, const From& from, const To& to) const {
    to(i, j) = (from(i + 1, j) + from(i, j)) / 2;
  }
};
// Indices of the whole array: rows before the first one are negative.
struct number {
  FERRY_HOST_DEVICE void operator()(std::size_t i, std::size_t j, fr::shard_span<int, 2> a) const {
    a(i, j) = static_cast<int>(static_cast<std::ptrdiff_t>(i)) * 100 + static_cast<int>(static_cast<std::ptrdiff_t>(j));
  }
};

struct copy_of_next_column {
  FERRY_HOST_DEVICE void operator()(std::size_t i, std::size_t j, fr::shard_span<int, 2> a) const {
    a(i, j) = a(i, j + 1);
  }
};

template <std::size_t Rank>
struct scene {
  index<Rank> n, w;
  std::array<bool, Rank> allowed, is_periodic;
  ghost_oracle::step<int> what{kind::loop, true, {}, 0};
};
template <std::size_t Rank>
void on_one_device(std::mt19937_64& random) {
  scene<Rank> s;
  fr::ghost_widths widths(0);
  widths.widths.clear(), widths.one = false;
  for (std::size_t d = 0; d != Rank; ++d) {
    s.w[d] = static_cast<std::ptrdiff_t>(random() % 4), s.n[d] = static_cast<std::ptrdiff_t>(1 + random() % 4);
    s.allowed[d] = s.w[d] > 0, widths.widths.push_back(s.w[d]);
  }
  ghost_oracle::padded<int, Rank> expected(s.n, s.w, 5);
  fr::device_array<int, Rank> u(expected.extents(), 5);
  for (int i = 0; i < 3; ++i) {
    const auto step = ghost_oracle::any_step<int, Rank>(random, kind::loop, s.allowed, s.w, 0);
    fr::parallel_for(fr::ghosts(u, step.list(), widths), triple{}, fr::inout(u));
    ghost_oracle::apply(expected, step);
  }
  BOOST_TEST(fr::to_vector(u) == expected.cells, boost::test_tools::per_element());
}

template <std::size_t Rank>
void on_many(std::size_t seed, const fr::team& t) {
  shards::dice d(seed);
  std::mt19937_64 random(seed);
  auto [e, o] = shards::any_layout<Rank>(d, t);
  scene<Rank> s;
  for (std::size_t k = 0; k != Rank; ++k) {
    s.n[k] = static_cast<std::ptrdiff_t>(e[k]), s.w[k] = o.halo.widths[k];
    s.is_periodic[k] = o.periodic.axes[k], s.allowed[k] = s.w[k] > 0 && !s.is_periodic[k];
  }
  ghost_oracle::padded<int, Rank> expected(s.n, s.w, 5);
  fr::sharded_array<int, Rank> u(t, e, o, 5);
  fr::parallel_for(fr::owned(u), triple{}, u);  // halos are out of date
  expected.for_each([&](const index<Rank>& at) {
    if (expected.is_inside(at)) expected.set(at, 16);
  });
  ghost_oracle::wrap(expected, s.is_periodic);
  for (int i = 0; i < 3; ++i) {
    const auto step = ghost_oracle::any_step<int, Rank>(random, kind::loop, s.allowed, s.w, 0);
    fr::parallel_for(fr::ghosts(u, step.list()), triple{}, fr::inout(u));
    ghost_oracle::apply(expected, step, s.is_periodic);
  }
  fr::exchange_halos(u);
  for (std::size_t m = 0; m < t.size(); ++m) {
    const std::vector<int> found = fr::to_vector(u.shard_with_halo(m));
    std::size_t i = 0, wrong = 0;
    shards::for_each_index(u.layout().local(m), [&](const auto& at) { wrong += found[i++] != expected.get(at); });
    BOOST_TEST(wrong == 0u, wrong << " cells of member " << m << " are wrong: " << u.layout().text());
  }
}

}  // namespace
}  // namespace ghost_loops

BOOST_AUTO_TEST_SUITE(ghost_loops)

BOOST_AUTO_TEST_CASE(visit_each_cell_once_on_one_device) {
  for (std::size_t seed = 0; seed < support::seeds(60); ++seed) {
    std::mt19937_64 random(seed);
    const fr::simulation sim("devices=1;schedule=random:" + std::to_string(seed));
    on_one_device<1>(random), on_one_device<2>(random), on_one_device<3>(random), on_one_device<4>(random);
  }
}

BOOST_AUTO_TEST_CASE(visit_each_cell_once_on_many) {
  for (std::size_t seed = 0; seed < support::seeds(80); ++seed) {
    const fr::simulation sim(shards::simulated_machine(seed, 1 + seed % 4));
    on_many<1>(seed, fr::team::all()), on_many<2>(seed, fr::team::all()), on_many<3>(seed, fr::team::all());
    if (seed % 4 == 0) on_many<4>(seed, fr::team::all());
  }
}

BOOST_AUTO_TEST_CASE(run_on_this_machine) {
  for (std::size_t seed = 0; seed < 5; ++seed) {
    std::mt19937_64 random(seed);
    on_one_device<2>(random), on_one_device<3>(random), on_one_device<4>(random);
    on_many<1>(seed, fr::team::all()), on_many<2>(seed, fr::team::all()), on_many<3>(seed, fr::team::all());
  }
}

BOOST_AUTO_TEST_CASE(read_other_arrays_around_their_cells) {
  const fr::simulation sim("devices=2;schedule=random:3");
  const fr::team t = fr::team::all();
  fr::sharded_array<float, 2> u(t, {6, 3}, {.halo = 1}, 2.f), v(t, {6, 3}, {.halo = 1}, 0.f);
  fr::device_array<float, 2> x(fr::extents<2>{8, 3}, 2.f), y(fr::extents<2>{8, 3}, 0.f);
  fr::parallel_for(fr::ghosts(v, fr::side::low(0)), mean_beside{}, fr::in(u), fr::inout(v));
  fr::parallel_for(fr::ghosts(y, fr::side::low(0), {1, 0}), mean_beside{}, fr::in(x), fr::inout(y));
  BOOST_TEST((fr::to_vector(std::as_const(v).cells(0, {{-1, 0}})) == std::vector<float>{2, 2, 2}));
  BOOST_TEST((fr::to_vector(std::as_const(y).slice({0, 1})) == std::vector<float>{2, 2, 2}));
}

BOOST_AUTO_TEST_CASE(exchange_halos_that_they_may_read) {
  const fr::simulation sim("devices=2;schedule=random:4");
  fr::sharded_array<int, 2> a(fr::team::all(), {4, 2}, {.halo = {1, 1}}, 0);
  fr::parallel_for(fr::owned(a), number{}, a);
  fr::parallel_for(fr::ghosts(a, fr::side::low(1)), copy_of_next_column{}, fr::inout(a));
  BOOST_TEST((fr::to_vector(std::as_const(a).cells(0, {{0, 3}, {-1, 0}})) == std::vector<int>{0, 100, 200}));
  BOOST_TEST((fr::to_vector(std::as_const(a).cells(1, {{1, 4}, {-1, 0}})) == std::vector<int>{100, 200, 300}));
}

BOOST_AUTO_TEST_CASE(pass_the_indices_of_the_whole_array) {
  const fr::simulation sim("devices=2");
  fr::sharded_array<int, 2> a(fr::team::all(), {4, 2}, {.halo = 1}, 0);
  a.name("height");
  fr::parallel_for(fr::ghosts(a, {fr::side::low(0), fr::side::high(0)}), number{}, fr::inout(a));
  BOOST_TEST((fr::to_vector(std::as_const(a).cells(0, {{-1, 0}})) == std::vector<int>{-100, -99}));
  BOOST_TEST((fr::to_vector(std::as_const(a).cells(1, {{4, 5}})) == std::vector<int>{400, 401}));
  fr::sharded_array<int, 2> p(fr::team::all(), {4, 2}, {.halo = 1, .periodic = true}, 0);
  p.name("depth");
  check_error<fr::invalid_argument>([&] { fr::parallel_for(fr::ghosts(p, fr::side::low(0)), number{}, fr::inout(p)); },
                                    {"depth", "is periodic along axis 0"});
}

BOOST_AUTO_TEST_SUITE_END()
