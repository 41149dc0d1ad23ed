// Regression tests for defects that reviews found.
#include <atomic>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include <boost/test/unit_test.hpp>

#include <ferry/core.hpp>

#include "ferry/core/detail/ordering/timelines.hpp"
#include "ferry/core/detail/pools/memory_pool.hpp"
#include "support/counting_backend.hpp"
#include "support/quiet_stderr.hpp"
#include "support/seeds.hpp"

namespace fr = ferry;

namespace found {
namespace {

struct fails {
  FERRY_HOST_DEVICE void operator()(std::size_t i, int* y) const {
    FERRY_ASSERT(i > 1000, "always");
    y[i] = 1;
  }
};
struct add_one {
  FERRY_HOST_DEVICE void operator()(std::size_t i, int* y) const { y[i] += 1; }
};
struct count {
  FERRY_HOST_DEVICE void operator()(fr::tile t, int* y) const { *y += static_cast<int>(t.rows * t.columns); }
};

template <class Body>
void over_seeds(std::size_t seeds, const std::string& options, Body body) {
  for (std::size_t seed = 0; seed < support::seeds(seeds); ++seed) {
    fr::simulation sim(options + ";schedule=random:" + std::to_string(seed));
    body(seed);
  }
}

}  // namespace
}  // namespace found

BOOST_AUTO_TEST_SUITE(found)

// Blocks that split and join repeatedly: the history of the remainder stays short.
BOOST_AUTO_TEST_CASE(logs_of_split_blocks_do_not_grow) {
  fr::simulation sim("devices=1;schedule=random:1");
  fr::detail::memory_pool& pool = sim.get().pool(fr::memory_kind::device, 0);
  { fr::device_array<char> a({1 << 20}, 'x'); }
  for (int i = 0; i < 100; ++i) pool.allocate(4096);
  const fr::detail::allocation_ref a = pool.allocate(4096);
  BOOST_TEST(a.get().history.uses().size() <= 2u);
  const fr::device_array<char> rest({1000000});
  BOOST_TEST(rest.owner().get().history.uses().size() <= 2u);
}

// The source of an upload may be pinned memory that the CPU changes as soon as the call returns.
BOOST_AUTO_TEST_CASE(uploads_from_pinned_memory_block) {
  over_seeds(50, "devices=2", [](std::size_t seed) {
    fr::host_array<int> h({100}, 0);
    for (int& e : h) e = 1;
    fr::device_array<int> d({100}, 0, fr::devices()[1]);
    fr::copy(fr::host_span(h), d);
    for (int& e : h) e = 7;
    BOOST_TEST(fr::to_vector(d)[50] == 1, "seed " << seed);
  });
}

BOOST_AUTO_TEST_CASE(a_freed_array_may_outlive_its_machine) {
  fr::device_array<int> a;
  {
    fr::simulation sim("devices=1");
    a = fr::device_array<int>({100}, 1);
    a.free();
  }
  BOOST_CHECK_THROW((void)a.name(), fr::use_after_free);
}

// Querying whether work is complete does not close an open raw pointer.
BOOST_AUTO_TEST_CASE(a_query_does_not_close_a_raw_pointer) {
  over_seeds(100, "devices=2", [](std::size_t seed) {
    fr::stream s0{fr::devices()[0]}, s1{fr::devices()[1]};
    fr::unified_array<int> u({64}, 0);
    int* p = fr::pointer(u, s0);
    BOOST_TEST(!u.is_ready());
    const fr::detail::kernel_use use{reinterpret_cast<const std::byte*>(p), 64 * sizeof(int), true, true};
    fr::runtime::current().backend().launch(s0.timeline().stream(),
                                            {"own", {&use, 1}, [p](const fr::detail::relocation& move) {
                                               for (int i = 0; i < 64; ++i) move(p)[i] = 5;
                                             }});
    fr::fill(s1, u.slice({0, 32}), 6);
    BOOST_TEST((u[0] == 6 && u[63] == 5), "seed " << seed);
  });
}

// A device failure does not make work of another device count as complete.
BOOST_AUTO_TEST_CASE(a_broken_device_leaves_the_others_in_order) {
  for (std::size_t seed = 0; seed < support::seeds(40); ++seed) {
    const support::machine_that_breaks sim("devices=2;schedule=random:" + std::to_string(seed));
    fr::stream s0{fr::devices()[0]}, s2{fr::devices()[0]}, s1{fr::devices()[1]};
    fr::unified_array<int> bad({64}, 0), good({64}, 0), more({64}, 0);
    fr::default_stream(fr::devices()[0]).synchronize();
    try {
      fr::parallel_for(s1, 64, fails{}, bad);
      s1.synchronize();
    } catch (const fr::device_error&) {
    }
    try {
      fr::copy(s0, std::as_const(bad), more);
    } catch (const fr::device_error&) {
    }
    for (int i = 1; i <= 8; ++i) fr::fill(i % 2 ? s0 : s2, good, i);
    BOOST_TEST(good[63] == 8, "seed " << seed);
  }
}

BOOST_AUTO_TEST_CASE(tiles_wider_than_any_space) {
  fr::simulation sim("devices=1");
  fr::unified_array<int> y({1}, 0);
  fr::parallel_for(fr::tiles{fr::extents<2>{2, 10}, 1, std::size_t(-1)}, count{}, y);
  BOOST_TEST(y[0] == 20);
}

BOOST_AUTO_TEST_CASE(an_empty_strided_view_is_a_range) {
  fr::simulation sim("devices=1");
  fr::unified_array<int, 2> a({4, 6}, 1);
  auto none = a.slice({{2, 2}, {0, 6, 2}});
  BOOST_TEST((none.begin() == none.end()));
}

// A capture waits for each earlier step once: a chain over two streams has one wait per step.
BOOST_AUTO_TEST_CASE(captures_of_many_steps) {
  fr::simulation sim("devices=2;schedule=random:3");
  fr::stream a{fr::devices()[0]}, b{fr::devices()[1]};
  fr::unified_array<int> x({16}, 0);
  fr::graph g = fr::capture(a, [&] {
    for (int i = 1; i <= 400; ++i) fr::fill(i % 2 ? a : b, x, i);
  });
  g.launch(b);
  BOOST_TEST(x[15] == 400);
}

BOOST_AUTO_TEST_CASE(a_joint_operation_names_each_stream_once) {
  fr::simulation sim("devices=1");
  fr::stream s;
  fr::detail::joint_guard::part parts[] = {
      fr::detail::joint_guard::part(fr::detail::admission::unchecked(s.timeline(), {})),
      fr::detail::joint_guard::part(fr::detail::admission::unchecked(s.timeline(), {}))};
  BOOST_CHECK_THROW(fr::detail::joint_guard{parts}, fr::invalid_argument);
}

// R18: work that another thread enqueues on a stream about to be captured comes before the stream's last event, or is
// refused.
BOOST_AUTO_TEST_CASE(nothing_slips_between_the_last_mark_and_the_capture) {
  over_seeds(20, "devices=2", [](std::size_t seed) {
    support::call_counts calls;
    fr::detail::backend& below = fr::runtime::current().backend();
    fr::runtime_scope scope(std::make_unique<support::counting_backend>(below, calls));
    fr::stream s;
    fr::unified_array<int> x({64}, 0), z({64}, 0);
    fr::default_stream(fr::devices()[0]).synchronize();
    std::thread other;
    std::atomic<int> given{0};
    calls.after_record = [&] {
      other = std::thread([&] {
        try {
          fr::parallel_for(s, 64, add_one{}, x);
          given = 1;
        } catch (const fr::invalid_argument&) {
        }
      });
      std::this_thread::sleep_for(std::chrono::milliseconds(3));  // event recorded, capture not begun
    };
    int seen = -1;
    fr::graph g = fr::capture(s, [&] {
      other.join();
      fr::fill(s, z, 1);
      std::thread([&] { seen = std::as_const(x)[5]; }).join();
    });
    BOOST_TEST(seen == given, "seed " << seed);
    g.launch(s);
    BOOST_TEST((x[5] == given && z[5] == 1), "seed " << seed);
  });
}

// R18: two threads capture one stream: the second call is refused, and the first is unaffected.
BOOST_AUTO_TEST_CASE(a_stream_enters_one_capture) {
  over_seeds(10, "devices=2", [](std::size_t seed) {
    support::call_counts calls;
    fr::detail::backend& below = fr::runtime::current().backend();
    fr::runtime_scope scope(std::make_unique<support::counting_backend>(below, calls));
    fr::stream s, t;
    fr::unified_array<int> z({64}, 0);
    std::thread other;
    bool refused = false;
    calls.after_record = [&] {
      other = std::thread([&] {
        try {
          fr::capture(s, [] {});
        } catch (const fr::invalid_argument&) {
          refused = true;
        }
      });
      std::this_thread::sleep_for(std::chrono::milliseconds(3));
    };
    fr::graph g = fr::capture(s, [&] {
      other.join();
      fr::fill(s, z, 1);
      std::thread([&] {  // nothing from another thread enters the capture, whether work or a wait
        const fr::event e(t);
        BOOST_CHECK_THROW(fr::fill(s, z, 2), fr::invalid_argument);
        BOOST_CHECK_THROW((void)s.record(), fr::invalid_argument);
        BOOST_CHECK_THROW(s.wait(e), fr::invalid_argument);
        BOOST_CHECK_THROW(s.wait(t), fr::invalid_argument);
      })
          .join();
    });
    BOOST_TEST(refused);
    g.launch(s);
    BOOST_TEST(z[5] == 1, "seed " << seed);
  });
}

BOOST_AUTO_TEST_CASE(streams_of_another_machine_are_refused) {
  const fr::simulation outer("devices=1");
  fr::stream s;
  const fr::simulation inner("devices=2");
  std::vector<fr::stream> many(100);
  fr::unified_array<int> x({64}, 0);
  BOOST_CHECK_THROW(s.wait(many.back()), fr::invalid_argument);
  BOOST_CHECK_THROW(many.back().wait(s), fr::invalid_argument);
  BOOST_CHECK_THROW(fr::capture(s, [] {}), fr::invalid_argument);
  fr::graph g = fr::capture(many[0], [&] { fr::fill(many[0], x, 1); });
  BOOST_CHECK_THROW(g.launch(s), fr::invalid_argument);
  g.launch(many[99]);
  BOOST_TEST(x[5] == 1);
}

// The same with random timing: events, waits and raw pointers of two threads around captures of a third.
BOOST_AUTO_TEST_CASE(captures_among_threads_that_use_the_stream) {
  over_seeds(8, "devices=2", [](std::size_t seed) {
    fr::stream s{fr::devices()[0]}, t{fr::devices()[1]};
    fr::unified_array<int> x({64}, 0), y({64}, 0), z({64}, 0);
    for (const fr::device d : fr::devices()) fr::default_stream(d).synchronize();
    std::atomic<int> given{0};
    std::atomic<bool> stop{false};
    const auto attempt = [](auto call) {
      try {
        call();
        return 1;
      } catch (const fr::invalid_argument&) {
        return 0;
      }
    };
    std::thread first([&] {
      while (!stop) {
        given += attempt([&] { fr::parallel_for(s, 64, add_one{}, x); });
        given += attempt([&] { fr::parallel_for(t, 64, add_one{}, x); });  // contended: events, and waits for s
        (void)s.is_done();
      }
    });
    std::thread second([&] {
      while (!stop) {
        attempt([&] { (void)fr::pointer(y, s); });
        (void)std::as_const(y)[5];
        s.synchronize();
      }
    });
    for (int i = 1; i <= 25; ++i) fr::capture(s, [&] { fr::parallel_for(s, 64, add_one{}, z); }).launch(s);
    stop = true;
    first.join(), second.join();
    BOOST_TEST((x[5] == given && z[5] == 25), "seed " << seed << ": " << x[5] << " of " << given << ", " << z[5]);
  });
}

// R13: streams of the threads return to their own runtime's pool, whichever runtime is current.
BOOST_AUTO_TEST_CASE(nested_machines_leave_the_streams_of_the_outer_ones) {
  fr::simulation outer("devices=2");
  const fr::device d(1);
  const fr::stream_ref own = fr::default_stream(d);
  {
    fr::stream given_back{d};
    fr::simulation inner("devices=3");
    BOOST_TEST(!(fr::default_stream(d) == own));
    fr::stream moved(std::move(given_back));
  }
  BOOST_TEST((fr::default_stream(d) == own));
  const std::size_t streams = outer.get().streams().size();
  for (int i = 0; i < 3; ++i) {
    fr::simulation inner("devices=3");
    fr::default_stream(fr::device(2));
  }
  BOOST_TEST((fr::default_stream(d) == own));
  { const fr::stream again{d}; }
  for (int i = 0; i < 3; ++i) {
    std::atomic<int> stage{0};
    std::thread other([&] {
      fr::default_stream(d);
      for (stage = 1; stage < 2;) std::this_thread::yield();
    });
    while (stage < 1) std::this_thread::yield();
    const fr::simulation inner("devices=1");
    stage = 2;
    other.join();
  }
  BOOST_TEST(outer.get().streams().size() <= streams + 1);
}

BOOST_AUTO_TEST_SUITE_END()
