// Structs of sharded arrays: in loops, sweeps and reductions under random distributions and schedules, against the same
// steps on the CPU; their copies from and to records and structures of arrays; uploads and back; messages.
#include <boost/test/unit_test.hpp>
#include <ferry/ferry.hpp>
#include <random>

#include "multigpu/shards.hpp"
#include "support/failures.hpp"
#include "support/quiet_stderr.hpp"

namespace fr = ferry;
using support::failure_of;
using support::has;

namespace sharded_structs {
namespace {

template <template <class, std::size_t> class A>
struct layer {
  std::array<A<int, 2>, 2> w;
  int factor;
  FERRY_MEMBERS(w, factor);
};
template <template <class, std::size_t> class A>
struct state {
  A<int, 2> u;
  layer<A> inner;
  std::optional<A<int, 2>> marks;
  A<int, 3> parts;  // with components, as the last dimension
  int shift;
  FERRY_MEMBERS(u, inner, marks, parts, shift);
};
// Records have one element of each array, so all have one shape.
template <template <class, std::size_t> class A>
struct particle {
  A<float, 1> x;
  A<double, 1> v;
  A<int, 1> id;
  FERRY_MEMBERS(x, v, id);
};
template <template <class, std::size_t> class A>
struct pile {
  particle<A> main;
  std::array<A<short, 1>, 3> flags;
  int n;
  FERRY_MEMBERS(main, flags, n);
};
using sharded_state = state<fr::device_sharded_array>;

// One step of all members, which reads neighbours along both axes.
struct step {
  template <class From, class To>
  FERRY_HOST_DEVICE static int run(std::size_t i, std::size_t j, const From& a, const To& b) {
    b.u(i, j) = (a.u(i - 1, j) + 3 * a.inner.w[1](i, j + 1) + a.shift) % 1009;
    b.inner.w[0](i, j) = (a.inner.w[1](i + 1, j) * a.inner.factor + a.parts(i, j - 1, 1)) % 1013;
    b.inner.w[1](i, j) = (a.inner.w[0](i, j) + a.u(i + 1, j + 1)) % 1019;
    if (a.marks && b.marks) (*b.marks)(i, j) = ((*a.marks)(i - 1, j - 1) + a.u(i, j)) % 997;
    for (std::size_t c = 0; c != 2; ++c) b.parts(i, j, c) = (a.parts(i, j + 1, 1 - c) + a.u(i, j)) % 991;
    return b.u(i, j);
  }
  FERRY_HOST_DEVICE int operator()(std::size_t i, std::size_t j, const state<fr::const_shard_span>& a,
                                   state<fr::shard_span> b) const {
    return run(i, j, a, b);
  }
};

// The same members in memory of the CPU, with indices that wrap around.
struct grid_view {
  int* data;
  std::size_t n, m, depth;
  FERRY_HOST_DEVICE int& operator()(std::size_t i, std::size_t j, std::size_t c = 0) const {
    return data[((i + n) % n * m + (j + m) % m) * depth + c];
  }
};
struct grid {
  std::vector<int> all;
  std::size_t n = 0, m = 0, depth = 1;
  grid_view view() { return {all.data(), n, m, depth}; }
};
template <class, std::size_t>
using grid_of = grid;
template <class, std::size_t>
using grid_view_of = grid_view;
using cpu_state = state<grid_of>;

state<grid_view_of> views(cpu_state& s) {
  state<grid_view_of> v{
      s.u.view(), {{s.inner.w[0].view(), s.inner.w[1].view()}, s.inner.factor}, {}, s.parts.view(), s.shift};
  if (s.marks) v.marks = s.marks->view();
  return v;
}

std::vector<int> numbers(std::mt19937& random, std::size_t count) {
  std::vector<int> v(count);
  for (int& x : v) x = static_cast<int>(random() % 900);
  return v;
}

struct random_state {
  std::size_t n, m;
  fr::shard_options cut, cut_parts;
  fr::team t = fr::team::all();
  cpu_state expected;
  random_state(std::mt19937& random, std::size_t devices) : n(devices + random() % 9), m(devices + random() % 9) {
    shards::dice d(random());
    cut = shards::any_cut(d, 2, t.size());
    cut_parts = cut;
    cut.halo = {1, 1}, cut.periodic = true;
    cut_parts.halo = {1, 1, 0}, cut_parts.periodic = true;
    const auto some = [&](std::size_t depth) { return grid{numbers(random, n * m * depth), n, m, depth}; };
    expected = {some(1), {{some(1), some(1)}, 7}, {}, some(2), 11};
    if (random() % 2 == 0) expected.marks = some(1);
  }
  sharded_state on_team() const {
    using cells = fr::device_sharded_array<int, 2>;
    sharded_state s{cells(t, {n, m}, cut),
                    {{cells(t, {n, m}, cut), cells(t, {n, m}, cut)}, 7},
                    {},
                    fr::device_sharded_array<int, 3>(t, {n, m, 2}, cut_parts),
                    11};
    if (expected.marks) s.marks.emplace(t, fr::extents<2>{n, m}, cut);
    return s;
  }
  sharded_state uploaded() const {
    sharded_state s = on_team();
    fr::copy(expected.u.all, s.u), fr::copy(expected.parts.all, s.parts);
    fr::copy(expected.inner.w[0].all, s.inner.w[0]), fr::copy(expected.inner.w[1].all, s.inner.w[1]);
    if (s.marks) fr::copy(expected.marks->all, *s.marks);
    return s;
  }
  long advance() {
    cpu_state next = expected;
    const auto from = views(expected), to = views(next);
    long sum = 0;
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j < m; ++j) sum += step::run(i, j, from, to);
    expected = next;
    return sum;
  }
  void compare(const sharded_state& s) const {
    BOOST_TEST(fr::to_vector(s.u) == expected.u.all);
    BOOST_TEST(fr::to_vector(s.inner.w[0]) == expected.inner.w[0].all);
    BOOST_TEST(fr::to_vector(s.inner.w[1]) == expected.inner.w[1].all);
    BOOST_TEST(fr::to_vector(s.parts) == expected.parts.all);
    BOOST_TEST(s.marks.has_value() == expected.marks.has_value());
    if (s.marks) BOOST_TEST(fr::to_vector(*s.marks) == expected.marks->all);
  }
};

void each_machine(auto run) {
  for (std::size_t seed = 0; seed <= support::seeds(30); ++seed) BOOST_TEST_CONTEXT("seed " << seed) {
      std::mt19937 random(static_cast<unsigned>(seed));
      const std::size_t devices = 1 + random() % 4;
      const fr::simulation sim(shards::simulated_machine(seed, devices) + ";check=on");
      run(random, devices);
    }
}

struct set_all {
  FERRY_HOST_DEVICE void operator()(std::size_t i, particle<fr::shard_span> p) const {
    p.x(i) = static_cast<float>(i), p.v(i) = 2. * static_cast<double>(i), p.id(i) = -static_cast<int>(i);
  }
};
struct push {
  FERRY_HOST_DEVICE void operator()(std::size_t i, particle<fr::const_shard_span> from,
                                    particle<fr::shard_span> to) const {
    to.x(i) = from.x(i - 1), to.v(i) = from.v(i + 1), to.id(i) = from.id(i);
  }
};
struct skip_one {
  FERRY_HOST_DEVICE void operator()(std::size_t i, particle<fr::shard_span> p) const {
    p.x(i) = 1, p.id(i) = 1;
    if (i != 2) p.v(i) = 1;
  }
};
struct add_one {
  FERRY_HOST_DEVICE void operator()(std::size_t i, fr::shard_span<const double, 1> before,
                                    particle<fr::shard_span> p) const {
    p.x(i) = 0, p.id(i) = 0, p.v(i) = before(i) + 1;
  }
};
struct writes_beside {
  FERRY_HOST_DEVICE void operator()(std::size_t i, particle<fr::shard_span> p) const {
    p.x(i) = 1, p.v(i) = 1;
    if (i == 3) p.v(i + 1) = 7;
  }
};

}  // namespace
}  // namespace sharded_structs

using namespace sharded_structs;

BOOST_AUTO_TEST_SUITE(structs_of_sharded_arrays)

BOOST_AUTO_TEST_CASE(loops_equal_those_of_the_cpu) {
  each_machine([](std::mt19937& random, std::size_t devices) {
    random_state r(random, devices);
    sharded_state now = r.uploaded(), next = r.on_team();
    const int form = static_cast<int>(random() % 5);
    if (form >= 2 && form != 4) fr::exchange_halos(now);
    long sum = 0, expected = 0;
    for (int k = 0; k < 4; ++k) {
      const auto all = fr::owned(now.u);
      if (form == 0) {
        fr::exchange_halos(now);
        sum = fr::parallel_reduce(all, step{}, fr::plus{}, fr::in(now), fr::out(next)).value();
      } else if (form == 1) {  // without in() and out(): what is const is read
        fr::exchange_halos(now, next);
        sum = fr::parallel_reduce(all, step{}, fr::plus{}, now, next).value();
      } else if (form == 2) {
        sum = fr::parallel_reduce(fr::sweep(now.u), step{}, fr::plus{}, fr::in(now), fr::out(next)).value();
      } else if (form == 3) {
        fr::parallel_for(fr::sweep(now.u), step{}, std::as_const(now), fr::inout(next));
        sum = -1;
      } else {
        fr::exchange_halos(now);
        sum = fr::parallel_reduce(all.with(fr::shard_cells::boundary), step{}, fr::plus{}, fr::in(now), fr::inout(next))
                  .value();
        sum +=
            fr::parallel_reduce(all.with(fr::shard_cells::interior), step{}, fr::plus{}, fr::in(now), fr::inout(next))
                .value();
      }
      std::swap(now, next);
      expected = r.advance();
    }
    BOOST_TEST((form == 3 || sum == expected), "form " << form);
    r.compare(now);
  });
}

BOOST_AUTO_TEST_CASE(halos_of_all_members_travel_in_one_exchange) {
  const fr::simulation sim("devices=3;check=on");
  const fr::team t = fr::team::all();
  const fr::shard_options o{.halo = 1, .periodic = true};
  particle<fr::device_sharded_array> p{{t, {9}, o}, {t, {9}, o}, {t, {9}, o}};
  fr::parallel_for(fr::owned(p.x), set_all{}, fr::out(p));
  fr::exchange_halos(p);
  for (std::size_t m = 0; m != 3; ++m) {
    const auto at = static_cast<int>(3 * m), low = (at + 8) % 9, high = (at + 3) % 9;
    const auto id = fr::to_vector(p.id.shard_with_halo(m));
    const auto v = fr::to_vector(p.v.shard_with_halo(m));
    BOOST_TEST(id == (std::vector<int>{-low, -at, -at - 1, -at - 2, -high}));
    BOOST_TEST(v.front() == 2. * low);
    BOOST_TEST(v.back() == 2. * high);
  }
  BOOST_TEST(p.id.validity() != nullptr);
}

BOOST_AUTO_TEST_CASE(records_and_structures_of_arrays_are_copied) {
  each_machine([](std::mt19937& random, std::size_t) {
    const fr::team t = fr::team::all();
    const std::size_t n = 1 + random() % 40;
    const auto make = [&] {
      return pile<fr::device_sharded_array>{{{t, {n}}, {t, {n}}, {t, {n}}}, {{{t, {n}}, {t, {n}}, {t, {n}}}}, 5};
    };
    auto p = make();
    using one = pile<fr::record>;
    std::vector<one> records(n);
    for (one& r : records) {
      const auto next = [&] { return static_cast<short>(random() % 1000); };
      r = {{static_cast<float>(next()), static_cast<double>(next()), next()}, {next(), next(), next()}, 77};
    }
    fr::copy(records, p);
    const auto same = [](const one& a, const one& b) {
      return a.main.x == b.main.x && a.main.v == b.main.v && a.main.id == b.main.id && a.flags == b.flags && b.n == 5;
    };
    const std::vector<one> back = fr::to_vector(p);
    BOOST_TEST(std::equal(records.begin(), records.end(), back.begin(), back.end(), same));
    fr::fill(p, one{{1.f, 2., 3}, {4, 5, 6}, 0});
    BOOST_TEST(fr::to_vector(p.main.v) == std::vector<double>(n, 2.));
    BOOST_TEST(fr::to_vector(p.flags[2]) == std::vector<short>(n, 6));

    std::vector<float> x(n);
    std::vector<double> v(n);
    std::vector<int> id(n);
    for (std::size_t i = 0; i < n; ++i) x[i] = records[i].main.x, v[i] = records[i].main.v, id[i] = records[i].main.id;
    const auto from = fr::device_soa<float, double, int>::from(x, v, id);
    fr::copy(from, p.main);
    BOOST_TEST(fr::to_vector(p.main.v) == v);
    fr::host_soa<float, double, int> to(n);
    fr::copy(p.main, to);
    BOOST_TEST(fr::to_vector(to.member<0>()) == x);
    BOOST_TEST(fr::to_vector(to.member<2>()) == id);
  });
}

BOOST_AUTO_TEST_CASE(adapt_uploads_to_shards_and_back) {
  each_machine([](std::mt19937& random, std::size_t devices) {
    random_state r(random, devices);
    const auto host = fr::adapt<fr::host_array>(r.uploaded());
    static_assert(std::is_same_v<decltype(host), const state<fr::host_array>>);
    BOOST_TEST(fr::to_vector(host.parts) == r.expected.parts.all);
    fr::shard_options o{.axis = random() % 2};
    o.periodic = random() % 2 == 0;
    o.halo = {1, 0};
    if (o.axis.first() == 1) o.halo = {0, 1};
    const auto cells = fr::adapt<fr::sharded_array>(r.t, o, host.inner);
    static_assert(std::is_same_v<decltype(cells), const layer<fr::device_sharded_array>>);
    BOOST_TEST(cells.w[0].layout().halo(o.axis.first()) == 1U);
    BOOST_TEST(fr::to_vector(cells.w[1]) == r.expected.inner.w[1].all);
    const auto unified = fr::adapt<fr::unified_sharded_array>(r.t, {.axis = 1 - o.axis.first()}, cells);
    static_assert(std::is_same_v<decltype(unified), const layer<fr::unified_sharded_array>>);
    BOOST_TEST(unified.factor == 7);
    const auto device = fr::adapt(fr::device(static_cast<int>(devices) - 1), unified);
    static_assert(std::is_same_v<decltype(device), const layer<fr::device_array>>);
    BOOST_TEST((device.w[0].device() == fr::device(static_cast<int>(devices) - 1)));
    BOOST_TEST(fr::to_vector(device.w[0]) == r.expected.inner.w[0].all);

    const std::vector<double> values{0.5, 1.5, -2, 4, 8};
    const auto pieces = fr::adapt<fr::device_sharded_array>(r.t, {}, std::tuple(values, 3, std::optional(values)));
    BOOST_TEST(fr::adapt<fr::cpu_vector>(std::get<0>(pieces)) == values);
    BOOST_TEST(fr::to_vector(*std::get<2>(pieces)) == values);
    const auto narrow = fr::adapt<fr::cpu_vector>(pieces, fr::narrow);
    BOOST_TEST(std::get<0>(narrow) == (std::vector<float>{0.5f, 1.5f, -2, 4, 8}));
    const auto view = fr::adapt<fr::sharded_array>(r.t, {}, host.u.transpose());
    std::vector<int> turned(r.n * r.m);
    for (std::size_t i = 0; i < r.n; ++i)
      for (std::size_t j = 0; j < r.m; ++j) turned[j * r.n + i] = r.expected.u.all[i * r.m + j];
    BOOST_TEST(fr::to_vector(view) == turned);
  });
}

BOOST_AUTO_TEST_CASE(halos_of_uploads_are_up_to_date) {
  const fr::simulation sim("devices=3;check=on");
  const fr::team t = fr::team::all();
  std::vector<float> x(12);
  std::vector<double> v(12);
  for (std::size_t i = 0; i < 12; ++i) x[i] = static_cast<float>(i), v[i] = static_cast<double>(100 + i);
  const particle<fr::cpu_vector> host{x, v, std::vector<int>(12, 3)};
  const auto p = fr::adapt<fr::sharded_array>(t, {.halo = 1, .periodic = true}, host);
  auto q = fr::adapt<fr::sharded_array>(t, {.halo = 1, .periodic = true}, host);
  fr::parallel_for(fr::owned(p.x), push{}, p, fr::out(q));
  std::rotate(x.begin(), x.end() - 1, x.end()), std::rotate(v.begin(), v.begin() + 1, v.end());
  BOOST_TEST(fr::to_vector(q.x) == x);
  BOOST_TEST(fr::to_vector(q.v) == v);
}

BOOST_AUTO_TEST_CASE(outputs_are_poisoned_before_the_loop) {
  const fr::simulation sim("devices=2");
  fr::runtime::current().checks.set(fr::check::poison, true);
  const fr::team t = fr::team::all();
  particle<fr::device_sharded_array> p{{t, {6}, {}, 0.f}, {t, {6}, {}, 0.}, {t, {6}, {}, 0}};
  fr::parallel_for(fr::owned(p.x), skip_one{}, fr::out(p));
  const std::vector<double> v = fr::to_vector(p.v);
  BOOST_TEST(v[1] == 1.);
  BOOST_TEST(v[2] != 0.);
  fr::fill(p, {0.f, 0., 0});
  fr::parallel_for(fr::owned(p.x), skip_one{}, fr::inout(p));
  BOOST_TEST(fr::to_vector(p.v)[2] == 0.);
  fr::parallel_for(fr::owned(p.x), add_one{}, fr::in(p.v), fr::out(p));  // v is read beside: it is not poisoned
  BOOST_TEST(fr::to_vector(p.v)[2] == 1.);
}

BOOST_AUTO_TEST_CASE(mistakes_name_the_member) {
  const support::quiet_stderr quiet;
  using cells = fr::device_sharded_array<double, 1>;
  const auto text = [&](auto run) {
    const fr::simulation sim("devices=2;check=on");
    const fr::team t = fr::team::all();
    const fr::shard_options o{.halo = 1, .periodic = true};
    particle<fr::device_sharded_array> p{{t, {8}, o, 0.f}, {t, {8}, o, 0.}, {t, {8}, o, 0}};
    return failure_of<fr::error>([&] { run(p, t), t.synchronize(); });
  };
  using P = particle<fr::device_sharded_array>;
  const auto loop = [](P& p) { fr::parallel_for(fr::owned(p.x), set_all{}, fr::out(p)); };
  BOOST_TEST(text([&](P& p, const fr::team&) { loop(p); }).empty());

  const std::string cut = text([&](P& p, const fr::team& t) { p.v = cells(t, {9}, {.halo = 1}), loop(p); });
  BOOST_TEST(has(cut, "particle.v: "), cut);
  BOOST_TEST(has(cut, "must be cut the same way"), cut);
  const std::string swept = text([&](P& p, const fr::team& t) {
    p.v = cells(t, {8}, {.halo = 2, .periodic = true});
    fr::parallel_for(fr::sweep(p.x), set_all{}, fr::out(p));
  });
  BOOST_TEST(has(swept, "particle.v: "), swept);
  BOOST_TEST(has(swept, "widest halo"), swept);
  const std::string team = text([&](P& p, const fr::team&) {
    p.v = cells(fr::team(std::vector<fr::device>{fr::device(1)}), {8}, {.halo = 1});
    fr::exchange_halos(p);
  });
  BOOST_TEST(has(team, "particle.v: sharded arrays of two different teams"), team);
  const std::string empty = text([&](P& p, const fr::team&) { p.id = {}, fr::exchange_halos(p); });
  BOOST_TEST(has(empty, "particle.id: "), empty);
  const std::string moved = text([&](P& p, const fr::team&) {
    const auto gone = std::move(p.v);
    loop(p);
  });
  BOOST_TEST(has(moved, "particle.v: a sharded array is used that was default-constructed, or moved from"), moved);
  const std::string count = text([&](P& p, const fr::team&) { fr::copy(std::vector<particle<fr::record>>(7), p); });
  BOOST_TEST(has(count, "particle.x: "), count);
  BOOST_TEST(has(count, "7"), count);
  const std::string shapes = text([&](P& p, const fr::team& t) { p.id = {t, {5}}, (void)fr::to_vector(p); });
  BOOST_TEST(has(shapes, "particle.id: "), shapes);

  const std::string unwritten =
      text([&](P& p, const fr::team&) { fr::parallel_for(fr::owned(p.x), skip_one{}, fr::out(p)); });
  BOOST_TEST(has(unwritten, "particle.v"), unwritten);
  const std::string stale = text([&](P& p, const fr::team& t) {
    const fr::shard_options o{.halo = 1, .periodic = true};
    P next{{t, {8}, o}, {t, {8}, o}, {t, {8}, o}};
    fr::exchange_halos(p);
    fr::fill(p.v, 1.), fr::exchange_halos(p.x, p.id);
    fr::parallel_for(fr::owned(p.x), set_all{}, fr::out(p));
    fr::exchange_halos(p.x, p.id);
    fr::parallel_for(fr::owned(p.x), push{}, fr::in(p), fr::out(next));
  });
  BOOST_TEST(has(stale, "out of date"), stale);
  BOOST_TEST(has(stale, "particle.v"), stale);

  const std::string beside = text([&](P& p, const fr::team&) {
    p.v.name("speed"), fr::exchange_halos(p);
    fr::parallel_for(fr::owned(p.x), writes_beside{}, fr::inout(p));
  });
  BOOST_TEST(has(beside, "'speed'"), beside);

  const std::string freed = failure_of<fr::use_after_free>([&] {
    const fr::simulation sim("devices=2;check=on");
    particle<fr::device_array> p{fr::device_array<float>({4}), fr::device_array<double>({4}),
                                 fr::device_array<int>({4})};
    p.v.free();
    (void)fr::adapt<fr::sharded_array>(fr::team::all(), {}, p);
  });
  BOOST_TEST(has(freed, "particle.v: "), freed);
  const std::string narrow = failure_of([&] {
    const fr::simulation sim("devices=2;check=on");
    particle<fr::device_array> p{fr::device_array<float>({4}), fr::device_array<double>({1}),
                                 fr::device_array<int>({4})};
    (void)fr::adapt<fr::sharded_array>(fr::team::all(), {.axis = 1}, p);
  });
  BOOST_TEST(has(narrow, "particle.x: "), narrow);
}

BOOST_AUTO_TEST_SUITE_END()
