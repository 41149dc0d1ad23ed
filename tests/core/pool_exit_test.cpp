// Programs that end with arrays in static variables.
#include <sys/wait.h>
#include <unistd.h>

#include <boost/test/unit_test.hpp>
#include <cstdlib>
#include <memory>

#include <ferry/core.hpp>

#include "ferry/core/detail/accounting/memory_accounting.hpp"
#include "runtime/runtime_registry.hpp"
#include "support/quiet_stderr.hpp"

namespace fr = ferry;

namespace pool_exit {
namespace {

fr::pool_options small(fr::pool_kind k) {
  return {.granularity = 64, .small_segment = 1024, .large_segment = 4096, .kind = k};
}

// Ends the process with a different exit code if memory returns to the backend.
struct nothing_returns : fr::detail::allocation_observer {
  void on_return(fr::memory_kind, int, const void*, std::size_t) noexcept override { ::_exit(9); }
};

struct some_arrays {
  fr::device_array<int> a, b;
  fr::unified_array<int> c;
  void make() {
    a = fr::device_array<int>({1000}, 1);
    b = fr::device_array<int>({1000}, 2, fr::device(1));
    c = fr::unified_array<int>({1000}, 3);
    fr::copy(a, b);
  }
};

// Programs that end with arrays in static variables.
[[noreturn]] void machine_dies_last(fr::pool_kind kind) {
  static fr::simulation sim("devices=2;schedule=random:1", small(kind));
  static fr::pool own(fr::device(0), small(kind));
  const fr::pool_scope use(own);
  static some_arrays arrays;
  arrays.make();
  std::exit(7);
}
[[noreturn]] void machine_dies_first(fr::pool_kind kind) {
  static nothing_returns watch;
  static some_arrays arrays;
  static support::quiet_stderr quiet;  // the runtime reports that arrays outlive it
  static fr::simulation sim("devices=2;schedule=random:1", small(kind));
  arrays.make();
  sim.get().memory().observers().add(watch);
  std::exit(7);
}
[[noreturn]] void machine_of_the_process(fr::pool_kind kind) {
  static nothing_returns watch;
  static const auto* const kept = new std::shared_ptr<fr::runtime>(fr::detail::runtime_registry::exchange(nullptr));
  (void)kept;  // keeps the test's runtime alive
  setenv("FERRY_BACKEND", "sim", 1);
  setenv("FERRY_SIM", "devices=2;schedule=random:1", 1);
  setenv("FERRY_POOL", fr::pool_kind_name(kind), 1);
  fr::runtime::current().memory().observers().add(watch);
  static some_arrays arrays;  // destroyed before the runtime's own exit handlers run
  arrays.make();
  std::exit(7);
}
constexpr struct {
  void (*program)(fr::pool_kind);
  const char* name;
} endings[] = {{machine_dies_last, "the machine dies last"},
               {machine_dies_first, "the machine dies first"},
               {machine_of_the_process, "the machine of the process"}};

}  // namespace
}  // namespace pool_exit

BOOST_AUTO_TEST_SUITE(pool_exit)

// Arrays in static variables are destroyed after main, with pending work; the exit code is the program's. Where the
// runtime is never destroyed, nothing returns to the backend, which may be gone.
BOOST_AUTO_TEST_CASE(exit_codes_with_live_static_arrays) {
  for (const auto kind : {fr::pool_kind::driver, fr::pool_kind::split, fr::pool_kind::binned, fr::pool_kind::none})
    for (const auto& [program, name] : endings) {
      const pid_t child = fork();
      if (child == 0) try {
          program(kind);  // does not return
        } catch (...) {
          ::_exit(8);
        }
      int status = 0;
      BOOST_REQUIRE(waitpid(child, &status, 0) == child);
      BOOST_TEST(WIFEXITED(status), fr::pool_kind_name(kind) << ", " << name);
      BOOST_TEST(WEXITSTATUS(status) == 7, fr::pool_kind_name(kind) << ", " << name);
    }
}

BOOST_AUTO_TEST_SUITE_END()
