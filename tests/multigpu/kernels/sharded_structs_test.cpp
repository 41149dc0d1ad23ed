// Structs of sharded arrays: in loops, sweeps and reductions under random distributions and schedules, against the same
// steps on the CPU; their halos, and messages.
#include <string>
#include <utility>

#include "multigpu/kernels/sharded_structs_fixture.hpp"
#include "support/failures.hpp"
#include "support/quiet_stderr.hpp"

using support::failure_of;
using support::has;

namespace sharded_structs {
namespace {

struct set_all {
  FERRY_HOST_DEVICE void operator()(std::size_t i, particle<fr::shard_span> p) const {
    p.x(i) = static_cast<float>(i), p.v(i) = 2. * static_cast<double>(i), p.id(i) = -static_cast<int>(i);
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
