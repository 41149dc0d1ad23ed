// Limits, budgets, and early reclaim.
#include <boost/test/unit_test.hpp>
#include <chrono>
#include <cstdlib>
#include <ferry/core.hpp>
#include <string>
#include <vector>

#include "memory_environment.hpp"
#include "reclaim_pacer.hpp"

namespace fr = ferry;
using fr::memory_kind;

namespace {

constexpr std::size_t MiB = std::size_t{1} << 20;

template <class Error, class Call>
void refused(Call call, std::initializer_list<std::string> parts) {
  try {
    call();
    BOOST_ERROR("nothing was thrown; expected " << *parts.begin());
  } catch (const Error& e) {
    for (const std::string& p : parts)
      BOOST_TEST(std::string(e.what()).find(p) != std::string::npos, "'" << p << "' in: " << e.what());
  }
}

fr::device_array<char> device_bytes(std::size_t n, int d = 0) { return fr::device_array<char>({n}, fr::device(d)); }

}  // namespace

BOOST_AUTO_TEST_SUITE(memory_limits)

BOOST_AUTO_TEST_CASE(a_hard_limit_is_never_crossed) {
  fr::simulation sim("devices=2;memory=64MiB");
  fr::set_memory_limit(fr::device(0), {.hard = "16MiB"});
  std::vector<fr::device_array<char>> arrays;
  for (int i = 0; i < 4; ++i) arrays.push_back(device_bytes(4 * MiB));
  refused<fr::out_of_memory>([] { device_bytes(4 * MiB); },
                             {"hard limit of 16.000 MiB", "device 0", "raise the limit", "limits: device and unified"});
  const auto elsewhere = device_bytes(32 * MiB, 1);
  arrays.pop_back();
  const auto again = device_bytes(4 * MiB);  // cached or given back, the bytes are there
  const fr::memory_ledger& ledger = sim.get().memory();
  BOOST_TEST(ledger.reserved_bytes(memory_kind::device, 0) <= 16 * MiB);
  refused<fr::out_of_memory>([] { fr::unified_array<char> u({4 * MiB}); }, {"hard limit", "unified memory"});
  fr::set_memory_limit(fr::device(0), {});
  const auto more = device_bytes(16 * MiB);
}

// Percentages are of that device, not of whichever asked first.
BOOST_AUTO_TEST_CASE(percentages_on_unequal_devices) {
  fr::simulation sim("devices=2;memory=64MiB");
  for (const int d : {0, 1}) fr::set_memory_limit(fr::device(d), {.hard = d == 0 ? "50%" : "25%"});
  const auto a = device_bytes(32 * MiB, 0);
  const auto b = device_bytes(16 * MiB, 1);
  refused<fr::out_of_memory>([] { device_bytes(1, 0); }, {"50% (32.000 MiB)"});
  refused<fr::out_of_memory>([] { device_bytes(1, 1); }, {"25% (16.000 MiB)"});
}

BOOST_AUTO_TEST_CASE(limits_by_kind_and_tag) {
  fr::simulation sim("devices=2;memory=64MiB");
  fr::set_memory_limit({.on = fr::device(0), .kind = memory_kind::unified}, {.hard = "2MiB"});
  fr::set_memory_limit({.kind = memory_kind::host}, {.hard = "4MiB"});
  fr::set_memory_limit({.tag = "solver"}, {.hard = "1MiB"});
  const auto large = device_bytes(8 * MiB);
  const fr::unified_array<char> u({2 * MiB});
  refused<fr::out_of_memory>([] { fr::unified_array<char> v({1}); }, {"unified memory of device 0"});
  const fr::host_array<char> h({2 * MiB}, fr::device(0)), h1({2 * MiB}, fr::device(1));
  refused<fr::out_of_memory>([] { fr::host_array<char> v({1}, fr::device(1)); },
                             {"hard limit of 4.000 MiB", "host memory"});
  const fr::memory_tag_scope solver{"solver"};
  {
    const auto a = device_bytes(MiB / 2), b = device_bytes(MiB / 2, 1);
    refused<fr::out_of_memory>([] { device_bytes(1); },
                               {"under the tag 'solver'", "leaves 0 bytes", "tag 'solver' 512.000 KiB"});
  }
  const auto a = device_bytes(MiB);
}

BOOST_AUTO_TEST_CASE(what_limits_must_not_be) {
  fr::simulation sim("devices=2;memory=64MiB");
  const fr::device d0(0);
  refused<fr::invalid_argument>([&] { fr::set_memory_limit(d0, {.hard = "65MiB"}); },
                                {"hard limit of 65.000 MiB", "above what there is", "the device has 64.000 MiB"});
  refused<fr::invalid_argument>([&] { fr::set_memory_limit(d0, {.soft = "1TiB"}); }, {"soft limit of 1.000 TiB"});
  refused<fr::invalid_argument>([&] { fr::set_memory_limit(d0, {.soft = "80%", .hard = "60%"}); },
                                {"80%", "above the hard one", "60%"});
  refused<fr::invalid_argument>([] { fr::set_memory_limit(fr::device(2), {.hard = "1MiB"}); }, {"device 2"});
  refused<fr::invalid_argument>([] { fr::set_memory_limit({.tag = "t"}, {.hard = "50%"}); },
                                {"part of nothing", ".on"});
  refused<fr::invalid_argument>([] { fr::set_memory_limit(fr::memory_scope{}, {.hard = "1MiB"}); }, {".on"});
  refused<fr::parse_error>([&] { fr::set_memory_limit(d0, {.hard = "8GB"}); }, {"'8GB'", "512MiB"});
  BOOST_TEST(!sim.get().memory().limits().any());
}

BOOST_AUTO_TEST_CASE(the_environments_form) {
  const fr::memory_limit l = fr::parse_memory_limit("soft:60%,hard:8GiB");
  BOOST_TEST(l.soft.bytes_of(1000) == 600u);
  BOOST_TEST(l.hard.bytes_of(1000) == std::size_t{8} << 30);
  BOOST_TEST(!fr::parse_memory_limit("hard:1MiB").soft.is_set());
  for (const char* text :
       {"", "60%", "soft:60%;hard:8GiB", "soft:", "hard:8GB", "soft:1MiB,soft:2MiB", "soft:1MiB,", "medium:1MiB"})
    refused<fr::parse_error>([&] { fr::parse_memory_limit(text); },
                             {"'" + std::string(text) + "'", "soft:AMOUNT", "hard:8GiB"});
  fr::simulation sim("devices=2;memory=64MiB");
  const struct variable {
    explicit variable(const char* value) { setenv("FERRY_MEMORY_LIMIT", value, 1); }
    ~variable() { unsetenv("FERRY_MEMORY_LIMIT"); }
  } set("hard:25%");
  fr::configure_memory(sim.get());
  const auto fits = device_bytes(16 * MiB, 1);
  refused<fr::out_of_memory>([] { device_bytes(17 * MiB); }, {"25%"});
  setenv("FERRY_MEMORY_LIMIT", "hard:8GiB", 1);
  refused<fr::invalid_argument>([&] { fr::configure_memory(sim.get()); },
                                {"FERRY_MEMORY_LIMIT", "8.000 GiB", "64.000 MiB"});
  setenv("FERRY_MEMORY_LIMIT", "hard", 1);
  refused<fr::parse_error>([&] { fr::configure_memory(sim.get()); }, {"FERRY_MEMORY_LIMIT", "'hard'"});
}

BOOST_AUTO_TEST_CASE(budgets_answer_before_the_allocation) {
  fr::simulation sim("devices=2;memory=64MiB");
  const fr::memory_budget budget(fr::device(0));
  BOOST_TEST(budget.would_fit(64 * MiB));
  BOOST_TEST(!budget.would_fit(64 * MiB + 1));
  fr::set_memory_limit(fr::device(0), {.hard = "32MiB"});
  BOOST_TEST(budget.available_bytes() == 32 * MiB);
  {
    const auto a = device_bytes(20 * MiB);
    BOOST_TEST(budget.available_bytes() == 12 * MiB);
    BOOST_TEST(budget.would_fit(12 * MiB));
    BOOST_TEST(!budget.would_fit(12 * MiB + 1));
    const auto b = device_bytes(12 * MiB);
    BOOST_TEST(!budget.would_fit(1));
  }
  BOOST_TEST(budget.would_fit(32 * MiB));  // cached, and given back when needed
  { const auto all = device_bytes(32 * MiB); }
  fr::set_memory_limit({.tag = "io"}, {.hard = "1MiB"});
  const fr::memory_budget of_tag({.on = fr::device(1), .tag = "io"});
  BOOST_TEST(of_tag.would_fit(MiB));
  BOOST_TEST(!of_tag.would_fit(MiB + 1));
  BOOST_CHECK_THROW(fr::memory_budget({.kind = memory_kind::host}), fr::invalid_argument);
  BOOST_CHECK_THROW(fr::memory_budget(fr::device(7)), fr::invalid_argument);
}

// A budget that says yes is right: random sizes against what happens.
BOOST_AUTO_TEST_CASE(budgets_keep_their_word) {
  for (unsigned seed = 0; seed < 20; ++seed) {
    fr::simulation sim("devices=1;memory=16MiB", {512, 64 << 10, MiB});
    fr::set_memory_limit(fr::device(0), {.hard = seed % 2 ? "75%" : "100%"});
    const fr::memory_budget budget(fr::device(0));
    std::vector<fr::device_array<char>> arrays;
    std::srand(seed);
    for (int i = 0; i < 300; ++i) {
      const auto n = (static_cast<std::size_t>(std::rand()) % 4096 + 1) * 512;
      if (!arrays.empty() && std::rand() % 2)
        arrays.erase(arrays.begin() + std::rand() % static_cast<int>(arrays.size()));
      const bool fits = budget.would_fit(n);
      bool came = true;
      try {
        arrays.push_back(device_bytes(n));
      } catch (const fr::out_of_memory&) {
        came = false;
      }
      BOOST_TEST(fits == came, "seed " << seed << ", step " << i << ": " << n << " bytes, said " << fits);
    }
  }
}

// Above a soft limit unused bytes go back when the program synchronises, and nothing else happens.
BOOST_AUTO_TEST_CASE(soft_limits_reclaim_at_synchronisation) {
  fr::simulation sim("devices=1;memory=256MiB");
  fr::memory_ledger& ledger = sim.get().memory();
  fr::set_memory_limit(fr::device(0), {.soft = "100MiB"});
  int asked = 0;
  const auto callback = fr::on_memory_pressure([&](const fr::memory_pressure& p) {
    ++asked;
    BOOST_TEST(p.used_bytes > p.soft_bytes);
    BOOST_TEST(p.soft_bytes == 100 * MiB);
    BOOST_TEST((p.pressure() > 0 && p.pressure() < 1));
    return std::size_t{0};
  });
  {
    const auto a = device_bytes(40 * MiB), b = device_bytes(40 * MiB);
    fr::default_stream(fr::device(0)).synchronize();
    BOOST_TEST(asked == 0);
  }
  { const auto c = device_bytes(90 * MiB); }  // 80 of it cached
  BOOST_TEST(asked == 0);
  for (int i = 0; i < 4000 && ledger.reserved_bytes(memory_kind::device, 0) > 100 * MiB; ++i) {
    fr::default_stream(fr::device(0)).synchronize();
    const auto until = std::chrono::steady_clock::now() + std::chrono::milliseconds(5);
    while (std::chrono::steady_clock::now() < until) {
    }
  }
  BOOST_TEST(ledger.reserved_bytes(memory_kind::device, 0) <= 100 * MiB);
  BOOST_TEST(asked >= 1);
  const int before = asked;
  for (int i = 0; i < 10; ++i) fr::default_stream(fr::device(0)).synchronize();
  BOOST_TEST(asked == before);
}

// Bytes that work still uses stay: early reclaim never waits.
BOOST_AUTO_TEST_CASE(early_reclaim_never_waits) {
  for (int seed = 0; seed < 20; ++seed) {
    fr::simulation sim("devices=1;memory=256MiB;schedule=random:" + std::to_string(seed));
    fr::set_memory_limit(fr::device(0), {.soft = "1MiB"});
    fr::stream busy{fr::device(0)}, idle{fr::device(0)};
    std::vector<int> there(1000);
    {
      fr::device_array<int> a({2 * MiB}, 7);
      fr::copy(a.slice({0, 1000}), there);
    }
    idle.synchronize();
    BOOST_TEST(there == std::vector<int>(1000, 7));
  }
}

BOOST_AUTO_TEST_CASE(pauses_are_spread_out) {
  using namespace std::chrono_literals;
  fr::reclaim_pacer pacer;
  fr::reclaim_pacer::clock::time_point t{};
  BOOST_TEST(pacer.is_due(t, 0));
  pacer.ran(t, t + 1ms, 100, 100);
  t += 1ms;
  BOOST_TEST(!pacer.is_due(t + 4ms, 1));
  BOOST_TEST(pacer.is_due(t + 6ms, 1));  // under high pressure, a fifth of the time
  BOOST_TEST(!pacer.is_due(t + 99ms, 0));
  BOOST_TEST(pacer.is_due(t + 101ms, 0));                      // under low pressure, one percent
  for (int i = 0; i < 20; ++i) pacer.ran(t, t + 1ms, 0, 100);  // in vain
  t += 1ms;
  BOOST_TEST(!pacer.is_due(t + 300ms, 1));
  BOOST_TEST(pacer.is_due(t + 330ms, 1));  // but not forgotten
  pacer.ran(t, t + 1ms, 90, 100);
  BOOST_TEST(pacer.is_due(t + 7ms, 1));
}

// What a long program spends on it: simulated pauses of 1 ms at every chance.
BOOST_AUTO_TEST_CASE(pauses_take_a_bounded_share) {
  using namespace std::chrono_literals;
  for (const double pressure : {0.0, 0.5, 1.0}) {
    fr::reclaim_pacer pacer;
    fr::reclaim_pacer::clock::time_point t{};
    double paused = 0;
    for (int i = 0; i < 100000; ++i, t += 100us)
      if (pacer.is_due(t, pressure)) {
        pacer.ran(t, t + 1ms, 100, 100);
        t += 1ms;
        paused += 1;
      }
    const double share = paused / std::chrono::duration<double, std::milli>(t.time_since_epoch()).count();
    BOOST_TEST(share < 0.01 + 0.19 * pressure + 0.001);
    BOOST_TEST(share > 0.5 * (0.01 + 0.19 * pressure));
  }
}

BOOST_AUTO_TEST_SUITE_END()
