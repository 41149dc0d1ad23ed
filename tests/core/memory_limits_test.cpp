// Hard limits by device, kind and tag, set in the program and in its environment.
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cstdlib>
#include <ferry/core.hpp>
#include <span>
#include <string>
#include <vector>

#include "ferry/core/detail/accounting/memory_accounting.hpp"
#include "ferry/core/detail/pools/runtime_pools.hpp"
#include "memory/memory_environment.hpp"

namespace fr = ferry;
using fr::memory_kind;

namespace memory_limits {
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
}  // namespace memory_limits

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
  const auto again = device_bytes(4 * MiB);  // the bytes are available, whether cached or released
  const fr::detail::memory_accounting& accounting = sim.get().memory();
  BOOST_TEST(accounting.pools().reserved_bytes(memory_kind::device, 0) <= 16 * MiB);
  refused<fr::out_of_memory>([] { fr::unified_array<char> u({4 * MiB}); }, {"hard limit", "unified memory"});
  fr::set_memory_limit(fr::device(0), {});
  const auto more = device_bytes(16 * MiB);
}

// Percentages apply to the limit's own device, not to the first device that is used.
BOOST_AUTO_TEST_CASE(percentages_on_unequal_devices) {
  fr::simulation sim("devices=3;memory=64MiB,16MiB");
  const fr::device d0(0), d1(1), d2(2);
  fr::set_memory_limit(d0, {.soft = "25%", .hard = "50%"});
  fr::set_memory_limit(d1, {.soft = "25%", .hard = "50%"});
  fr::set_memory_limit(d2, {.hard = "25%"});
  const auto a = device_bytes(32 * MiB, 0);
  const auto b = device_bytes(8 * MiB, 1);
  const auto c = device_bytes(4 * MiB, 2);
  refused<fr::out_of_memory>([] { device_bytes(1, 0); }, {"50% (32.000 MiB)", "device 0: ", "of 64.000 MiB"});
  refused<fr::out_of_memory>([] { device_bytes(1, 1); }, {"50% (8.000 MiB)", "device 1: ", "of 16.000 MiB"});
  refused<fr::out_of_memory>([] { device_bytes(1, 2); }, {"25% (4.000 MiB)", "device 2: ", "of 16.000 MiB"});
  const auto limit_of = [](int d) { return fr::memory_use().devices[static_cast<std::size_t>(d)].limits; };
  BOOST_REQUIRE((limit_of(0).size() == 1u && limit_of(1).size() == 1u));
  BOOST_TEST(limit_of(0)[0].find("soft 25% (16.000 MiB), hard 50% (32.000 MiB)") != std::string::npos);
  BOOST_TEST(limit_of(1)[0].find("soft 25% (4.000 MiB), hard 50% (8.000 MiB)") != std::string::npos);
  refused<fr::invalid_argument>([&] { fr::set_memory_limit(d1, {.hard = "17MiB"}); },
                                {"17.000 MiB", "the device has 16.000 MiB"});
  fr::set_memory_limit(d0, {.hard = "48MiB"});  // more than the other devices have, but not more than this one
  const auto more = device_bytes(16 * MiB, 0);
  fr::set_memory_limit({.on = d1, .kind = memory_kind::unified}, {.hard = "100%"});
  refused<fr::out_of_memory>([&] { fr::unified_array<char> u({17 * MiB}, d1); }, {"100% (16.000 MiB)"});
}

// Budgets on unequal devices, and the arguments of pressure callbacks.
BOOST_AUTO_TEST_CASE(shares_of_unequal_devices_seen_by_the_program) {
  fr::simulation sim("devices=2;memory=64MiB,16MiB", {512, 2 * MiB, 2 * MiB, fr::pool_kind::split});
  for (const int d : {0, 1}) fr::set_memory_limit(fr::device(d), {.soft = "25%", .hard = "75%"});
  BOOST_TEST(fr::memory_budget(fr::device(0)).available_bytes() == 48 * MiB);
  BOOST_TEST(fr::memory_budget(fr::device(1)).available_bytes() == 12 * MiB);
  std::vector<fr::memory_pressure> told;
  const auto callback = fr::on_memory_pressure([&](const fr::memory_pressure& p) {
    told.push_back(p);
    return std::size_t{0};
  });
  const auto a = device_bytes(16 * MiB, 0), b = device_bytes(8 * MiB, 1);  // a quarter of one device, half of the other
  fr::default_stream(fr::device(0)).synchronize();
  BOOST_TEST(!told.empty());
  for (const fr::memory_pressure& p : told) {
    BOOST_TEST((p.scope.on->index() == 1 && p.soft_bytes == 4 * MiB && p.hard_bytes == 12 * MiB));
    BOOST_TEST(p.pressure() == 0.5);
  }
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

// A block retained by a workspace counts under its current array's tag, and under none in between.
BOOST_AUTO_TEST_CASE(limits_on_tags_see_workspaces_and_checked_arrays) {
  for (const bool checked : {false, true}) {
    fr::simulation sim("devices=1;memory=64MiB", {.kind = fr::pool_kind::split});
    if (checked) fr::set_memory_checks(fr::memory_checks());
    fr::set_memory_limit({.tag = "small"}, {.hard = "1MiB"});
    fr::workspace w;
    {
      const fr::workspace_scope iteration(w);
      const fr::memory_tag_scope tag{"large"};
      const auto a = device_bytes(4 * MiB);
    }
    const fr::workspace_scope iteration(w);
    {
      const fr::memory_tag_scope tag{"small"};
      refused<fr::out_of_memory>([] { device_bytes(4 * MiB); }, {"hard limit of 1.000 MiB", "tag 'small'"});
      const auto a = device_bytes(MiB / 2);
      refused<fr::out_of_memory>([] { device_bytes(MiB / 2 + 1); }, {"tag 'small'"});
    }
    BOOST_TEST(w.statistics().in_use == 0u);
    const fr::memory_tag_scope tag{"large"};
    const auto again = device_bytes(4 * MiB);  // the block is still retained after the refusal
    BOOST_TEST(w.statistics().reused == 1u);
    fr::set_memory_checks(std::nullopt);
  }
}

// Pinned memory is in the system's RAM, whichever device it is for.
BOOST_AUTO_TEST_CASE(limits_on_pinned_memory_of_a_device_are_parts_of_the_ram) {
  fr::simulation sim("devices=1;memory=64MiB");
  const fr::device d0(0);
  const std::size_t ram = fr::system_memory_bytes();
  const fr::memory_scope pinned{.on = d0, .kind = memory_kind::host};
  fr::set_memory_limit(pinned, {.soft = "25%", .hard = "50%"});
  const auto rules = sim.get().memory().limits().all();
  BOOST_REQUIRE(rules->size() == 1u);
  BOOST_TEST(rules->front().soft == fr::memory_size("25%").bytes_of(ram));
  BOOST_TEST(rules->front().hard == fr::memory_size("50%").bytes_of(ram));
  fr::set_memory_limit(pinned, {.hard = ram});
  refused<fr::invalid_argument>([&] { fr::set_memory_limit(pinned, {.hard = ram + 1}); },
                                {"host memory of device 0", "the system has " + fr::bytes_text(ram)});
  fr::set_memory_limit({.on = d0, .kind = memory_kind::unified}, {.hard = "1GiB"});  // may exceed the device's memory
}

// fr::pin counts what it registers, each byte once.
BOOST_AUTO_TEST_CASE(pins_count_against_limits_on_pinned_memory) {
  fr::simulation sim("devices=2;memory=64MiB", {512, 2 * MiB, 2 * MiB, fr::pool_kind::split});
  const fr::detail::memory_accounting& accounting = sim.get().memory();
  fr::set_memory_limit({.kind = memory_kind::host}, {.hard = "4MiB"});
  std::vector<char> v(4 * MiB), w(MiB);
  const std::span<char> all(v);
  {
    const auto p = fr::pin(all.first(3 * MiB)), again = fr::pin(all.subspan(MiB, MiB));
    BOOST_TEST(accounting.pools().pinned_bytes() == 3 * MiB);
    BOOST_TEST(fr::memory_use().pinned_bytes == 3 * MiB);
    BOOST_TEST(fr::memory_use().text().find("own memory: 3.000 MiB\n") != std::string::npos);
    const auto more = fr::pin(all.subspan(2 * MiB, 2 * MiB));  // overlaps: adds one MiB
    BOOST_TEST(accounting.pools().pinned_bytes() == 4 * MiB);
    refused<fr::out_of_memory>([&] { (void)fr::pin(w); },
                               {"1.000 MiB of host memory", "hard limit of 4.000 MiB on host memory leaves 0 bytes"});
    refused<fr::out_of_memory>([] { fr::host_array<char> h({1}); }, {"hard limit of 4.000 MiB"});
    BOOST_TEST(accounting.pools().pinned_bytes() == 4 * MiB);
  }
  BOOST_TEST(accounting.pools().pinned_bytes() == 0u);
  { const fr::host_array<char> cached({2 * MiB}); }
  BOOST_TEST(accounting.pools().reserved_bytes(memory_kind::host, 0) == 2 * MiB);
  const auto p = fr::pin(v);  // cached bytes of pools are released first
  BOOST_TEST(accounting.pools().pinned_bytes() == 4 * MiB);
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
  refused<fr::parse_error>([] { fr::parse_memory_limit("device=1,hard:1MiB"); }, {"'device=1,hard:1MiB'", "a scope"});
  fr::simulation sim("devices=2;memory=64MiB");
  const struct variable {
    explicit variable(const char* value) { setenv("FERRY_MEMORY_LIMIT", value, 1); }
    ~variable() { unsetenv("FERRY_MEMORY_LIMIT"); }
  } set("hard:25%");
  fr::detail::configure_memory(sim.get());
  const auto fits = device_bytes(16 * MiB, 1);
  refused<fr::out_of_memory>([] { device_bytes(17 * MiB); }, {"25%"});
  {
    fr::simulation unequal("devices=2;memory=64MiB,16MiB");
    fr::detail::configure_memory(unequal.get());
    const auto quarter = device_bytes(16 * MiB, 0), of_less = device_bytes(4 * MiB, 1);
    refused<fr::out_of_memory>([] { device_bytes(1, 0); }, {"25% (16.000 MiB)"});
    refused<fr::out_of_memory>([] { device_bytes(1, 1); }, {"25% (4.000 MiB)"});
  }
  setenv("FERRY_MEMORY_LIMIT", "hard:8GiB", 1);
  refused<fr::invalid_argument>([&] { fr::detail::configure_memory(sim.get()); },
                                {"FERRY_MEMORY_LIMIT", "8.000 GiB", "64.000 MiB"});
  setenv("FERRY_MEMORY_LIMIT", "hard", 1);
  refused<fr::parse_error>([&] { fr::detail::configure_memory(sim.get()); }, {"FERRY_MEMORY_LIMIT", "'hard'"});
}

BOOST_AUTO_TEST_CASE(the_environments_form_by_device_kind_and_tag) {
  const auto all = fr::parse_memory_limits(
      "soft:60%;device=1,hard:8GiB;kind=host,hard:4GiB;tag=solver,hard:1GiB;soft:1MiB,tag=t,kind=unified,device=0");
  BOOST_REQUIRE(all.size() == 5u);
  BOOST_TEST((all[0].scope == fr::memory_scope{} && !all[0].limit.hard.is_set()));
  BOOST_TEST((all[1].scope == fr::memory_scope{.on = fr::device(1)}));
  BOOST_TEST((all[2].scope == fr::memory_scope{.kind = memory_kind::host}));
  BOOST_TEST((all[3].scope == fr::memory_scope{.tag = "solver"}));
  BOOST_TEST((all[4].scope == fr::memory_scope{.on = fr::device(0), .kind = memory_kind::unified, .tag = "t"}));
  BOOST_TEST(all[1].limit.hard.bytes_of(0) == std::size_t{8} << 30);
  const struct {
    const char* text;
    std::string part, why;
  } wrong[] = {{"", "", "neither soft: nor hard:"},
               {"soft:60%;", "", "neither soft: nor hard:"},
               {"soft:60%;hard:8GiB", "hard:8GiB", "same memory"},
               {"hard:1GiB;device=x,hard:8GiB", "device=x,hard:8GiB", "'device=x' has no number"},
               {"device=-1,hard:8GiB", "device=-1,hard:8GiB", "'device=-1'"},
               {"device=1x,hard:8GiB", "device=1x,hard:8GiB", "'device=1x'"},
               {"device=,hard:8GiB", "device=,hard:8GiB", "'device='"},
               {"kind=pinned,hard:8GiB", "kind=pinned,hard:8GiB", "'kind=pinned' names no kind"},
               {"tag=,hard:8GiB", "tag=,hard:8GiB", "'tag=' names no tag"},
               {"stream=1,hard:8GiB", "stream=1,hard:8GiB", "'stream=1' is neither device=, kind= nor tag="},
               {"device=1,device=2,hard:8GiB", "device=1,device=2,hard:8GiB", "'device' is given twice"},
               {"soft:1MiB;device=1", "device=1", "it has neither"},
               {"tag=a,hard:8GB", "tag=a,hard:8GB", "'8GB'"}};
  for (const auto& w : wrong)
    refused<fr::parse_error>([&] { fr::parse_memory_limits(w.text); },
                             {"'" + w.part + "' is no memory limit", w.why, "device=NUMBER", "kind=device|unified|host",
                              "tag=NAME", "soft:AMOUNT"});
  fr::simulation sim("devices=2;memory=64MiB");
  setenv("FERRY_MEMORY_LIMIT",
         "soft:60%,hard:50MiB;device=1,hard:100%;kind=unified,hard:2MiB;kind=host,hard:4MiB;tag=solver,hard:1MiB", 1);
  fr::detail::configure_memory(sim.get());
  unsetenv("FERRY_MEMORY_LIMIT");
  const fr::memory_usage use = fr::memory_use();
  const auto has = [&](std::size_t d, const std::string& limit) {
    const auto& limits = use.devices[d].limits;
    return std::find(limits.begin(), limits.end(), limit) != limits.end();
  };
  BOOST_TEST(has(0, "device and unified memory of device 0: soft 60% (38.400 MiB), hard 50.000 MiB"));
  BOOST_TEST(has(1, "device and unified memory of device 1: hard 100% (64.000 MiB)"));
  for (const std::size_t d : {0u, 1u})
    BOOST_TEST(has(d, "unified memory of device " + std::to_string(d) + ": hard 2.000 MiB"));
  const auto fits = device_bytes(52 * MiB, 1);
  refused<fr::out_of_memory>([] { device_bytes(52 * MiB, 0); }, {"50.000 MiB"});
  const fr::unified_array<char> u({2 * MiB}, fr::device(0));
  refused<fr::out_of_memory>([] { fr::unified_array<char> v({1}, fr::device(0)); }, {"unified memory of device 0"});
  const fr::host_array<char> h({2 * MiB}, fr::device(0)), h1({2 * MiB}, fr::device(1));
  refused<fr::out_of_memory>([] { fr::host_array<char> v({1}, fr::device(1)); }, {"4.000 MiB", "host memory"});
  const fr::memory_tag_scope solver{"solver"};
  refused<fr::out_of_memory>([] { device_bytes(MiB + 1); }, {"tag 'solver'"});
  setenv("FERRY_MEMORY_LIMIT", "device=2,hard:1MiB", 1);
  refused<fr::invalid_argument>([&] { fr::detail::configure_memory(sim.get()); }, {"FERRY_MEMORY_LIMIT", "device 2"});
  unsetenv("FERRY_MEMORY_LIMIT");
}

BOOST_AUTO_TEST_SUITE_END()
