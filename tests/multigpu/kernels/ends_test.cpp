// Situations that must not end a program by a signal: a team's submission mode changes within its loop, and work after
// main.
#include <cstdlib>
#include <ferry/ferry.hpp>

#include "support/apart.hpp"

namespace fr = ferry;
using support::at_the_end;
using support::ending;
using support::must_hold;
using support::run_apart;

namespace multigpu_ends {
namespace {

struct add_cell {
  FERRY_HOST_DEVICE void operator()(std::size_t i, fr::shard_span<int, 1> a) const { a(i) += 1; }
};
struct cell {
  FERRY_HOST_DEVICE int operator()(std::size_t i, fr::shard_span<const int, 1> a) const { return a(i); }
};

}  // namespace
}  // namespace multigpu_ends

BOOST_AUTO_TEST_SUITE(multigpu_ends, *boost::unit_test::precondition(support::devices_are_simulated))

BOOST_AUTO_TEST_CASE(submission_changes_in_a_loop) {
  for (const std::size_t by : {0u, 1u, 2u}) {
    const ending e = run_apart([=] {
      fr::team t = fr::team::all();
      t.submit(fr::submission::by_threads);
      std::atomic<int> calls{0};
      std::string text;
      try {
        t.for_each([&](std::size_t m) {
          ++calls;
          if (m == by) t.submit(fr::submission::by_caller);
        });
      } catch (const fr::invalid_argument& refused) {
        text = refused.what();
      }
      must_hold(text.find("team::submit inside a loop over the team") != std::string::npos, text.c_str());
      must_hold(calls == 3 && t.how_submitted() == fr::submission::by_threads, "the loop goes on");
      t.submit(fr::submission::by_caller);
      t.for_each([&](std::size_t m) {
        ++calls;
        if (m == by) t.submit(fr::submission::by_threads);  // from the next loop on
      });
      must_hold(calls == 6 && t.how_submitted() == fr::submission::by_threads, "by the caller");
      t.for_each([&](std::size_t) { ++calls; });
      must_hold(calls == 9, "and by threads");
    });
    BOOST_TEST(e.is_right(), by << ": " << e);
  }
}

BOOST_AUTO_TEST_CASE(static_objects_work_after_main) {
  const auto use = [](fr::submission how) {
    fr::team t = fr::team::all();
    t.submit(how);
    fr::sharded_array<int, 1> a(t, {30}, {.halo = 1, .periodic = true}, 1);
    fr::exchange_halos(a);
    fr::parallel_for(fr::owned(a), add_cell{}, a);
    must_hold(fr::parallel_reduce(fr::owned(a), cell{}, fr::plus{}, std::as_const(a)).value() == 60, "a reduction");
    std::vector<fr::device_array<int>> each;
    for (const fr::device d : fr::devices()) each.emplace_back(fr::extents<1>{5}, 1, d);
    fr::all_reduce(t, each, fr::plus{});
    must_hold(fr::to_vector(each[2]) == std::vector<int>(5, 3), "a collective");
  };
  for (const auto how : {fr::submission::by_caller, fr::submission::by_threads})
    for (const bool used_before : {false, true}) {
      const ending e = run_apart([=] {
        static at_the_end last{[=] { use(how); }};
        if (used_before) use(how);
        std::exit(0);
      });
      BOOST_TEST(e.is_right(), (used_before ? "used before: " : "") << e);
    }
}

BOOST_AUTO_TEST_SUITE_END()
