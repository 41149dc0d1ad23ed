// Leak reports: arrays that are left, and where they were created.
#include <sys/wait.h>
#include <unistd.h>

#include <boost/test/unit_test.hpp>
#include <cstdlib>
#include <ferry/core.hpp>
#include <ferry/core/leaks.hpp>
#include <string>
#include <thread>
#include <vector>

#include "memory/memory_environment.hpp"
#include "support/call_stack.hpp"
#include "support/file_bytes.hpp"

namespace fr = ferry;

namespace leaks {
namespace {

__attribute__((noinline)) fr::device_array<char> made_here() { return fr::device_array<char>({1024}); }
__attribute__((noinline)) fr::device_array<char> made_there() {
  fr::device_array<char> a({2048});
  a.name("there");
  return a;
}

boost::test_tools::assertion_result has_stacks(boost::unit_test::test_unit_id) {
  boost::test_tools::assertion_result there(fr::detail::stack::is_available());
  there.message() << "needs Boost.Stacktrace";
  return there;
}

}  // namespace
}  // namespace leaks

BOOST_AUTO_TEST_SUITE(leaks)

BOOST_AUTO_TEST_CASE(what_is_left_is_told) {
  fr::simulation sim("devices=2");
  const fr::device_array<int> before({10});
  fr::track_leaks(fr::leak_mode::report);
  BOOST_TEST(fr::leak_report().empty());
  const fr::memory_tag_scope tag{"solver"};
  fr::unified_array<char> u({4096}, fr::device(1));
  std::vector<fr::device_array<char>> left;
  for (int i = 0; i < 3; ++i) left.emplace_back(fr::extents<1>(512), 'x', fr::device(0));
  { const fr::device_array<char> gone({100}); }
  u.name("field");
  const auto all = fr::outstanding_allocations();
  BOOST_REQUIRE(all.size() == 4u);
  BOOST_TEST((all[0].kind == fr::memory_kind::unified && all[0].device == 1 && all[0].bytes == 4096));
  BOOST_TEST((all[0].tag == "solver" && all[0].name == "field"));
  BOOST_TEST(all[0].last_stream.empty());
  BOOST_TEST((all[0].age_seconds >= all[3].age_seconds && all[3].age_seconds >= 0));
  BOOST_TEST(all[3].last_stream.find("of device 0") != std::string::npos);
  BOOST_TEST(all[0].stack.empty());
  const std::string text = fr::leak_report();
  for (const char* part : {"4 allocations with 5.500 KiB left\n",
                           "1 allocation with 4.000 KiB of unified memory on device 1, tag "
                           "'solver', name 'field', the oldest ",
                           "3 allocations with 1.500 KiB of device memory on device 0, tag "
                           "'solver', the oldest ",
                           " s old, last used by stream "})
    BOOST_TEST(text.find(part) != text.npos, "'" << part << "' is missing in\n" << text);
  left.clear();
  u.free();
  BOOST_TEST(fr::leak_report().empty());
  fr::track_leaks(fr::leak_mode::off);
  const fr::device_array<char> unseen({100});
  BOOST_TEST(fr::outstanding_allocations().empty());
}

// Blocks retained by a workspace or in quarantine are not reported as leaks. Arrays are reported under their own names.
BOOST_AUTO_TEST_CASE(kept_blocks_are_no_leaks) {
  for (const bool checked : {false, true}) {
    fr::simulation sim("devices=1");
    if (checked) fr::set_memory_checks(fr::memory_checks());
    fr::track_leaks(fr::leak_mode::report);
    fr::workspace w;
    for (const char* const who : {"first", "second"}) {
      const fr::workspace_scope iteration(w);
      const fr::memory_tag_scope tag{who};
      auto a = made_there();
      a.name(std::string("of the ") + who);
      const auto all = fr::outstanding_allocations();
      BOOST_REQUIRE(all.size() == 1u);
      BOOST_TEST((all[0].tag == who && all[0].name == std::string("of the ") + who));
    }
    BOOST_TEST(w.statistics().reused == 1u);
    { const auto gone = made_there(); }
    BOOST_TEST(fr::leak_report().empty(), fr::leak_report());
    fr::track_leaks(fr::leak_mode::off);
    fr::set_memory_checks(std::nullopt);
  }
}

BOOST_AUTO_TEST_CASE(stacks_tell_calls_apart, *boost::unit_test::precondition(has_stacks)) {
  fr::simulation sim("devices=1");
  fr::track_leaks(fr::leak_mode::stacks);
  std::vector<fr::device_array<char>> left;
  volatile int times = 2;  // volatile: prevents unrolling, so both calls have one address
  for (int i = 0; i < times; ++i) left.push_back(made_here());
  left.push_back(made_there());
  const auto all = fr::outstanding_allocations();
  BOOST_REQUIRE(all.size() == 3u);
  for (const auto& o : all) BOOST_TEST(o.stack.size() > 1u);
  BOOST_TEST((all[0].stack == all[1].stack));
  BOOST_TEST((all[0].stack != all[2].stack));
  const std::string text = fr::leak_report();
  BOOST_TEST(text.find("2 allocations with 2.000 KiB") != text.npos, text);
  BOOST_TEST(text.find("1 allocation with 2.000 KiB") != text.npos, text);
  fr::track_leaks(fr::leak_mode::off);
}

BOOST_AUTO_TEST_CASE(threads_may_allocate_while_it_is_told) {
  fr::simulation sim("devices=2");
  fr::track_leaks(fr::leak_mode::stacks);
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 3; ++t)
      threads.emplace_back([t] {
        for (int i = 0; i < 300; ++i) {
          fr::device_array<char> a({100}, fr::device(t % 2));
          a.name("n" + std::to_string(i % 7));
        }
      });
    for (int i = 0; i < 20; ++i) (void)fr::outstanding_allocations();
  }
  BOOST_TEST(fr::leak_report().empty());
  fr::track_leaks(fr::leak_mode::off);
}

BOOST_AUTO_TEST_CASE(the_environments_form) {
  BOOST_TEST((fr::parse_leak_mode("report") == fr::leak_mode::report));
  BOOST_TEST((fr::parse_leak_mode("stacks") == fr::leak_mode::stacks));
  for (const char* text : {"", "on", "Report", "stack"})
    BOOST_CHECK_EXCEPTION(fr::parse_leak_mode(text), fr::parse_error, [&](const fr::parse_error& e) {
      const std::string what = e.what();
      return what.find("'" + std::string(text) + "'") != what.npos && what.find("stacks") != what.npos;
    });
}

// In a child process: leaks are reported after main and the destructors of static arrays. The exit status is unchanged.
BOOST_AUTO_TEST_CASE(told_when_the_program_exits) {
  const std::string file = "leaks_at_exit.txt";
  const pid_t child = fork();
  if (child == 0) {
    if (!std::freopen(file.c_str(), "w", stderr)) _exit(99);
    static auto* const sim = new fr::simulation("devices=1");  // never destroyed, like a program's runtime
    fr::detail::report_leaks_at_exit(sim->get(), fr::leak_mode::report);
    static fr::device_array<char> destroyed_at_exit({100});
    static auto* const leaked = new fr::device_array<char>({8192});  // still reachable: not a leak for the sanitizer
    leaked->name("leaked");
    std::fflush(nullptr);
    std::exit(7);
  }
  int status = 0;
  waitpid(child, &status, 0);
  BOOST_TEST(WIFEXITED(status));
  BOOST_TEST(WEXITSTATUS(status) == 7);
  const std::string text = support::bytes_of(file);
  BOOST_TEST(text.find("1 allocation with 8.000 KiB left") != text.npos, text);
  BOOST_TEST(text.find("name 'leaked'") != text.npos, text);
  std::remove(file.c_str());
}

BOOST_AUTO_TEST_SUITE_END()
