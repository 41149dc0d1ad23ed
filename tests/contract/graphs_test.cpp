// Work that is captured once and launched many times.
#include "contract/fixture.hpp"

using namespace contract;

namespace contract_of_graphs {
namespace {

struct add {
  int by;
  FERRY_HOST_DEVICE void operator()(std::size_t i, int* p) const { p[i] += by; }
};
struct add_from {
  FERRY_HOST_DEVICE void operator()(std::size_t i, const int* x, int* y) const { y[i] += x[i]; }
};
struct triple {
  FERRY_HOST_DEVICE void operator()(std::size_t i, int* p) const { p[i] *= 3; }
};
struct value_of {
  FERRY_HOST_DEVICE std::int64_t operator()(std::size_t i, const int* x) const { return x[i]; }
};

using ints = fr::unified_array<int>;

}  // namespace
}  // namespace contract_of_graphs

BOOST_FIXTURE_TEST_SUITE(contract_of_graphs, clean)

BOOST_AUTO_TEST_CASE(capturing_runs_nothing) {
  const fr::stream s;
  ints a({100}, 1);
  auto g = fr::capture(s, [&] { fr::parallel_for(s, 100, add{1}, a); });
  CHECK_EQUAL(a, std::vector<int>(100, 1));
  g.launch(s);
  CHECK_EQUAL(a, std::vector<int>(100, 2));
}

BOOST_AUTO_TEST_CASE(launches_are_reported) {
  const fr::stream s, t;
  ints a({100}, 1);
  std::vector<fr::stream_ref> told;
  auto g = fr::capture(s, [&] {
    fr::parallel_for(s, 100, add{1}, a);
    fr::when_launched([&](fr::stream_ref on) {
      BOOST_TEST(on.timeline().last() > 0u);  // the stream of the launch
      told.push_back(on);
    });
  });
  BOOST_TEST(told.empty());
  g.launch(s);
  g.launch(t);
  BOOST_TEST((told == std::vector<fr::stream_ref>{s, t}));
  CHECK_EQUAL(a, std::vector<int>(100, 3));
  check_error<fr::invalid_argument>([] { fr::when_launched([](fr::stream_ref) {}); }, {"outside of a capture"});
}

BOOST_AUTO_TEST_CASE(launches_inside_a_capture_are_reported_when_the_outer_graph_runs) {
  const fr::stream s, t;
  ints a({100}, 1);
  std::vector<fr::stream_ref> told;
  const auto life = std::make_shared<int>(0);
  {
    auto outer = [&] {
      auto inner = fr::capture(s, [&] {
        fr::parallel_for(s, 100, add{1}, a);
        fr::when_launched([&told, life](fr::stream_ref on) { told.push_back(on); });
      });
      auto made = fr::capture(s, [&] {
        inner.launch(s);
        inner.launch(t);
        BOOST_TEST(told.empty());
      });
      BOOST_TEST(told.empty());
      inner.launch(s);
      BOOST_TEST((told == std::vector<fr::stream_ref>{s}));
      return made;
    }();
    told.clear();
    outer.launch(t);  // the inner graph object is destroyed
    BOOST_TEST((told == std::vector<fr::stream_ref>{t, t}));
    CHECK_EQUAL(a, std::vector<int>(100, 4));
    BOOST_TEST(life.use_count() > 1);
  }
  BOOST_TEST(life.use_count() == 1);  // listeners are destroyed with their graph, or when a capture throws
  BOOST_CHECK_THROW((void)fr::capture(s,
                                      [&] {
                                        fr::when_launched([life](fr::stream_ref) {});
                                        throw 5;
                                      }),
                    int);
  BOOST_TEST(life.use_count() == 1);
}

BOOST_AUTO_TEST_CASE(a_listener_that_throws_undoes_no_launch) {
  const fr::stream s;
  ints a({100}, 1);
  int told = 0;
  auto g = fr::capture(s, [&] {
    fr::parallel_for(s, 100, add{1}, a);
    fr::when_launched([](fr::stream_ref) { throw std::runtime_error("as a test wants"); });
    fr::when_launched([](fr::stream_ref) { throw 5; });
    fr::when_launched([&](fr::stream_ref) { ++told; });
  });
  g.launch(s);
  BOOST_TEST(told == 1);
  CHECK_EQUAL(a, std::vector<int>(100, 2));
}

BOOST_AUTO_TEST_CASE(a_graph_without_work) {
  const fr::stream s{fr::devices().front()};
  ints a({100}, 1);
  fr::graph g;
  BOOST_TEST(!g);
  check_error<fr::invalid_argument>([&] { g.launch(s); }, {"the graph has no work", "fr::capture"});
  g = fr::capture(s, [&] { fr::parallel_for(s, 100, add{1}, a); });
  BOOST_TEST(!!g);
  g.launch(s);
  CHECK_EQUAL(a, std::vector<int>(100, 2));
  const fr::graph moved = std::move(g);
  check_error<fr::invalid_argument>([&] { g.launch(s); }, {"the graph has no work"});
}

BOOST_AUTO_TEST_CASE(two_streams_and_work_in_between) {
  const fr::stream s{fr::devices().front()}, t{fr::devices().front()}, u{fr::devices().front()};
  ints x({1000}, 1), y({1000}, 2), z({1000}, 0);
  auto step = fr::capture(s, [&] {
    fr::parallel_for(s, 1000, add_from{}, fr::in(x), y);  // y += x
    fr::parallel_for(t, 1000, add_from{}, fr::in(y), x);  // x += y, after it
    fr::parallel_for(s, 1000, add_from{}, fr::in(y), z);  // z += y, concurrent with it
    fr::parallel_for(t, 1000, triple{}, z);
  });
  fr::graph moved(std::move(step));
  unsigned ex = 1, ey = 2, ez = 0;
  const auto expect = [&] { ey += ex, ex += ey, ez = 3 * (ez + ey); };
  for (int i = 0; i < 5; ++i) {
    moved.launch(i % 2 ? s : u);
    expect();
    if (i % 2) moved.launch(t), expect();  // again, without waiting
    fr::parallel_for(u, 1000, add{1}, x);
    ++ex;
    if (i % 3 == 0) BOOST_TEST(std::as_const(z)[500] == static_cast<int>(ez));
    if (i == 3) y[7] = static_cast<int>(ey);  // a write of the CPU in between
  }
  CHECK_EQUAL(std::as_const(x), std::vector<int>(1000, static_cast<int>(ex)));
  CHECK_EQUAL(std::as_const(y), std::vector<int>(1000, static_cast<int>(ey)));
  CHECK_EQUAL(std::as_const(z), std::vector<int>(1000, static_cast<int>(ez)));
}

BOOST_AUTO_TEST_CASE(a_graph_of_two_devices, *needs_peers(0, 1) * two_devices) {
  const fr::stream s{fr::device(0)}, t{fr::device(1)};
  auto x = fr::full<int, 1, memory_kind::device>({1000}, 1, fr::device(0));
  auto y = fr::full<int, 1, memory_kind::device>({1000}, 2, fr::device(1));
  auto z = fr::zeros<int, 1, memory_kind::host>({1000}, fr::device(1));
  auto g = fr::capture(s, [&] {
    fr::parallel_for(t, 1000, add_from{}, fr::in(x), y);
    fr::parallel_for(s, 1000, add_from{}, fr::in(y), x);
    fr::copy(t, x, z);
  });
  unsigned ex = 1, ey = 2;
  for (int i = 0; i < 6; ++i) {
    g.launch(i % 2 ? s : t);
    ey += ex, ex += ey;
    BOOST_TEST(std::as_const(z)[i] == static_cast<int>(ex));
    if (i == 3) fr::fill(x, 5), ex = 5;
  }
  CHECK_EQUAL(fr::to_vector(y), std::vector<int>(1000, static_cast<int>(ey)));
}

BOOST_AUTO_TEST_CASE(a_graph_copies_between_devices, *needs_devices(2) * two_devices) {
  const fr::stream s{fr::device(0)};
  auto x = fr::full<int, 1, memory_kind::device>({1000}, 1, fr::device(0));
  auto y = fr::zeros<int, 1, memory_kind::device>({1000}, fr::device(1));
  auto back = fr::zeros<int, 1, memory_kind::device>({1000}, fr::device(0));
  auto pages = fr::zeros<int, 1, memory_kind::unified>({1000}, fr::device(1));
  auto g = fr::capture(s, [&] {
    fr::parallel_for(s, 1000, add{1}, x);
    fr::copy(s, x, y);
    fr::copy(s, y, back);
    fr::copy(s, back, pages);
  });
  for (int i = 0; i < 3; ++i) g.launch(s);
  const std::vector<int> expected(1000, 4);
  CHECK_EQUAL(fr::to_vector(y), expected);
  CHECK_EQUAL(fr::to_vector(back), expected);
  CHECK_EQUAL(pages, expected);
}

BOOST_AUTO_TEST_CASE(arrays_made_inside_belong_to_the_graph) {
  const fr::stream s;
  ints x({1000}, 1);
  const std::size_t before = fr::runtime::current().allocations();
  fr::scalar<std::int64_t> sum;
  {
    auto g = fr::capture(s, [&] {
      fr::device_array<int> inside({1000});
      fr::fill(s, inside, 4);
      fr::parallel_for(s, 1000, add_from{}, fr::in(x), inside);
      fr::parallel_for(s, 1000, add_from{}, fr::in(inside), x);
      sum = fr::parallel_reduce(s, 1000, value_of{}, fr::plus{}, fr::in(inside));
    });
    BOOST_TEST(fr::runtime::current().allocations() > before);
    int ex = 1;
    for (int i = 0; i < 4; ++i) {
      const fr::device_array<int> other({1000}, -1);  // reuses none of the bytes that the graph holds
      g.launch(s);
      const int inside = 4 + ex;
      ex += inside;
      BOOST_TEST(std::as_const(x)[10] == ex);
      BOOST_TEST(sum.value() == 1000 * inside);
      CHECK_EQUAL(fr::to_vector(other), std::vector<int>(1000, -1));
    }
    g.launch(s);  // destroying a running graph waits for it
  }
  sum = fr::scalar<std::int64_t>();
  BOOST_TEST(fr::runtime::current().allocations() == before + 1);
}

BOOST_AUTO_TEST_CASE(graphs_own_their_arrays_unless_freed) {
  const fr::stream s;
  ints y({100}, 0), gone({100}, 1);
  fr::graph g = fr::capture(s, [&] {});
  {
    const ints x({100}, 7);
    g = fr::capture(s, [&] { fr::parallel_for(s, 100, add_from{}, fr::in(x), y); });
  }
  const ints other({100}, -5);
  g.launch(s);
  CHECK_EQUAL(std::as_const(y), std::vector<int>(100, 7));
  auto h = fr::capture(s, [&] { fr::parallel_for(s, 100, add{1}, gone); });
  gone.free();
  check_error<fr::use_after_free>([&] { h.launch(s); }, {"free()"});
}

BOOST_AUTO_TEST_CASE(what_cannot_be_captured_says_so) {
  const fr::stream s, t;
  ints a({100}, 1);
  a.name("pressure");
  ints untouched({100}, 1);
  untouched.name("velocity");
  fr::fill(untouched, 2);
  const auto refused = [&](auto call, std::initializer_list<std::string_view> parts) {
    check_error<fr::invalid_argument>(
        [&] {
          (void)fr::capture(s, [&] {
            fr::parallel_for(s, 100, add{1}, a);
            call();
          });
        },
        parts);
    fr::parallel_for(s, 100, add{1}, a);  // the program continues, on the same stream
    CHECK_EQUAL(fr::to_vector(a), std::vector<int>(100, 2));
    fr::fill(a, 1);
  };
  refused([&] { fr::pointer(a, s); }, {"raw pointer", "pressure", "inside a capture"});
  refused([&] { fr::pointer(std::as_const(untouched), t); }, {"raw pointer", "velocity"});
  refused([&] { a[3] = 1; }, {"access from the CPU", "pressure"});
  refused([&] { (void)*std::as_const(untouched).begin(); }, {"access from the CPU", "velocity"});
  refused([&] { (void)fr::host(a); }, {"access from the CPU", "pressure"});
  refused([&] { fr::to_vector(a); }, {"memory of the CPU", "pressure", "inside a capture"});
  refused([&] { fr::copy(std::vector<int>(100), a); }, {"memory of the CPU", "pressure"});
  refused([&] { s.synchronize(); }, {"synchronize", "inside a capture"});
  refused([&] { t.wait(s); }, {"inside a capture"});
  refused([&] { (void)fr::capture(t, [] {}); }, {"begun inside another"});
}

BOOST_AUTO_TEST_CASE(what_the_cpu_was_allowed_before_a_capture_does_not_hold_inside) {
  const fr::stream s;
  ints a({100}, 1), untouched({100}, 5);
  a.name("pressure");
  BOOST_TEST((a[3] == 1 && untouched[3] == 5));  // one access check: further accesses cost one comparison
  check_error<fr::invalid_argument>(
      [&] {
        (void)fr::capture(s, [&] {
          fr::parallel_for(s, 100, add{1}, a);
          BOOST_TEST(untouched[3] == 5);  // no captured work uses it
          BOOST_ERROR("the captured work did not run yet, and the CPU was given " << a[3]);
        });
      },
      {"access from the CPU", "pressure"});
  BOOST_TEST(a[3] == 1);
}

BOOST_AUTO_TEST_CASE(a_body_that_throws_leaves_all_usable) {
  const fr::stream s{fr::devices().front()}, t{fr::devices().back()};
  ints a({100}, 1, fr::devices().back());
  for (int i = 0; i < 3; ++i)
    BOOST_CHECK_THROW((void)fr::capture(s,
                                        [&] {
                                          fr::parallel_for(s, 100, add{1}, a);
                                          fr::parallel_for(t, 100, add{1}, a);  // never joined
                                          throw 5;
                                        }),
                      int);
  CHECK_EQUAL(a, std::vector<int>(100, 1));
  fr::parallel_for(t, 100, add{1}, a);
  auto g = fr::capture(t, [&] { fr::parallel_for(s, 100, add{10}, a); });
  g.launch(s);
  CHECK_EQUAL(a, std::vector<int>(100, 12));
}

BOOST_AUTO_TEST_CASE(copies_and_fills_in_a_graph) {
  const fr::stream s{fr::devices().back()};
  auto a = counted<int, 2, memory_kind::device>(fr::extents<2>(5, 7), s.where());
  fr::host_array<int, 2> b({7, 5}, 0, s.where());
  auto g = fr::capture(s, [&] {
    fr::copy(s, a.transpose(), b);
    fr::fill(s, a.slice({{0, 5}, {0, 7, 3}}), -1);
    fr::copy(s, a, a);                                  // nothing
    fr::copy(s, a.slice({{0, 4}}), a.slice({{1, 5}}));  // overlapping
  });
  g.launch(s);
  for (std::size_t i = 0; i < 7; ++i)
    for (std::size_t j = 0; j < 5; ++j) BOOST_TEST(b(i, j) == static_cast<int>(7 * j + i));
  g.launch(s);
  for (std::size_t i = 0; i < 7; ++i)
    for (std::size_t j = 0; j < 5; ++j)
      BOOST_TEST(std::as_const(b)(i, j) == (i % 3 == 0 ? -1 : static_cast<int>(7 * (j ? j - 1 : 0) + i)));
}

BOOST_AUTO_TEST_SUITE_END()
