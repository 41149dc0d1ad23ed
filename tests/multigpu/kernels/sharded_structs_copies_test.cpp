// Copies of structs of sharded arrays from and to records and structures of arrays; their uploads, and back.
#include <algorithm>
#include <tuple>
#include <type_traits>

#include "multigpu/kernels/sharded_structs_fixture.hpp"

namespace sharded_structs {
namespace {

template <template <class, std::size_t> class A>
struct pile {
  particle<A> main;
  std::array<A<short, 1>, 3> flags;
  int n;
  FERRY_MEMBERS(main, flags, n);
};

}  // namespace
}  // namespace sharded_structs

using namespace sharded_structs;

BOOST_AUTO_TEST_SUITE(structs_of_sharded_arrays)

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

BOOST_AUTO_TEST_SUITE_END()
