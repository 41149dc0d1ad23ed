// Environment variables about memory: this executable runs itself with them, on simulated devices.
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <ferry/core.hpp>
#include <ferry/core/memory_checks.hpp>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "../../tools/replay/replay.hpp"
#include "support/call_stack.hpp"
#include "support/file_bytes.hpp"

namespace fr = ferry;

namespace variables_about_memory {
namespace {

constexpr std::size_t MiB = std::size_t{1} << 20;

__attribute__((noinline)) fr::device_array<char> made_by_a_function_with_a_name() {
  fr::device_array<char> a({8192});
  a.name("leaked");
  return a;
}

boost::test_tools::assertion_result functions_have_names(boost::unit_test::test_unit_id) {
  const auto* const here = reinterpret_cast<const void*>(&made_by_a_function_with_a_name);
  boost::test_tools::assertion_result there(fr::detail::stack::is_available() &&
                                            fr::detail::stack::describe(here).find("with_a_name") != std::string::npos);
  there.message() << "needs Boost.Stacktrace, and addr2line or exported symbols";
  return there;
}

// Ends by exit(), as programs do.
[[noreturn]] void program(const std::string& what) {
  if (what == "leaks") {
    static auto* const leaked = new fr::device_array<char>(made_by_a_function_with_a_name());
    static const fr::device_array<char> destroyed_at_exit({100});
    std::exit(leaked->empty() ? 1 : 7);
  }
  try {
    if (what == "checks") {
      const fr::device_array<float> never_written({100});
      const std::vector<float> seen = fr::to_vector(never_written);
      int nan = 0;
      for (const float x : seen) nan += std::isnan(x);
      std::printf("checks %s, %d of 100 are NaN\n", fr::current_memory_checks() ? "on" : "off", nan);
    } else if (what == "all checks") {
      fr::runtime& m = fr::runtime::current();
      const auto on = [&](enum fr::check c) { return m.checks.has(c) ? "on" : "off"; };
      const auto memory = fr::current_memory_checks();
      std::printf("pointers %s, uses %s, halos %s, poison %s, zones %zu\n", on(fr::check::pointers),
                  on(fr::check::uses), on(fr::check::halos), on(fr::check::poison), memory ? memory->red_zone : 0);
      fr::unified_array<int> u({1000}, 0);
      fr::stream own(fr::devices()[1]);
      int* const stale = fr::pointer(u, own);
      fr::fill(u, 1);
      m.backend().copy(own.timeline().stream(), stale, stale + 500, 2000);
      own.synchronize();
      std::printf("no race\n");
    } else {  // needs more than device 0 has
      const fr::device_array<char> first({48 * MiB}, fr::device(0)), second({40 * MiB}, fr::device(0));
      std::printf("the second is on device %d\n", second.device().index());
    }
  } catch (const fr::error& e) {
    std::printf("error: %s\n", e.what());
  }
  std::exit(0);
}

struct outcome {
  int status = -1;
  std::string text;  // stdout and stderr
};
using variables = std::initializer_list<std::pair<const char*, const char*>>;

outcome run(const char* what, variables set) {
  std::array<int, 2> ends{};
  BOOST_REQUIRE(::pipe(ends.data()) == 0);
  std::fflush(nullptr);
  const pid_t child = ::fork();
  BOOST_REQUIRE(child >= 0);
  if (child == 0) {
    ::dup2(ends[1], STDOUT_FILENO);
    ::dup2(ends[1], STDERR_FILENO);
    ::close(ends[0]);
    ::close(ends[1]);
    for (const char* name :
         {"FERRY_LEAKS", "FERRY_MEMORY_LOG", "FERRY_OOM", "FERRY_POISON", "FERRY_MEMORY_LIMIT", "FERRY_CHECK"})
      ::unsetenv(name);
    ::setenv("FERRY_BACKEND", "sim", 1);
    ::setenv("FERRY_SIM", "devices=2;memory=64MiB", 1);
    ::setenv("FERRY_POOL", "split", 1);  // other kinds round differently
    ::setenv("FERRY_TEST_PROGRAM", what, 1);
    for (const auto& [name, value] : set) ::setenv(name, value, 1);
    ::execl("/proc/self/exe", "program", "--run_test=variables_about_memory/the_program", static_cast<char*>(nullptr));
    ::_exit(99);
  }
  ::close(ends[1]);
  outcome o;
  std::array<char, 512> some;
  for (ssize_t n = 0; (n = ::read(ends[0], some.data(), some.size())) > 0;)
    o.text.append(some.data(), static_cast<std::size_t>(n));
  ::close(ends[0]);
  int status = 0;
  ::waitpid(child, &status, 0);
  o.status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return o;
}

void has(const outcome& o, std::initializer_list<std::string> parts) {
  for (const std::string& part : parts)
    BOOST_TEST(o.text.find(part) != std::string::npos, "'" << part << "' is missing in\n" << o.text);
}

}  // namespace
}  // namespace variables_about_memory

BOOST_AUTO_TEST_SUITE(variables_about_memory)

// Only run() starts this case.
BOOST_AUTO_TEST_CASE(the_program, *boost::unit_test::disabled()) {
  const char* const what = std::getenv("FERRY_TEST_PROGRAM");
  BOOST_REQUIRE(what != nullptr);
  program(what);
}

BOOST_AUTO_TEST_CASE(leaks_are_reported_at_exit) {
  const outcome o = run("leaks", {{"FERRY_LEAKS", "report"}});
  BOOST_TEST(o.status == 7);
  has(o, {"ferry: 1 allocation with 8.000 KiB left\n", "name 'leaked'"});
  const outcome untold = run("leaks", {});
  BOOST_TEST((untold.status == 7 && untold.text.find("left\n") == std::string::npos), untold.text);
}

BOOST_AUTO_TEST_CASE(leaks_with_the_stacks_that_made_them, *boost::unit_test::precondition(functions_have_names)) {
  const outcome o = run("leaks", {{"FERRY_LEAKS", "stacks"}});
  BOOST_TEST(o.status == 7);
  has(o, {"ferry: 1 allocation with 8.000 KiB left\n", "made_by_a_function_with_a_name"});
}

BOOST_AUTO_TEST_CASE(allocations_are_logged) {
  const std::string file = "memory_variables_" + std::to_string(::getpid()) + ".csv";
  const outcome o = run("leaks", {{"FERRY_MEMORY_LOG", file.c_str()}});
  BOOST_TEST(o.status == 7);
  const std::string text = support::bytes_of(file);
  BOOST_TEST(text.starts_with("Thread,Time,Action,Pointer,Size,Stream\n"), text);
  const auto rows = tools::parse_allocation_log(text);
  BOOST_REQUIRE(rows.size() == 3u);  // two arrays, one of them destroyed
  BOOST_TEST((!rows[0].is_free && rows[0].bytes == 8192u && !rows[1].is_free && rows[2].is_free));
  BOOST_TEST(rows[2].pointer == rows[1].pointer);
  std::remove(file.c_str());
}

BOOST_AUTO_TEST_CASE(what_is_done_when_memory_runs_out) {
  has(run("too much", {}), {"error: ferry: out of memory: cannot allocate 40.000 MiB of device memory on device 0"});
  has(run("too much", {{"FERRY_OOM", "spill"}}), {"the second is on device 1\n"});
  has(run("too much", {{"FERRY_OOM", "synchronize"}}), {"error: ferry: out of memory: ", "waiting for all work ("});
  has(run("too much", {{"FERRY_OOM", "wait"}}), {"error: ", "FERRY_OOM: 'wait'", "synchronize, spill"});
}

BOOST_AUTO_TEST_CASE(limits_hold) {
  has(run("too much", {{"FERRY_MEMORY_LIMIT", "device=0,hard:16MiB"}}),
      {"error: ferry: out of memory: cannot allocate 48.000 MiB",
       "hard limit of 16.000 MiB on device and unified memory of device 0"});
  has(run("too much", {{"FERRY_MEMORY_LIMIT", "gpu=0,hard:16MiB"}}),
      {"error: ", "FERRY_MEMORY_LIMIT: 'gpu=0,hard:16MiB'", "'gpu=0' is neither device="});
}

BOOST_AUTO_TEST_CASE(arrays_are_checked) {
  has(run("checks", {{"FERRY_POISON", "on"}}), {"checks on, 100 of 100 are NaN\n"});
  has(run("checks", {{"FERRY_POISON", "off"}}), {"checks off, "});
  has(run("checks", {}), {"checks off, "});
}

BOOST_AUTO_TEST_CASE(one_variable_switches_all_checks) {
  has(run("all checks", {}), {"pointers on, uses off, halos off, poison off, zones 0\n", "no race\n"});
  has(run("all checks", {{"FERRY_CHECK", "off"}}), {"pointers off, uses off, halos off, poison off", "no race\n"});
  const char* const all = "pointers on, uses on, halos on, poison on, zones 256\n";
  has(run("all checks", {{"FERRY_CHECK", "on"}}), {all, "error: ", "race: "});
  has(run("all checks", {{"FERRY_SIM", "devices=2;check=on"}}), {all, "error: ", "race: "});
  has(run("all checks", {{"FERRY_SIM", "devices=2;check=on"}, {"FERRY_CHECK", "off"}}), {all, "race: "});
  has(run("all checks", {{"FERRY_SIM", "devices=2;check=off"}, {"FERRY_CHECK", "on"}}), {all, "race: "});
  has(run("all checks", {{"FERRY_SIM", "devices=2;check=races"}}),
      {"uses off, halos off, poison off, zones 0\n", "race: "});
  has(run("all checks", {{"FERRY_CHECK", "on"}, {"FERRY_POISON", "zone=512"}}), {"poison on, zones 512\n"});
  has(run("all checks", {{"FERRY_CHECK", "on"}, {"FERRY_POISON", "off"}}),
      {"uses on, halos on, poison off, zones 0\n"});
  has(run("all checks", {{"FERRY_CHECK", "maybe"}}), {"error: ", "FERRY_CHECK='maybe'", "off, on"});
}

BOOST_AUTO_TEST_SUITE_END()
