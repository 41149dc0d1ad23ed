// One test for each defect that a review found: each failed before its repair.
#include <string>

#include <boost/test/unit_test.hpp>

#include <ferry/core.hpp>

namespace fr = ferry;

namespace {

struct fails {
  FERRY_HOST_DEVICE void operator()(std::size_t i, int* y) const {
    FERRY_ASSERT(i > 1000, "always");
    y[i] = 1;
  }
};
struct count {
  FERRY_HOST_DEVICE void operator()(fr::tile t, int* y) const { *y += static_cast<int>(t.rows * t.columns); }
};

template <class Body>
void over_seeds(int seeds, const std::string& options, Body body) {
  for (int seed = 0; seed < seeds; ++seed) {
    fr::simulation sim(options + ";schedule=random:" + std::to_string(seed));
    body(seed);
  }
}

}  // namespace

BOOST_AUTO_TEST_SUITE(found)

// Blocks that split and join again and again: the log of the rest stays short.
BOOST_AUTO_TEST_CASE(logs_of_split_blocks_do_not_grow) {
  fr::simulation sim("devices=1;schedule=random:1");
  fr::memory_pool& pool = sim.get().pool(fr::memory_kind::device, 0);
  { fr::device_array<char> a({1 << 20}, 'x'); }
  for (int i = 0; i < 100; ++i) pool.allocate(4096);
  const fr::allocation_ref a = pool.allocate(4096);
  BOOST_TEST(a.get().log.uses().size() <= 2u);
  const fr::device_array<char> rest({1000000});
  BOOST_TEST(rest.owner().get().log.uses().size() <= 2u);
}

// The source of an upload may be pinned memory that the CPU changes as soon as the call returns.
BOOST_AUTO_TEST_CASE(uploads_from_pinned_memory_block) {
  over_seeds(50, "devices=2", [](int seed) {
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

// Asking whether work is over leaves a raw pointer out.
BOOST_AUTO_TEST_CASE(asking_does_not_close_a_raw_pointer) {
  over_seeds(100, "devices=2", [](int seed) {
    fr::stream s0{fr::devices()[0]}, s1{fr::devices()[1]};
    fr::unified_array<int> u({64}, 0);
    int* p = fr::pointer(u, s0);
    BOOST_TEST(!u.is_ready());
    const fr::kernel_use use{reinterpret_cast<const std::byte*>(p), 64 * sizeof(int), true, true};
    fr::machine::current().verbs().launch(s0.line().stream(), {"own", {&use, 1}, [p](const fr::relocation& move) {
                                                                 for (int i = 0; i < 64; ++i) move(p)[i] = 5;
                                                               }});
    fr::fill(s1, u.slice({0, 32}), 6);
    BOOST_TEST((u[0] == 6 && u[63] == 5), "seed " << seed);
  });
}

// A device that breaks does not make another count as finished.
BOOST_AUTO_TEST_CASE(a_broken_device_leaves_the_others_in_order) {
  for (int seed = 0; seed < 40; ++seed) {
    fr::simulation sim("devices=2;schedule=random:" + std::to_string(seed));
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

// Old steps of a capture are waited for once: a chain over two streams has a wait for each step.
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
  fr::joint_guard::part parts[] = {{&s.line(), {}}, {&s.line(), {}}};
  BOOST_CHECK_THROW(fr::joint_guard{parts}, fr::invalid_argument);
}

BOOST_AUTO_TEST_SUITE_END()
