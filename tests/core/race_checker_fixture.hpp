// Programs on simulated devices, and what the race checker reports of them in every schedule.
#pragma once
#include <algorithm>
#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "sim_fixture.hpp"

namespace race_checker {

using namespace sim_test;

inline constexpr std::size_t n = 64;

// A simulated runtime with two streams on two devices, and memory of both kinds.
struct place {
  explicit place(const std::string& options, bool check = true)
      : m("devices=2;" + std::string(check ? "check=races;" : "") + options),
        x(m.ints(2 * n, 0, memory_kind::unified)),
        y(m.ints(2 * n, 0, memory_kind::unified)),
        a(m.stream(0)),
        b(m.stream(1)),
        of_a(m.event(0)),
        of_b(m.event(1)) {}
  void write(fr::native_stream s, int* p) { set(m, s, p, n, 1); }
  void read(fr::native_stream s, int* p, int* to) {
    const std::vector uses{use(p, n, true, false), use(to, n, true, true)};
    m.b.launch(s, {"read", uses, [=](const fr::detail::relocation& at) { std::copy_n(at(p), n, at(to)); }});
  }
  void order(fr::native_stream first, fr::native_event e, fr::native_stream then) {
    m.b.record(e, first);
    m.b.wait(then, e);
  }
  void finish() {
    m.b.synchronize(a);
    m.b.synchronize(b);
    m.b.synchronize(a);  // its device may have failed while b was waited for
  }
  sim_machine m;
  int *x, *y;
  fr::native_stream a, b;
  fr::native_event of_a, of_b;
};

using program = std::function<void(place&)>;

// What the checker reports; empty if there is nothing. The same in all schedules.
inline void each_schedule(const program& p, const std::function<void(const std::string&)>& look) {
  for (int seed = -1; seed < 12; ++seed) {
    place here(seed < 0 ? "schedule=eager" : random_machine(seed));
    std::string said;
    try {
      p(here);
      here.finish();
    } catch (const fr::device_error& e) {
      said = e.what();
    }
    BOOST_TEST_CONTEXT((seed < 0 ? "eager" : "seed " + std::to_string(seed))) look(said);
  }
}
inline void is_a_race(const program& p, const std::string& part = "race: ") {
  each_schedule(p, [&](const std::string& said) { BOOST_TEST(said.find(part) != said.npos, "said: " << said); });
}
inline void is_none(const program& p) {
  each_schedule(p, [](const std::string& said) { BOOST_TEST(said == ""); });
}

}  // namespace race_checker
