// The end of the thread that compiles kernels: with its service, with the process, and in child processes.
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <boost/test/unit_test.hpp>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <string>
#include <thread>
#include <utility>

#include "jit_service_fixture.hpp"
#include "support/apart.hpp"

namespace jit_service {
namespace {

// ThreadSanitizer ends a child process that begins a thread.
#if defined(__SANITIZE_THREAD__)
constexpr bool under_thread_sanitizer = true;
#elif defined(__has_feature)
constexpr bool under_thread_sanitizer = __has_feature(thread_sanitizer);
#else
constexpr bool under_thread_sanitizer = false;
#endif

// Runs body() in a process made by fork() and returns its status. It ends by a signal after 20 s.
template <class F>
int status_of_fork(F body) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(20);
    body();
    std::exit(0);
  }
  int status = -1;
  return child > 0 && ::waitpid(child, &status, 0) == child ? status : -1;
}

// As NVRTC does, makes objects when it compiles that the process destroys when it ends. Ends the process with status 1
// if it compiles without them.
class compiler_with_objects final : public compiler {
 public:
  enum class when { at_first, each_time };
  explicit compiler_with_objects(when w) : makes_(w) {}
  std::string version() override { return "fake 1.0"; }
  std::string compile(const kernel_source&, architecture) override {
    if (makes_ == when::each_time || !std::exchange(has_made_, true)) std::atexit([] { is_destroyed = true; });
    for (int i = 0; i < 30; ++i) {
      if (is_destroyed) ::_exit(1);
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return "code";
  }

 private:
  static inline std::atomic<bool> is_destroyed{false};
  const when makes_;
  bool has_made_ = false;
};

// Ends a process while its kernels are compiled: returns its status.
int status_of_exit(int milliseconds) {
  return status_of_fork([milliseconds] {
    static service_fixture f;  // destroyed after the function that atexit() registers
    static auto* s = new kernel_service(f.by, f.driver, f.settings);
    f.by.milliseconds = milliseconds;
    for (int i = 0; i < 50; ++i) f.ask(*s, "k" + std::to_string(i));
  });
}

}  // namespace
}  // namespace jit_service

BOOST_AUTO_TEST_SUITE(jit_service)

BOOST_FIXTURE_TEST_CASE(the_end_does_not_wait_for_the_queue, service_fixture) {
  by.set_gate(false);
  auto s = std::make_unique<kernel_service>(by, driver, settings);
  for (int i = 0; i < 10; ++i) ask(*s, "k" + std::to_string(i));
  while (by.begun == 0) std::this_thread::yield();
  std::thread end([&] { s.reset(); });  // waits only for the kernel that is being compiled
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  by.set_gate(true);
  end.join();
  BOOST_TEST(by.begun == 1);
}

BOOST_FIXTURE_TEST_CASE(a_stopped_service_fails_at_once, service_fixture) {
  settings.how = mode::sync;
  kernel_service s(by, driver, settings);
  kernel& a = ask(s, "a");
  s.stop();
  BOOST_TEST((a.function() && s.find(0, "a") == &a));
  BOOST_TEST((ask(s, "b").state() == kernel_state::failed && by.compiled == 1));
  s.finish_all();
}

// As in a program: the service is never destroyed, and the compiler's objects end with the process.
BOOST_AUTO_TEST_CASE(the_thread_ends_with_the_process,
                     *boost::unit_test::precondition(support::devices_are_simulated)) {
  for (const int milliseconds : {0, 1, 5, 30}) BOOST_TEST(status_of_exit(milliseconds) == 0);
}

// The process ends before the first compilation, in it, between two, and in the second.
BOOST_AUTO_TEST_CASE(the_thread_ends_before_objects_of_the_compiler,
                     *boost::unit_test::precondition(support::devices_are_simulated)) {
  for (const int milliseconds : {0, 1, 5, 15, 25, 35, 45}) {
    const int status = status_of_fork([milliseconds] {
      static service_fixture f;
      static compiler_with_objects by(compiler_with_objects::when::each_time);
      static auto* s = new kernel_service(by, f.driver, f.settings);
      f.ask(*s, "a"), f.ask(*s, "b"), f.ask(*s, "c");
      std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
    });
    BOOST_TEST(status == 0, "after " << milliseconds << " ms: status " << status);
  }
}

// With exit() in another thread, only what was registered after the first compilation precedes the end of the
// compiler's objects.
BOOST_AUTO_TEST_CASE(exit_in_another_thread_ends_the_thread_after_the_first_compilation,
                     *boost::unit_test::precondition(support::devices_are_simulated)) {
  const int status = status_of_fork([] {
    static service_fixture f;
    static compiler_with_objects by(compiler_with_objects::when::at_first);
    static auto* s = new kernel_service(by, f.driver, f.settings);
    const kernel& a = f.ask(*s, "a");
    f.ask(*s, "b"), f.ask(*s, "c");
    s->finish(a);
    std::thread([] { std::exit(0); }).join();
  });
  BOOST_TEST(status == 0);
}

// fork() copies the service, but not its thread, which locks the mutex again after each kernel.
BOOST_FIXTURE_TEST_CASE(a_child_process_ends_without_the_thread_of_its_parent, service_fixture,
                        *boost::unit_test::precondition(support::devices_are_simulated)) {
  for (int k = 0; k < 20; ++k) {
    kernel_service s(by, driver, settings);
    s.finish(ask(s, "a"));
    BOOST_TEST(status_of_fork([&] { s.stop(); }) == 0);
  }
}

// Another thread holds the mutex while it makes a source. The child process allocates nothing, because a thread of the
// parent may hold the allocator's locks. It ends by _exit(), because a leak checker reports what these threads use.
BOOST_FIXTURE_TEST_CASE(a_child_process_finds_the_service_unlocked, service_fixture,
                        *boost::unit_test::precondition(support::devices_are_simulated)) {
  for (int k = 0; k < 5; ++k) {
    kernel_service s(by, driver, settings);
    std::atomic<bool> is_making{false};
    std::thread other([&] {
      s.request(0, "a", [&] {
        is_making = true;
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
        return source_of("a");
      });
    });
    while (!is_making) std::this_thread::yield();
    const int status = status_of_fork([&] {
      static_cast<void>(s.counts());
      ::_exit(0);
    });
    other.join();
    BOOST_TEST_REQUIRE(status == 0);
  }
}

// The parent's thread waits for requests, in a condition variable that the child process has a copy of.
BOOST_FIXTURE_TEST_CASE(a_child_process_destroys_the_service_of_its_parent, service_fixture,
                        *boost::unit_test::precondition(support::devices_are_simulated)) {
  auto s = std::make_unique<kernel_service>(by, driver, settings);
  s->finish_all();
  s->finish(ask(*s, "a"));
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  BOOST_TEST(status_of_fork([&] { s.reset(); }) == 0);
}

// The new thread may take the place in memory of the one that is not there.
BOOST_FIXTURE_TEST_CASE(a_child_process_with_a_thread_of_its_own_ends, service_fixture,
                        *boost::unit_test::precondition(support::devices_are_simulated) *
                            boost::unit_test::enable_if<!under_thread_sanitizer>()) {
  kernel_service s(by, driver, settings);
  s.finish(ask(s, "a"));
  const int status = status_of_fork([&] {
    kernel_service own(by, driver, settings);
    own.finish(ask(own, "b"));
    s.stop();
    own.stop();
  });
  BOOST_TEST(status == 0);
}

BOOST_AUTO_TEST_SUITE_END()
