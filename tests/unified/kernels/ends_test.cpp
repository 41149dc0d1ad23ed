// Situations that must not end a program by a signal: work after main, scopes that end elsewhere, pools destroyed
// early, exit() in a loop over batches.
#include <cstdlib>
#include <ferry/unified.hpp>
#include <memory>
#include <thread>

#include "support/apart.hpp"

namespace fr = ferry;
using support::at_the_end;
using support::ending;
using support::must_hold;
using support::run_apart;

namespace ends {
namespace {

struct add_one {
  FERRY_HOST_DEVICE void operator()(std::size_t i, fr::mdspan<int, 1> a) const { a(i) += 1; }
};

struct value_of {
  FERRY_HOST_DEVICE int operator()(std::size_t i, fr::mdspan<const int, 1> a) const { return a(i); }
};

}  // namespace
}  // namespace ends

BOOST_AUTO_TEST_SUITE(ends, *boost::unit_test::precondition(support::devices_are_simulated))

BOOST_AUTO_TEST_CASE(static_objects_work_after_main) {
  const std::pair<const char*, void (*)()> backend[] = {
      {"copy",
       [] {
         (void)fr::to_vector(fr::device_array<int>::from({1, 2, 3}));
       }},
      {"fill", [] { fr::fill(fr::device_array<int>({100}), 1); }},
      {"kernel", [] { fr::parallel_for(100, add_one{}, fr::unified_array<int>({100}, 1)); }},
      {"reduction",
       [] { (void)fr::parallel_reduce(100, value_of{}, fr::plus{}, fr::unified_array<int>({100}, 1)).value(); }},
      {"stream",
       [] {
         fr::stream s(fr::device(1));
         fr::fill(s, fr::device_array<int>({100}, fr::device(1)), 1);
         s.synchronize();
       }},
      {"graph",
       [] {
         fr::device_array<int> a({10});
         fr::stream s;
         fr::graph g = fr::capture(s, [&] { fr::fill(s, a, 1); });
         g.launch(s);
       }},
      {"elements",
       [] {
         fr::unified_array<int> a({10}, 1);
         a(3) = 4;
       }},
      {"pageable memory",
       [] {
         std::vector<int> v(std::size_t{1} << 20, 3);
         fr::device_array<int> a({v.size()});
         fr::copy(v, a);
         fr::copy(a, v);
       }},
      {"batches",
       [] {
         std::vector<int> v(1000, 3);
         for (auto piece : fr::batches(v, {.size = 100})) (void)piece.size();
       }},
      {"pin",
       [] {
         std::vector<int> v(1000, 3);
         const auto p = fr::pin(v);
         fr::fill(fr::as_unified(*std::make_unique<std::vector<int>>(100)), 3);
       }},
      {"other thread", [] { std::thread([] { fr::fill(fr::device_array<int>({100}), 1); }).join(); }},
  };
  for (const auto& [name, verb] : backend)
    for (const bool used_before : {false, true}) {
      const ending e = run_apart([&, v = verb] {
        static at_the_end last{v};
        if (used_before) v();
        std::exit(0);
      });
      BOOST_TEST(e.is_right(), name << (used_before ? ", used before: " : ": ") << e);
    }
}

BOOST_AUTO_TEST_CASE(a_workspace_scope_ends_on_another_thread) {
  const ending e = run_apart([] {
    fr::workspace w;
    auto scope = std::make_unique<fr::workspace_scope>(w);
    fr::device_array<int> a({1000}, 1);
    std::thread([&] {
      scope.reset();
      must_hold(!fr::workspace_scope::current(), "the other thread is in no scope");
      const fr::device_array<int> other({1000}, 1);
      must_hold(w.statistics().taken == 1, "nor are its arrays");
    }).join();
    for (int i = 0; i < 100; ++i) {  // reuses the memory of the scope object
      const auto other = std::make_unique<std::array<char, sizeof(fr::workspace_scope)>>();
      other->fill('x');
      const fr::device_array<int> b({1000}, 2);
    }
    must_hold(!fr::workspace_scope::current(), "the scope has ended");
    must_hold(w.statistics().taken == 1, "so that arrays come from pools");
    must_hold(fr::to_vector(a) == std::vector<int>(1000, 1), "the array");
  });
  BOOST_TEST(e.is_right(), e);
}

BOOST_AUTO_TEST_CASE(scopes_end_in_any_order) {
  const ending e = run_apart([] {
    fr::workspace w, v;
    auto outer = std::make_unique<fr::workspace_scope>(w), inner = std::make_unique<fr::workspace_scope>(v);
    outer.reset();
    const fr::device_array<int> a({10}, 1);
    must_hold(v.statistics().taken == 1 && w.statistics().taken == 0, "the inner one holds");
    inner.reset();
    must_hold(!fr::workspace_scope::current(), "all have ended");
    fr::pool p, q;
    auto first = std::make_unique<fr::pool_scope>(p), second = std::make_unique<fr::pool_scope>(q);
    first.reset();
    const fr::device_array<int> b({10}, 1);
    must_hold(q.statistics().allocations == 1 && p.statistics().allocations == 0, "the inner pool");
    second.reset();
    const fr::device_array<int> c({10}, 1);
    must_hold(!fr::pool_scope::of(0) && q.statistics().allocations == 1, "the machine's pool");
  });
  BOOST_TEST(e.is_right(), e);
}

BOOST_AUTO_TEST_CASE(a_workspace_goes_within_its_scope) {
  const ending e = run_apart([] {
    auto w = std::make_unique<fr::workspace>();
    const fr::workspace_scope scope(*w);
    const fr::device_array<int> a({1000}, 1);
    { const fr::device_array<int> b({500}, 1); }
    w.reset();
    const fr::device_array<int> c({1000}, 3);
    must_hold(fr::to_vector(a) == std::vector<int>(1000, 1) && fr::to_vector(c) == std::vector<int>(1000, 3), "arrays");
  });
  BOOST_TEST(e.is_right(), e);
}

BOOST_AUTO_TEST_CASE(a_pool_goes_within_its_scope) {
  for (const bool moved : {false, true}) {
    const ending e = run_apart([=] {
      auto p = std::make_unique<fr::pool>(fr::device(1));
      const fr::pool_scope scope(*p);
      const fr::device_array<int> a({1000}, 1, fr::device(1));
      std::unique_ptr<fr::pool> to;
      if (moved) to = std::make_unique<fr::pool>(std::move(*p));
      p.reset();
      for (int i = 0; i < 100; ++i) {  // reuses the memory of the pool object
        const auto other = std::make_unique<std::array<char, sizeof(fr::pool)>>();
        other->fill('x');
        const fr::device_array<int> b({1000}, 2, fr::device(1));
        must_hold(fr::to_vector(b) == std::vector<int>(1000, 2), "b");
      }
      const fr::pool fresh(fr::device(1));  // does not get the pool that the scope still uses
      const fr::device_array<int> c({10}, 2, fr::device(1));
      must_hold(fresh.statistics().allocations == 0, "another pool");
      if (to) must_hold(to->statistics().allocations == 2, "the scope names the pool wherever it is moved");
    });
    BOOST_TEST(e.is_right(), (moved ? "moved: " : "destroyed: ") << e);
  }
}

BOOST_AUTO_TEST_CASE(exit_in_a_loop_over_batches) {
  for (const auto threads : {fr::detail::batch_threads::background, fr::detail::batch_threads::none})
    for (const bool written : {false, true})
      for (const bool on_main : {true, false})
        for (int seed = 0; seed < 3; ++seed) {
          const ending e = run_apart([&] {
            static std::vector<int> v(std::size_t{1} << 23, 1);
            const auto loop = [&] {
              std::size_t pieces = 0;
              const auto leave = [&](auto& all) {
                for (auto piece : all) {
                  fr::parallel_for(piece.extent(0), add_one{}, piece);
                  if (pieces++ == static_cast<std::size_t>(seed)) std::exit(0);
                }
              };
              if (written) {
                auto all = fr::batches(fr::inout(v), {.size = std::size_t{1} << 19, .depth = 8, .threads = threads});
                leave(all);
              } else {
                auto all = fr::batches(v, {.size = std::size_t{1} << 19, .depth = 8, .threads = threads});
                leave(all);
              }
            };
            on_main ? loop() : std::thread(loop).join();
          });
          BOOST_TEST(e.is_right(), "written " << written << " main " << on_main << " seed " << seed << ": " << e);
        }
}

BOOST_AUTO_TEST_SUITE_END()
