// Kernels compiled at run time: which thread compiles, which calls wait, the effects of failures. The test has its own
// compiler and driver.
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <boost/test/unit_test.hpp>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <jit/kernel_service.hpp>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "jit_fixture.hpp"
#include "support/apart.hpp"

namespace jit_service {
namespace {

namespace fs = std::filesystem;
using namespace ferry::detail::jit;
using jit_test::loaded_text, jit_test::temporary_folder;

// ThreadSanitizer ends a child process that begins a thread.
#if defined(__SANITIZE_THREAD__)
constexpr bool under_thread_sanitizer = true;
#elif defined(__has_feature)
constexpr bool under_thread_sanitizer = __has_feature(thread_sanitizer);
#else
constexpr bool under_thread_sanitizer = false;
#endif

kernel_source source_of(const std::string& text) { return {text, "entry", "shape of " + text}; }

struct service_fixture {
  jit_test::fake_compiler by;
  jit_test::fake_loader driver;
  jit_settings settings{mode::on, "", std::size_t{1} << 20, ""};

  kernel& ask(kernel_service& s, const std::string& text, int device = 0) {
    return s.request(device, text, [&] { return source_of(text); });
  }
};

std::vector<std::string> lines_of(const fs::path& file) {
  std::vector<std::string> lines;
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

bool contains(const std::string& text, std::string_view part) { return text.find(part) != text.npos; }

// Captures what a function writes to stderr.
template <class F>
std::string stderr_of(F f) {
  const temporary_folder folder;
  const fs::path file = folder.path / "stderr";
  std::fflush(stderr);
  const int before = ::dup(2);
  std::FILE* const to = std::fopen(file.c_str(), "w");
  ::dup2(::fileno(to), 2);
  f();
  std::fflush(stderr);
  ::dup2(before, 2);
  ::close(before);
  std::fclose(to);
  std::ostringstream all;
  all << std::ifstream(file).rdbuf();
  return all.str();
}

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

BOOST_FIXTURE_TEST_CASE(a_request_returns_before_the_kernel_is_compiled, service_fixture) {
  by.set_gate(false);
  kernel_service s(by, driver, settings);
  BOOST_TEST(!s.find(0, "a"));
  kernel& a = ask(s, "a");
  BOOST_TEST((a.is_pending() && !a.function() && s.find(0, "a") == &a && a.text() == "being compiled"));
  by.set_gate(true);
  s.finish(a);
  BOOST_TEST((!a.is_pending() && a.state() == kernel_state::ready && a.origin == kernel_origin::compiled));
  BOOST_TEST(loaded_text(a.function()) == "code of a for sm_90 entry entry");
  BOOST_TEST(contains(a.text(), "compiled in "));
  BOOST_TEST(&ask(s, "a") == &a);
  BOOST_TEST((by.compiled == 1 && s.counts().compiled == 1));
}

BOOST_FIXTURE_TEST_CASE(devices_have_their_own_kernels, service_fixture) {
  kernel_service s(by, driver, settings);
  kernel &a = ask(s, "a", 0), &b = ask(s, "a", 1);
  s.finish_all();
  BOOST_TEST((&a != &b && s.find(0, "a") == &a && s.find(1, "a") == &b && !s.find(2, "a")));
  BOOST_TEST(loaded_text(a.function()) == "code of a for sm_90 entry entry");
  BOOST_TEST(loaded_text(b.function()) == "code of a for sm_91 entry entry");
}

BOOST_FIXTURE_TEST_CASE(shapes_of_one_source_share_a_kernel, service_fixture) {
  kernel_service s(by, driver, settings);
  kernel& a = s.request(0, "one shape", [] { return source_of("same"); });
  kernel& b = s.request(0, "another shape", [] { return source_of("same"); });
  s.finish_all();
  BOOST_TEST((&a == &b && by.compiled == 1 && s.find(0, "another shape") == &a));
}

BOOST_FIXTURE_TEST_CASE(shapes_are_bytes_of_any_value_and_length, service_fixture) {
  kernel_service s(by, driver, settings);
  std::vector<std::string> shapes{std::string(), std::string(1, '\0'), std::string(2, '\0'), std::string(8, '\0'),
                                  std::string(9, '\0')};
  for (int i = 0; i < 3000; ++i) shapes.push_back("shape " + std::to_string(i));
  std::vector<kernel*> kernels;
  for (const std::string& shape : shapes) kernels.push_back(&ask(s, shape));
  s.finish_all();
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    BOOST_TEST((s.find(0, shapes[i]) == kernels[i]));
    BOOST_TEST(loaded_text(kernels[i]->function()) == "code of " + shapes[i] + " for sm_90 entry entry");
  }
  BOOST_TEST(by.compiled == static_cast<int>(shapes.size()));
}

BOOST_FIXTURE_TEST_CASE(sync_waits_for_the_kernel, service_fixture) {
  settings.how = mode::sync;
  kernel_service s(by, driver, settings);
  BOOST_TEST(loaded_text(ask(s, "a").function()) == "code of a for sm_90 entry entry");
}

// Threads request and find the same kernels while they are compiled.
BOOST_FIXTURE_TEST_CASE(threads_get_one_kernel_of_a_shape, service_fixture) {
  constexpr int threads = 6, shapes = 40;
  kernel_service s(by, driver, settings);
  std::vector<std::vector<kernel*>> seen(threads);
  std::atomic<int> wrong{0}, ready{0};
  std::vector<std::thread> all;
  for (int t = 0; t < threads; ++t)
    all.emplace_back([&, t] {
      ++ready;
      while (ready < threads) std::this_thread::yield();
      for (int i = 0; i < shapes; ++i) {
        const std::string text = "k" + std::to_string((i * (t % 2 ? 7 : 3)) % shapes);
        kernel& k = ask(s, text);
        if (s.find(0, text) != &k) ++wrong;
        if (t % 3 == 0) s.finish(k);
        const void* const f = k.function();
        if (f && loaded_text(f) != "code of " + text + " for sm_90 entry entry") ++wrong;
        if (t % 3 == 0 && !f) ++wrong;
      }
    });
  for (std::thread& t : all) t.join();
  s.finish_all();
  BOOST_TEST(wrong == 0);
  BOOST_TEST((by.compiled == shapes && s.counts().compiled == std::size_t{shapes}));
}

BOOST_FIXTURE_TEST_CASE(later_processes_load_from_disk, service_fixture) {
  const temporary_folder folder;
  settings.cache = folder.path;
  for (const auto origin : {kernel_origin::compiled, kernel_origin::disk}) {
    kernel_service s(by, driver, settings);
    kernel& a = ask(s, "a");
    s.finish_all();
    BOOST_TEST((a.origin == origin && loaded_text(a.function()) == "code of a for sm_90 entry entry"));
    BOOST_TEST(contains(a.text(), origin == kernel_origin::disk ? "from disk in " : "compiled in "));
    BOOST_TEST((s.counts().from_disk == (origin == kernel_origin::disk ? 1u : 0u)));
  }
  BOOST_TEST(by.compiled == 1);
}

// Everything that determines the code is in the key.
BOOST_FIXTURE_TEST_CASE(another_compiler_driver_device_or_option_compiles_anew, service_fixture) {
  const temporary_folder folder;
  settings.cache = folder.path;
  const auto compiles = [&](const std::vector<std::string>& options, int device, const std::string& entry) {
    const int before = by.compiled;
    kernel_service s(by, driver, settings);
    s.request(device, "shape", [&] { return kernel_source{"text", entry, "", options}; });
    s.finish_all();
    return by.compiled - before;
  };
  BOOST_TEST(compiles({"-fmad=false"}, 0, "entry") == 1);
  BOOST_TEST(compiles({"-fmad=false"}, 0, "entry") == 0);
  BOOST_TEST(compiles({}, 0, "entry") == 1);
  BOOST_TEST(compiles({"-fmad=false"}, 1, "entry") == 1);
  BOOST_TEST(compiles({"-fmad=false"}, 0, "other") == 1);
  by.version_text = "fake 1.1";
  BOOST_TEST(compiles({"-fmad=false"}, 0, "entry") == 1);
  driver.version_text = "13010";
  BOOST_TEST(compiles({"-fmad=false"}, 0, "entry") == 1);
  BOOST_TEST(compiles({"-fmad=false"}, 0, "entry") == 0);
}

BOOST_FIXTURE_TEST_CASE(a_truncated_file_is_compiled_anew, service_fixture) {
  const temporary_folder folder;
  settings.cache = folder.path;
  for (int round = 0; round < 2; ++round) {
    kernel_service s(by, driver, settings);
    ask(s, "a");
    s.finish_all();
    for (const auto& entry : fs::directory_iterator(folder.path)) fs::resize_file(entry.path(), entry.file_size() - 1);
  }
  BOOST_TEST(by.compiled == 2);
}

BOOST_FIXTURE_TEST_CASE(code_on_disk_that_the_driver_refuses, service_fixture) {
  const temporary_folder folder;
  settings.cache = folder.path;
  {
    kernel_service s(by, driver, settings);
    ask(s, "a");
    s.finish_all();
  }
  driver.refuses = true;
  kernel_service s(by, driver, settings);
  std::string said;
  kernel* a = nullptr;
  said = stderr_of([&] {
    a = &ask(s, "a");
    s.finish_all();
  });
  BOOST_TEST(
      (by.compiled == 2 && a->state() == kernel_state::failed && !a->function()));  // compiled anew, refused, too
  BOOST_TEST(contains(a->text(), "the driver refuses this code"));
}

BOOST_FIXTURE_TEST_CASE(a_failure_is_reported_once, service_fixture) {
  by.fails = true;
  kernel_service s(by, driver, settings);
  kernel *a = nullptr, *b = nullptr;
  const std::string said = stderr_of([&] {
    a = &ask(s, "a");
    b = &ask(s, "b");
    s.finish(*a);
    s.finish(*b);
    by.fails = false, by.throws_other = true;
    s.finish(ask(s, "c"));
  });
  BOOST_TEST(said == "ferry: kernels are interpreted, not compiled: kernel 'entry' does not compile: planted\n");
  BOOST_TEST((a->state() == kernel_state::failed && !a->function() && !b->function() && s.counts().failed == 3u));
  by.throws_other = false;
  s.finish(ask(s, "d"));  // the thread continues
  BOOST_TEST(s.counts().compiled == 1u);
  BOOST_TEST((ask(s, "a").state() == kernel_state::failed));  // and does not try again
}

BOOST_FIXTURE_TEST_CASE(without_a_compiler_every_kernel_fails, service_fixture) {
  by.is_missing = true;
  const temporary_folder folder;
  settings.cache = folder.path / "cache", settings.how = mode::sync;
  kernel_service s(by, driver, settings);
  const std::string said = stderr_of([&] {
    BOOST_TEST(!ask(s, "a").function());
    BOOST_TEST(ask(s, "b").text() == "no compiler here");
  });
  BOOST_TEST(said == "ferry: kernels are interpreted, not compiled: no compiler here\n");
  BOOST_TEST((driver.loads == 0 && !fs::exists(settings.cache)));
}

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

BOOST_FIXTURE_TEST_CASE(the_log_lists_each_kernel_once, service_fixture) {
  const temporary_folder folder;
  settings.log = folder.path / "shapes.jsonl";
  settings.cache = folder.path / "cache";
  {
    kernel_service s(by, driver, settings);
    ask(s, "a"), ask(s, "a"), ask(s, "a", 1);
    s.finish_all();
    by.fails = true;
    stderr_of([&] {
      ask(s, "\"b\"");
      s.finish_all();
    });
  }
  {
    kernel_service s(by, driver, settings);
    ask(s, "a");
    s.finish_all();
  }
  const std::vector<std::string> lines = lines_of(settings.log);
  BOOST_REQUIRE(lines.size() == 4u);
  BOOST_TEST(lines[0].starts_with(
      R"({"shape": "shape of a", "device": 0, "architecture": "sm_90", "state": "compiled", "ms": )"));
  BOOST_TEST(lines[1].starts_with(
      R"({"shape": "shape of a", "device": 1, "architecture": "sm_91", "state": "compiled", "ms": )"));
  BOOST_TEST(lines[2].starts_with(
      R"({"shape": "shape of \"b\"", "device": 0, "architecture": "sm_90", "state": "failed", "ms": )"));
  BOOST_TEST(lines[2].ends_with(R"("why": "kernel 'entry' does not compile: planted"})"));
  BOOST_TEST(
      lines[3].starts_with(R"({"shape": "shape of a", "device": 0, "architecture": "sm_90", "state": "disk", "ms": )"));
}

BOOST_FIXTURE_TEST_CASE(a_log_that_cannot_be_written_is_reported_once, service_fixture) {
  settings.log = "/dev/full";
  kernel_service s(by, driver, settings);
  const std::string said = stderr_of([&] {
    ask(s, "a"), ask(s, "b");
    s.finish_all();
  });
  BOOST_TEST(said == "ferry: kernels cannot be listed in /dev/full (FERRY_JIT_LOG): No space left on device\n");
  BOOST_TEST(s.counts().compiled == 2u);
}

BOOST_AUTO_TEST_SUITE_END()
