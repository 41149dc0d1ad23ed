// The race checker with ferry above it: ordered programs pass, and what goes behind ferry's back is named.
#include <string>

#include <boost/test/unit_test.hpp>

#include <ferry/core.hpp>

#include "support/quiet_stderr.hpp"

namespace fr = ferry;

namespace {

struct add_one {
  FERRY_HOST_DEVICE void operator()(std::size_t i, int* y) const { y[i] += 1; }
};

// A kernel of the program's own, on a pointer that it has kept.
void launch_own(fr::stream_ref s, int* p, std::size_t n) {
  const fr::kernel_use use{reinterpret_cast<const std::byte*>(p), n * sizeof(int), true, true};
  fr::machine::current().verbs().launch(s.line().stream(), {"own", {&use, 1}, [p, n](const fr::relocation& move) {
                                                              for (std::size_t i = 0; i < n; ++i) move(p)[i] = 7;
                                                            }});
}

bool says(const std::string& text, const std::string& part) { return text.find(part) != text.npos; }

}  // namespace

BOOST_AUTO_TEST_SUITE(checked_for_races)

BOOST_AUTO_TEST_CASE(a_pointer_that_is_kept_too_long) {
  for (const std::string how : {"eager", "random:1", "random:2", "random:3"}) {
    const support::machine_that_breaks sim("devices=2;check=on;schedule=" + how);
    fr::stream s0{fr::devices()[0]}, s1{fr::devices()[1]};
    fr::unified_array<int> u({64}, 0);
    u.name("u");
    int* const p = fr::pointer(u, s1);
    launch_own(s1, p, 64);  // as it should be
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

// Also with the eager schedule, whose results are right by chance.
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

// Elements, iterators and spans of the CPU count as access when they are granted: a kernel that ferry was not given is found.
BOOST_AUTO_TEST_CASE(what_the_cpu_touches) {
  using u_array = fr::unified_array<int, 1>;
  const struct {
    const char* name;
    void (*touch)(u_array&);
  } all[] = {{"an element", [](u_array& u) { u[0] = 1; }},
             {"reading an element", [](u_array& u) { (void)std::as_const(u)[0]; }},
             {"an iterator", [](u_array& u) { *u.begin() = 1; }},
             {"a span", [](u_array& u) { fr::host(u)[0] = 1; }}};
  for (const std::string how : {"eager", "random:1", "random:2", "random:3"})
    for (const auto& one : all) {
      const support::machine_that_breaks sim("devices=2;check=on;schedule=" + how);
      fr::stream s{fr::devices()[1]};
      u_array u({64}, 0);
      u.name("u");
      int* const p = fr::pointer(u, s);
      launch_own(s, p, 64);
      (void)u.begin();        // closes the pointer, and waits
      launch_own(s, p, 64);   // by the pointer that is closed
      fr::parallel_for(fr::devices()[0], 64, add_one{}, u);  // which makes the CPU ask again
      std::string text;
      try {
        one.touch(u);
        s.synchronize();
      } catch (const fr::device_error& e) {
        text = e.what();
      }
      BOOST_TEST(says(text, "race: "), how << ", " << one.name << ": " << text);
    }
}

// The pointer's kernel was given before the CPU touched the elements, and may run after it.
BOOST_AUTO_TEST_CASE(what_the_cpu_touches_first) {
  for (const std::string how : {"random:1", "random:2", "random:3"}) {
    const support::machine_that_breaks sim("devices=1;check=on;schedule=" + how);
    fr::stream s{fr::devices()[0]};
    fr::unified_array<int> u({64}, 0);
    int* const p = fr::pointer(u, s);
    (void)u.begin();
    launch_own(s, p, 64);
    auto other = u.slice({0, 32});
    std::string text;
    try {
      other[3] = 7;  // a view that has not asked yet
      s.synchronize();
    } catch (const fr::device_error& e) {
      text = e.what();
    }
    BOOST_TEST(says(text, "the CPU's access"), how << ": " << text);
  }
}

BOOST_AUTO_TEST_SUITE_END()
