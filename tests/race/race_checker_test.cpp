// The race checker under ferry: ordered programs pass, and unordered work outside ferry is reported.
#include <atomic>
#include <numeric>
#include <string>
#include <thread>
#include <utility>

#include <boost/test/unit_test.hpp>

#include <ferry/core.hpp>

#include "support/failures.hpp"
#include "support/quiet_stderr.hpp"
#include "support/seeds.hpp"

namespace fr = ferry;

namespace checked_for_races {
namespace {

struct add_one {
  FERRY_HOST_DEVICE void operator()(std::size_t i, int* y) const { y[i] += 1; }
};

// Launches the program's own kernel, on a pointer that it has stored.
void launch_own(fr::stream_ref s, int* p, std::size_t n) {
  const fr::detail::kernel_use use{reinterpret_cast<const std::byte*>(p), n * sizeof(int), true, true};
  fr::runtime::current().backend().launch(s.timeline().stream(),
                                          {"own", {&use, 1}, [p, n](const fr::detail::relocation& move) {
                                             for (std::size_t i = 0; i < n; ++i) move(p)[i] = 7;
                                           }});
}

bool says(const std::string& text, const std::string& part) { return text.find(part) != text.npos; }

}  // namespace
}  // namespace checked_for_races

BOOST_AUTO_TEST_SUITE(checked_for_races)

BOOST_AUTO_TEST_CASE(a_pointer_that_is_kept_too_long) {
  for (const std::string how : {"eager", "random:1", "random:2", "random:3"}) {
    const support::machine_that_breaks sim("devices=2;check=on;schedule=" + how);
    fr::stream s0{fr::devices()[0]}, s1{fr::devices()[1]};
    fr::unified_array<int> u({64}, 0);
    u.name("u");
    int* const p = fr::pointer(u, s1);
    launch_own(s1, p, 64);  // correctly ordered
    const int line = __LINE__ + 1;
    fr::parallel_for(s0, 32, add_one{}, fr::inout(u.slice({0, 32})));
    std::string text;
    try {
      launch_own(s1, p, 64);
      s0.synchronize(), s1.synchronize();
    } catch (const fr::device_error& e) {
      text = e.what();
    }
    BOOST_TEST_CONTEXT(how << ": " << text) {
      BOOST_TEST(says(text, "race: "));
      BOOST_TEST(says(text, "kernel 'own' on stream "));
      BOOST_TEST(says(text, "add_one' of race_checker_test.cpp:" + std::to_string(line) + " on stream "));
      BOOST_TEST(says(text, "128 bytes of array 'u' at 0x"));
    }
  }
}

// Also with the eager schedule, where results are right by chance.
BOOST_AUTO_TEST_CASE(no_false_alarm) {
  for (const std::string how : {"eager", "random:1", "random:2"}) {
    const fr::simulation sim("devices=3;check=on;schedule=" + how);
    fr::stream s0{fr::devices()[0]}, s1{fr::devices()[1]}, s2{fr::devices()[2]};
    fr::unified_array<int> u({96}, 0);
    for (int i = 0; i < 20; ++i) {
      fr::parallel_for(s0, 96, add_one{}, u);
      fr::parallel_for(s1, 48, add_one{}, u.slice({0, 48}));
      fr::parallel_for(s2, 48, add_one{}, u.slice({48, 96}));
      if (i % 5 == 0) u[5] += 1;
    }
    BOOST_TEST((u[5] == 44 && u[90] == 40), how);
  }
}

// One thread reads elements while another launches kernels that write other elements of the same array.
BOOST_AUTO_TEST_CASE(other_elements_than_those_that_the_cpu_reads) {
  using array = fr::unified_array<int, 1>;
  const struct {
    const char* name;
    long (*sum)(const array&);
  } all[] = {{"elements of the array",
              [](const array& x) {
                long sum = 0;
                for (std::size_t i = 0; i < 100; ++i) sum += x[i];
                return sum;
              }},
             {"elements of a slice",
              [](const array& x) {
                const auto half = x.slice({0, 100});
                long sum = 0;
                for (std::size_t i = 0; i < 100; ++i) sum += half[i];
                return sum;
              }},
             {"an iterator of the array", [](const array& x) {
                const auto begin = x.begin();
                return std::accumulate(begin, begin + 100, 0L);
              }}};
  for (std::size_t seed = 0; seed < support::seeds(20); ++seed)
    for (const auto& one : all) {
      const std::string how = seed == 0 ? "eager" : "random:" + std::to_string(seed);
      const fr::simulation sim("devices=1;check=races;schedule=" + how);
      array x({200}, 0, fr::devices()[0]);
      (void)x.begin();
      std::atomic<bool> over{false};
      std::string written;
      std::thread writer([&] {
        written = support::failure_of<fr::error>([&] {
          for (int k = 0; k < 40; ++k) fr::parallel_for(100, add_one{}, x.slice({100, 200}));
          fr::default_stream(fr::devices()[0]).synchronize();
        });
        over = true;
      });
      long sum = 0;
      const std::string read = support::failure_of<fr::error>([&] {
        while (!over) sum += one.sum(x);
      });
      writer.join();
      BOOST_TEST((written.empty() && read.empty() && sum == 0), how << ", " << one.name << ": " << written << read);
    }
}

// Work that ferry does not track uses other elements of the view than the written one.
BOOST_AUTO_TEST_CASE(an_element_is_not_its_array) {
  for (const std::string how : {"eager", "random:1", "random:2", "random:3"}) {
    const fr::simulation sim("devices=1;check=races;schedule=" + how);
    fr::stream s{fr::devices()[0]};
    fr::unified_array<int> u({64}, 0);
    int* const p = fr::pointer(u, s);
    (void)u.begin();               // waits, and closes the pointer
    launch_own(s, p + 32, 32);     // through the closed pointer
    auto view = u.slice({0, 64});  // no access check yet
    const std::string text = support::failure_of<fr::error>([&] {
      view[3] = 1;
      s.synchronize();
    });
    BOOST_TEST(text == "", how);
  }
}

// Elements, iterators and spans count as CPU accesses when they are obtained. The program's own kernel was enqueued
// before: it has run by then, or runs later.
BOOST_AUTO_TEST_CASE(what_the_cpu_touches) {
  using view = fr::array_view<int, 1, fr::memory_kind::unified>;
  const struct {
    const char* name;
    void (*touch)(view&);
  } all[] = {{"an element", [](view& u) { u[3] = 1; }},
             {"an iterator", [](view& u) { *u.begin() = 1; }},
             {"a span", [](view& u) { *fr::host_span(u).begin() = 1; }}};
  for (const std::string how : {"eager", "random:1", "random:2", "random:3"})
    for (const auto& one : all) {
      const support::machine_that_breaks sim("devices=1;check=on;schedule=" + how);
      fr::stream s{fr::devices()[0]};
      fr::unified_array<int> u({64}, 0);
      int* const p = fr::pointer(u, s);
      (void)u.begin();               // waits, and closes the pointer
      launch_own(s, p, 64);          // through the closed pointer
      auto part = u.slice({0, 32});  // no access check yet
      std::string text;
      try {
        one.touch(part);
        s.synchronize();
      } catch (const fr::device_error& e) {
        text = e.what();
      }
      BOOST_TEST(says(text, "the CPU's access"), how << ", " << one.name << ": " << text);
    }
}

BOOST_AUTO_TEST_SUITE_END()
