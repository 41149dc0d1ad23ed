// Drivers that refuse moves and advice, and systems without threads for moves: programs continue without them.
#include <pthread.h>

#include <boost/test/unit_test.hpp>

#include <ferry/unified.hpp>

#include "support/counting_backend.hpp"
#include "support/failures.hpp"
#include "support/quiet_stderr.hpp"

namespace fr = ferry;
using support::has;

namespace refused_moves {
namespace {

constexpr std::size_t n = (std::size_t{8} << 20) / sizeof(float);

class refusing_backend : public support::counting_backend {
 public:
  using counting_backend::counting_backend;
  bool refuses_moves = false, refuses_advice = false;
  void prefetch(fr::native_stream s, void* p, std::size_t bytes, fr::memory_location to) override {
    if (refuses_moves) throw fr::not_supported("prefetch: not today");
    counting_backend::prefetch(s, p, bytes, to);
  }
  void prefetch_many(fr::native_stream s, std::span<const fr::detail::page_move> moves, bool discard) override {
    if (refuses_moves) throw fr::not_supported("prefetch: not today");
    counting_backend::prefetch_many(s, moves, discard);
  }
  void advise(void* p, std::size_t bytes, fr::memory_advice a, fr::memory_location at) override {
    if (refuses_advice && a == fr::memory_advice::preferred_location) throw fr::not_supported("advise: not today");
    counting_backend::advise(p, bytes, a, at);
  }
};

// A simulated runtime on such a backend.
struct refusing_machine {
  fr::simulation sim{"devices=2;memory=64MiB"};
  support::call_counts calls;
  std::unique_ptr<refusing_backend> owned = std::make_unique<refusing_backend>(fr::runtime::current().backend(), calls);
  refusing_backend& driver = *owned;
  fr::runtime_scope scope{std::move(owned)};
};

// While it lives the process cannot create threads: their stacks would exceed any address space.
class no_threads {
 public:
  no_threads() {
    pthread_getattr_default_np(&before_);
    pthread_attr_t huge;
    pthread_attr_init(&huge);
    pthread_attr_setstacksize(&huge, std::size_t{1} << 60);
    pthread_setattr_default_np(&huge);
    pthread_attr_destroy(&huge);
  }
  ~no_threads() {
    pthread_setattr_default_np(&before_);
    pthread_attr_destroy(&before_);
  }

 private:
  pthread_attr_t before_;
};

}  // namespace
}  // namespace refused_moves

BOOST_AUTO_TEST_SUITE(refused_moves)

// The driver refuses the policy's advice for an added range: the use still succeeds, because its caller requested no
// policy.
BOOST_AUTO_TEST_CASE(a_policy_outlives_growth_that_the_driver_refuses) {
  refusing_machine m;
  const support::quiet_stderr said;
  auto* const p = static_cast<float*>(m.driver.allocate(fr::memory_kind::unified, 0, n * sizeof(float)));
  {
    auto half = fr::borrow<fr::memory_kind::unified>(p, n / 2);
    fr::set_policy(half, fr::array_policy::parse("explicit preferred=cpu"));
    auto all = fr::borrow<fr::memory_kind::unified>(p, n);
    m.driver.refuses_advice = true;
    for (float& x : all) x = 1;
    fr::fill(all, 2.f);
    BOOST_TEST(std::as_const(all)[n - 1] == 2);
    BOOST_REQUIRE(fr::policy_of(half));
    BOOST_TEST(fr::policy_of(half)->text() == "explicit preferred=cpu");
  }
  m.driver.release(fr::memory_kind::unified, 0, p, n * sizeof(float));
}

BOOST_AUTO_TEST_CASE(migration_ends_and_says_why) {
  refusing_machine m;
  fr::unified_array<float> u({n}, 0.f);
  u.name("u");
  m.driver.refuses_moves = true;
  support::quiet_stderr said;
  for (int i = 1; i <= 12; ++i) {
    for (float& x : u) x = static_cast<float>(i);
    fr::fill(u.slice({0, n / 2}), -1.f);
    BOOST_TEST((std::as_const(u)[0] == -1 && std::as_const(u)[n - 1] == static_cast<float>(i)));
    const std::string why = fr::report_migration().migration_ended;
    BOOST_TEST(why.empty() == (said.text().empty()));
    BOOST_TEST((i > 1 || why.empty()), "one failure is not the end");
  }
  const std::string text = said.text();
  BOOST_TEST((text.starts_with("ferry: automatic migration has ended") && has(text, "not today") &&
              text.find('\n') + 1 == text.size()),
             "said once: " << text);
  const fr::migration_report r = fr::report_migration();
  for (const std::string& where : {r.migration_ended, r.table(), r.json(), fr::explain(u)})
    BOOST_TEST(has(where, "not today"), where);
}

BOOST_AUTO_TEST_CASE(policies_that_the_driver_refuses) {
  refusing_machine m;
  fr::unified_array<float> u({1000}, 1.f);
  u.name("u");
  fr::set_policy(u, fr::array_policy::parse("prefetch"));
  m.driver.refuses_advice = true;
  BOOST_CHECK_THROW(fr::set_policy(u, fr::array_policy::parse("automatic preferred=cpu")), fr::not_supported);
  BOOST_TEST(policy_of(u)->text() == "prefetch");
  BOOST_TEST(!has(fr::explain(u), "advised"));
  fr::clear_policy(u);
  fr::array_policies p;
  p.program = program_invocation_short_name;
  p.of["u"] = fr::array_policy::parse("automatic preferred=cpu");
  fr::use_policies(p);
  BOOST_CHECK_THROW(fr::fill(u, 2.f), fr::not_supported);
  fr::fill(u, 3.f);
  BOOST_TEST((!policy_of(u) && u[5] == 3 && !has(fr::explain(u), "advised")));
}

BOOST_AUTO_TEST_CASE(no_threads_for_what_arrives) {
  const fr::simulation sim("devices=1;memory=64MiB");
  fr::migration_options how;
  how.piece = std::size_t{1} << 20;
  how.beside_simulated_loops = true;
  fr::set_migration(how);
  fr::unified_array<float> u({n});
  for (int i = 0; i < 2; ++i) {
    fr::prefetch(u, fr::devices()[0]);
    fr::fill(u, 1.f);
    fr::default_stream(fr::devices()[0]).synchronize();
    if (i == 0) {
      const no_threads none;
      for (float& x : u) x += 1;
    } else {
      for (float& x : u) x += 1;  // threads are available again
    }
    BOOST_TEST((std::as_const(u)[0] == 2 && std::as_const(u)[n - 1] == 2));
    BOOST_TEST(fr::residency(u).on_cpu == u.size_bytes());
  }
}

BOOST_AUTO_TEST_SUITE_END()
