// Kernels compiled at run time: which thread compiles, which calls wait, the effects of failures. The test has its own
// compiler and driver.
#include <unistd.h>

#include <atomic>
#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "jit_service_fixture.hpp"

namespace jit_service {
namespace {

namespace fs = std::filesystem;
using jit_test::loaded_text, jit_test::temporary_folder;

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
