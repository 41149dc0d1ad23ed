// explain() and reports list every source line where the CPU accesses a unified array, even if its pages have long been
// on the CPU.
#include <algorithm>
#include <cstdlib>
#include <optional>
#include <string>

#include <boost/test/unit_test.hpp>

#include <ferry/unified.hpp>

#include "sim/sim_backend.hpp"

namespace fr = ferry;

namespace cpu_touches {
namespace {

std::string at(int line) { return "cpu_touches_test.cpp:" + std::to_string(line); }

const fr::cpu_touch* touch_in(int line, const std::string& array, const std::string& phase,
                              const fr::migration_report& r) {
  for (const fr::migration_entry& e : r.entries)
    if (e.array == array && e.phase == phase)
      for (const fr::cpu_touch& t : e.touches)
        if (t.at.text() == at(line)) return &t;
  return nullptr;
}
bool has(const std::string& text, const std::string& part) { return text.find(part) != text.npos; }
std::size_t times(const std::string& text, const std::string& part) {
  std::size_t n = 0;
  for (std::size_t i = text.find(part); i != text.npos; i = text.find(part, i + 1)) ++n;
  return n;
}

void use_on_device(fr::unified_array<float>& u) {
  fr::submit(
      fr::default_stream(fr::devices()[0]), [](fr::native_stream, float*) {}, fr::inout(u));
}

class traces_variable {
 public:
  explicit traces_variable(const char* value) {
    if (const char* before = std::getenv(name)) before_ = before;
    ::setenv(name, value, 1);
  }
  ~traces_variable() { before_ ? ::setenv(name, before_->c_str(), 1) : ::unsetenv(name); }

 private:
  static constexpr const char* name = "FERRY_TRACE_ELEMENTS";
  std::optional<std::string> before_;
};

}  // namespace
}  // namespace cpu_touches

BOOST_AUTO_TEST_SUITE(cpu_touches)

// Large enough for its page locations to be tracked, and used so often by the CPU that no location changes any more.
BOOST_AUTO_TEST_CASE(arrays_that_the_cpu_has_used_for_long) {
  fr::simulation sim("devices=1");
  fr::unified_array<float> u({1 << 20}, 0.f);
  u.name("u");
  for (int i = 0; i < 20; ++i)
    for (float& x : u) x += 1;
  {
    fr::migration_phase late("late");
    const int line = __LINE__ + 1;
    for (float& x : u) x += 1;
    const fr::migration_report r = fr::report_migration();
    const fr::cpu_touch* t = touch_in(line, "u", "late", r);
    BOOST_REQUIRE_MESSAGE(t, r.table());
    BOOST_TEST((t->writes && !t->elements && t->checks == 1u));
  }
  fr::reset_migration_report();
  const int line = __LINE__ + 1;
  for (const float x : std::as_const(u)) BOOST_REQUIRE(x == 21);
  const fr::migration_report r = fr::report_migration();
  const fr::cpu_touch* t = touch_in(line, "u", "", r);
  BOOST_REQUIRE_MESSAGE(t, r.table());
  BOOST_TEST(!t->writes);
  BOOST_TEST(has(fr::explain(u), at(line)));
}

BOOST_AUTO_TEST_CASE(elements_are_checked_once_unless_traced) {
  fr::simulation sim("devices=1");
  fr::unified_array<float> u({100}, 0.f);
  fr::unified_array<float, 2> m({4, 5}, 0.f);
  u.name("u"), m.name("m");
  use_on_device(u);
  const int first = __LINE__ + 1;
  u[0] = 1;
  u[1] = 2;
  BOOST_TEST(has(fr::explain(u), at(first)));
  BOOST_TEST(!has(fr::explain(u), at(first + 1)), "one ask, until a device uses the array");

  fr::trace_elements(fr::element_traces::on);  // repeats access checks that were skipped
  const int second = __LINE__ + 1;
  u[2] = 3;
  for (std::size_t i = 0; i < 5; ++i) u[i] += 1;
  BOOST_TEST(std::as_const(u)[2] == 4);
  m(1, 2) = 7;
  BOOST_TEST(m.at(1, 2) == 7);
  const std::string text = fr::explain(u);
  for (const int line : {second, second + 1, second + 2}) BOOST_TEST(has(text, at(line)), text);
  BOOST_TEST(has(text, at(second + 1) + ", 5 checks"), text);
  BOOST_TEST(has(fr::explain(m), "written by the CPU, by elements, in " + at(second + 3)), fr::explain(m));
  const fr::migration_report r = fr::report_migration();
  for (const int line : {second, second + 1, second + 2}) BOOST_TEST(touch_in(line, "u", "", r), r.table());

  fr::trace_elements(fr::element_traces::off);
  const int third = __LINE__ + 1;
  u[3] = 3;  // an access check, after which tracing ends
  u[4] = 3;
  BOOST_TEST(has(fr::explain(u), at(third)));
  BOOST_TEST(!has(fr::explain(u), at(third + 1)));
}

BOOST_AUTO_TEST_CASE(traced_elements_move_and_mean_the_same) {
  for (int seed = 0; seed < 10; ++seed) {
    fr::simulation sim("devices=2;schedule=random:" + std::to_string(seed));
    fr::trace_elements(fr::element_traces::on);
    fr::unified_array<int> u({1 << 20}, 1);
    for (int round = 0; round < 3; ++round) {
      for (std::size_t i = 0; i < 10; ++i) u[i * 1000] += 1;
      fr::fill(u.slice({0, 5000}), round);
      BOOST_TEST((u[4999] == round && u[5000] == round + 2));
    }
  }
}

BOOST_AUTO_TEST_CASE(what_is_on_offer_stays_on_offer) {
  fr::simulation sim("devices=1;memory=8MiB");
  const auto discarded = [&] {
    return dynamic_cast<fr::detail::sim::inspector&>(sim.get().backend()).moved().discarded;
  };
  fr::unified_array<char> u({4 << 20}, 'x');
  fr::discard_when_needed(u);
  fr::trace_elements(fr::element_traces::on);
  const std::size_t before = discarded();
  const fr::device_array<char> most({7 << 20});  // discards the contents of u
  BOOST_TEST(discarded() - before == u.size_bytes());
}

BOOST_AUTO_TEST_CASE(the_environment) {
  {
    const traces_variable on("on");
    fr::simulation sim("devices=1");
    fr::unified_array<float> u({100}, 0.f);
    const int line = __LINE__ + 2;
    u[0] = 1;
    u[1] = 1;
    BOOST_TEST(has(fr::explain(u), at(line)));
  }
  const traces_variable wrong("sometimes");
  try {
    fr::simulation sim("devices=1");
    BOOST_ERROR("FERRY_TRACE_ELEMENTS=sometimes was accepted");
  } catch (const fr::parse_error& e) {
    BOOST_TEST(has(e.what(), "FERRY_TRACE_ELEMENTS='sometimes' is not allowed; allowed are off, on"), e.what());
  }
}

BOOST_AUTO_TEST_CASE(more_lines_than_are_shown) {
  fr::simulation sim("devices=1");
  fr::unified_array<float> u({100}, 0.f);
  u.name("u");
  for (int line = 1; line <= 32; ++line) (void)u.begin(fr::source_line{"some.cpp", line});
  BOOST_TEST(!has(fr::explain(u), "more line"));
  BOOST_TEST(!has(fr::report_migration().table(), "more line"));
  (void)u.begin(fr::source_line{"some.cpp", 33});
  BOOST_TEST(has(fr::explain(u), "and 1 more line of the CPU, 1 check\n"), fr::explain(u));
  for (int line = 33; line <= 40; ++line) (void)u.begin(fr::source_line{"some.cpp", line});
  const std::string own_name = "some.cpp";  // a header has a different name in each file that includes it
  (void)u.begin(fr::source_line{own_name.c_str(), 5});
  const fr::migration_report r = fr::report_migration();
  const std::string more = "and 8 more lines of the CPU, 9 checks\n";
  for (const std::string& text : {fr::explain(u), r.table()}) {
    BOOST_TEST(has(text, more), text);
    BOOST_TEST(times(text, "some.cpp:") == 32u);
    BOOST_TEST(!has(text, "some.cpp:33"));
  }
  BOOST_TEST(times(r.json(), "some.cpp:") == 40u);
  BOOST_TEST(r.entries.at(0).touches.size() == 40u);
}

BOOST_AUTO_TEST_SUITE_END()
