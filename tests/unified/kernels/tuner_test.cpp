// The tuner: the winning policies under a known cost model, refused uses, and that no policy is left behind.
#include <sstream>

#include "../../../tools/progress_bar.hpp"
#include "ferry/core/detail/runtime/peer.hpp"
#include "support/json_fault.hpp"
#include "support/priced_backend.hpp"
#include "unified/kernels/driver_pages.hpp"

namespace fr = ferry;
using namespace shared;

namespace tuning {
namespace {

constexpr std::size_t n = 4 * page / sizeof(float);

// One call of a functor is for so many elements: simulated kernels without optimization then take less time.
constexpr std::size_t each = 64;
struct copy_of {
  FERRY_HOST_DEVICE void operator()(std::size_t i, float* to, const float* from) const {
    for (std::size_t k = each * i; k < each * (i + 1); ++k) to[k] = from[k];
  }
};
struct add_to_each {
  std::size_t size;
  FERRY_HOST_DEVICE void operator()(std::size_t i, float* x) const {
    for (std::size_t k = each * i; k < size && k < each * (i + 1); ++k) x[k] += 1;
  }
};

void add(fr::device d, auto&& v) {
  fr::parallel_for(fr::default_stream(d), (v.size() + each - 1) / each, add_to_each{v.size()}, fr::inout(v));
}

// A simulated runtime with computed costs, and options of a tuner that reads its time from them.
struct priced {
  explicit priced(const std::string& options = "devices=2;memory=256MiB")
      : here(std::make_unique<support::priced_backend>(options)) {}
  support::priced_backend& backend() { return dynamic_cast<support::priced_backend&>(here.get().backend()); }
  fr::tune_options asking() {
    fr::tune_options o;
    o.clock = [this] { return backend().milliseconds(); };
    o.repeats = 3;
    return o;
  }
  void on_cpu(fr::unified_array<float>& u) {
    for (float& x : u) x += 1;
    backend().cpu_writes(u.unsynchronized_data(), u.size_bytes());
  }
  fr::runtime_scope here;
};

fr::unified_array<float> made(const char* name, float value = 1, std::size_t count = n) {
  fr::unified_array<float> u({count}, dev(0));
  for (float& x : u) x = value;
  u.name(name);
  return u;
}

bool holds(const fr::unified_array<float>& u, float value) {
  return std::all_of(u.cbegin(), u.cend(), [&](float x) { return x == value; });
}

const fr::tune_trial* trial(const fr::tune_result& r, const std::string& array, const std::string& policy) {
  for (const fr::tune_trial& t : r.trials)
    if (t.array == array && t.policy.text() == policy) return &t;
  return nullptr;
}

std::string best(const fr::tune_result& r, const std::string& array) {
  const auto found = r.best.of.find(array);
  return found == r.best.of.end() ? "automatic" : found->second.text();
}

fr::tune_options few(std::initializer_list<const char*> policies) {
  fr::tune_options o;
  for (const char* p : policies) o.candidates.push_back(fr::array_policy::parse(p));
  o.warm_up = 1, o.repeats = 2;
  return o;
}

}  // namespace
}  // namespace tuning

BOOST_AUTO_TEST_SUITE(tuning)

BOOST_AUTO_TEST_CASE(an_array_that_two_devices_read) {
  priced p;
  auto u = made("u"), a = made("a"), b = made("b");
  const fr::tune_result r = fr::tuner(p.asking()).add(u).run([&] {
    fr::parallel_for(fr::default_stream(dev(0)), n / each, copy_of{}, fr::out(a), fr::in(u));
    fr::parallel_for(fr::default_stream(dev(1)), n / each, copy_of{}, fr::out(b), fr::in(u));
  });
  BOOST_TEST(best(r, "u") == "automatic read_mostly", r.table());
  if (fr::runtime::current().peers().policy().use)
    // One device accesses it remotely, each step.
    BOOST_TEST(r.automatic_milliseconds == 8 * support::priced_backend::remote);
  else  // each device takes it, each step
    BOOST_TEST(r.automatic_milliseconds == 16 * support::priced_backend::by_fault);
  BOOST_TEST(r.best_milliseconds == 0);
  BOOST_TEST(!policy_of(u));
}

BOOST_AUTO_TEST_CASE(an_array_that_is_used_in_small_pieces) {
  priced p;
  auto u = made("u");
  constexpr std::size_t piece = 8192;  // 32 KiB: automatic leaves such ranges to faults
  const fr::tune_result r = fr::tuner(p.asking()).add(u).run([&] {
    for (int round = 0; round < 2; ++round)
      for (std::size_t i = 0; i < n; i += piece) add(dev(0), u.slice({i, i + piece}));
    p.on_cpu(u);
  });
  BOOST_TEST(best(r, "u") == "prefetch", r.table());
  BOOST_TEST(r.best_milliseconds == 2 * 8 * support::priced_backend::by_prefetch);  // to the device and back
  BOOST_TEST(r.automatic_milliseconds > 2 * r.best_milliseconds);
}

BOOST_AUTO_TEST_CASE(an_array_of_the_cpu_of_which_a_device_uses_a_part) {
  priced p;
  auto u = made("u");
  const fr::tune_result r = fr::tuner(p.asking()).add(u).run([&] {
    for (std::size_t i = 0; i < n; i += page / sizeof(float)) add(dev(0), u.slice({i, i + 32768}));  // 128 of 2048 KiB
    p.on_cpu(u);
  });
  BOOST_TEST(best(r, "u") == "automatic accessed_by=device:0,device:1", r.table());
  BOOST_TEST(r.best_milliseconds == 4 * 0.125 * support::priced_backend::remote);
}

BOOST_AUTO_TEST_CASE(automatic_stays_where_nothing_is_better) {
  priced p;
  auto u = made("u");
  const fr::tune_result r = fr::tuner(p.asking()).add(u).run([&] { add(dev(0), u); });
  BOOST_TEST(r.best.of.empty(), r.table());
  BOOST_TEST(r.table().find("automatic is best for all arrays") != std::string::npos);
}

// Each array gets the policy that is best together with the others'.
BOOST_AUTO_TEST_CASE(several_arrays) {
  priced p;
  auto shared_one = made("shared"), pieces = made("pieces"), own = made("own"), a = made("a"), b = made("b");
  const auto step = [&] {
    fr::parallel_for(fr::default_stream(dev(0)), n / each, copy_of{}, fr::out(a), fr::in(shared_one));
    fr::parallel_for(fr::default_stream(dev(1)), n / each, copy_of{}, fr::out(b), fr::in(shared_one));
    for (int round = 0; round < 2; ++round)
      for (std::size_t i = 0; i < n; i += 32768) add(dev(0), pieces.slice({i, i + 32768}));
    p.on_cpu(pieces);
    add(dev(0), own);
  };
  fr::tuner t(p.asking());
  const fr::tune_result r = t.add(shared_one).add(pieces).add(own).run(step);
  BOOST_TEST((best(r, "shared") == "automatic read_mostly" && best(r, "pieces") == "prefetch"), r.table());
  BOOST_TEST(best(r, "own") == "automatic");
  BOOST_TEST(r.best_milliseconds < r.automatic_milliseconds);
  BOOST_TEST((holds(shared_one, 1) && holds(pieces, 1) && holds(own, 1)));

  // Without a change to the step, the policies of the file result in the measured time.
  fr::use_policies(fr::array_policies::parse(r.best.text()));
  step(), step();
  const double start = p.backend().milliseconds();
  step();
  fr::default_stream(dev(0)).synchronize();
  BOOST_TEST(p.backend().milliseconds() - start == r.best_milliseconds);
  BOOST_TEST(fr::unmet_policies().empty());
}

// A gain must exceed the spread.
BOOST_AUTO_TEST_CASE(noise) {
  place here;
  auto u = made("u", 1, 1000);
  double now = 0, gain = 0;
  const double jitter[] = {-1, 0.5, 1, -0.5, 0};
  std::size_t k = 0;
  fr::tune_options o = few({"prefetch"});
  o.clock = [&] { return now; };
  o.repeats = 5, o.warm_up = 0;
  const auto step = [&] { now += (policy_of(u)->text() == "prefetch" ? 10 - gain : 10) + jitter[k++ % 5]; };
  fr::tuner t(o);
  t.add(u);
  gain = 0.9;
  fr::tune_result r = t.run(step);
  BOOST_TEST(best(r, "u") == "automatic", r.table());
  BOOST_REQUIRE(trial(r, "u", "prefetch"));
  BOOST_TEST(trial(r, "u", "prefetch")->median == 9.1, boost::test_tools::tolerance(1e-9));
  BOOST_TEST(trial(r, "u", "prefetch")->spread == 1.0, boost::test_tools::tolerance(1e-9));
  gain = 1.1;
  r = t.run(step);
  BOOST_TEST(best(r, "u") == "prefetch", r.table());
  BOOST_TEST((trial(r, "u", "prefetch")->chosen && r.best_milliseconds < r.automatic_milliseconds));
  // A result that is fast in its trial only does not count.
  int times = 0;
  r = t.run([&] {
    const bool lucky = policy_of(u)->text() == "prefetch" && times++ < 5;
    now += lucky ? 1 : 10;
  });
  BOOST_TEST(best(r, "u") == "automatic", r.table());
  BOOST_TEST(trial(r, "u", "prefetch")->rejected.find("did not hold") == 0U, r.table());
}

BOOST_AUTO_TEST_CASE(policies_that_change_results_are_rejected) {
  place here;
  auto u = made("u"), v = made("v");
  double now = 0;
  fr::tune_options o = few({"automatic read_mostly", "prefetch", "automatic preferred=device:99"});
  o.clock = [&] { return now; };
  const fr::tune_result r = fr::tuner(o).add(u).add(v).run([&] {
    add(dev(0), u);
    const std::string how = policy_of(u)->text();
    if (how == "automatic read_mostly") v[n - 1] += 1;  // the step itself depends on the policy
    now += how == "automatic read_mostly" ? 1 : how == "prefetch" ? 5 : 10;
  });
  const fr::tune_trial* t = trial(r, "u", "automatic read_mostly");
  BOOST_REQUIRE(t);
  BOOST_TEST(t->rejected.find("changes results: array 'v' differs in its bytes 8323072 to 8388608") == 0U, t->rejected);
  BOOST_TEST(r.table().find("rejected: changes results") != std::string::npos);
  BOOST_TEST(best(r, "u") == "prefetch", r.table());
  t = trial(r, "u", "automatic preferred=device:99");
  BOOST_REQUIRE(t);
  BOOST_TEST(t->rejected.find("no device 99") != std::string::npos, t->rejected);
  BOOST_TEST((holds(u, 1) && holds(v, 1)));
}

// If automatic itself changes results, `explicit` remains.
BOOST_AUTO_TEST_CASE(automatic_can_be_rejected) {
  place here;
  auto u = made("u");
  double now = 0;
  fr::tune_options o = few({"prefetch"});
  o.clock = [&] { return now; };
  const fr::tune_result r = fr::tuner(o).add(u).run([&] {
    const bool is_explicit = policy_of(u)->text() == "explicit";
    u[0] += is_explicit ? 1.f : 2.f;
    now += is_explicit ? 10 : 7;
  });
  BOOST_TEST(best(r, "u") == "explicit", r.table());
  BOOST_TEST((r.automatic_milliseconds == 7 && r.best_milliseconds == 10));
  BOOST_TEST(r.best.notes[0] == "a step took 10 ms; without policies it was rejected");
  BOOST_TEST(r.table().find("a step takes 10 ms with the policies chosen, automatic was rejected") !=
             std::string::npos);
  BOOST_TEST((r.trials[1].rejected.find("changes results") == 0U && u[0] == 1));
}

BOOST_AUTO_TEST_CASE(steps_that_cannot_be_repeated) {
  place here;
  auto u = made("u");
  float number = 0;
  fr::tune_options o = few({"prefetch"});
  const auto step = [&] { u[5] = ++number; };
  BOOST_CHECK_EXCEPTION(fr::tuner(o).add(u).run(step), fr::invalid_argument, [](const fr::error& e) {
    return std::string(e.what()).find("array 'u' differs in its bytes 0 to 65536") != std::string::npos;
  });
  BOOST_TEST((holds(u, 1) && !policy_of(u)));
  o.before = [&] { number = 0; };
  BOOST_CHECK_NO_THROW(fr::tuner(o).add(u).run(step));
  BOOST_TEST(holds(u, 1));
}

BOOST_AUTO_TEST_CASE(everything_is_put_back) {
  place here;
  const std::size_t last = fr::devices().size() - 1;
  for (const int throws_at : {0, 1, 2, 6, 11, 16}) {  // 0: never
    auto u = made("u"), v = made("v"), w = made("w");
    const float *at_v = v.unsynchronized_data(), *at_w = w.unsynchronized_data();
    add(dev(0), u);
    fr::set_policy(u, fr::array_policy::parse("prefetch flips=2"));
    fr::set_migration(v, fr::migration::explicitly);
    fr::advise(w, fr::advice::preferred_location, dev(last));
    fr::prefetch(w, dev(last));
    fr::default_stream(dev(last)).synchronize();
    const auto where = fr::residency(u);
    int steps = 0;
    const auto run = [&] {
      fr::tuner(few({"explicit", "automatic read_mostly", "automatic accessed_by=device:0"}))
          .add(u)
          .add(v)
          .add(w)
          .run([&] {
            add(dev(0), u);
            add(dev(0), w);
            if (++steps == throws_at) throw std::domain_error("the step's own");
            add(dev(last), v.slice({0, 1000}));
            std::swap(v, w);
          });
    };
    if (throws_at == 0)
      run();
    else
      BOOST_CHECK_THROW(run(), std::domain_error);
    BOOST_TEST(steps >= throws_at);
    BOOST_TEST((v.unsynchronized_data() == at_v && w.unsynchronized_data() == at_w && v.name() == "v"));
    BOOST_TEST(policy_of(u)->text() == "prefetch flips=2");
    BOOST_TEST((!policy_of(v) && !policy_of(w)));
    BOOST_TEST(fr::residency(u).on(dev(0)) == where.on(dev(0)));
    BOOST_TEST((is_at(u, dev(0)) && is_at(w, dev(last))));
    if (const auto known = driver_was_told(w)) BOOST_TEST((known->preferred == dev(last).index()));
    add(dev(0), w);  // its preferred location, possibly on another device, is unchanged
    fr::default_stream(dev(0)).synchronize();
    BOOST_TEST((is_at(w, dev(last)) && fr::residency(w).on(dev(last)) == w.size_bytes()));
    BOOST_TEST((holds(u, 2) && holds(v, 1) && holds(w, 2)));
  }
}

BOOST_AUTO_TEST_CASE(steps_that_replace_arrays) {
  place here;
  auto u = made("u"), v = made("v");
  const float* at = u.unsynchronized_data();
  const auto refused = [&](const char* what, auto step) {
    BOOST_CHECK_EXCEPTION(fr::tuner(few({"prefetch"})).add(u).add(v).run(step), fr::invalid_argument,
                          [&](const fr::error& e) { return std::string(e.what()).find(what) != std::string::npos; });
  };
  refused("replaced or resized array 'u'", [&] { u = fr::unified_array<float>({n}, 3.f, dev(0)); });
  BOOST_TEST((u.unsynchronized_data() == at && u.name() == "u" && holds(u, 1)));
  refused("replaced or resized array 'u'", [&] { u.resize({n / 2}); });
  BOOST_TEST((u.unsynchronized_data() == at && u.size() == n && holds(u, 1)));
  refused("freed array 'v'", [&] {
    u[0] = 7;
    v.free();
  });
  BOOST_TEST((holds(u, 1) && !policy_of(u)));
  BOOST_CHECK_THROW(fr::tuner(few({"prefetch"})).add(u).add(v), fr::use_after_free);
}

BOOST_AUTO_TEST_CASE(what_is_refused_at_once) {
  place here;
  auto u = made("u"), again = made("u");
  fr::unified_array<float> unnamed({10}, 1.f, dev(0)), empty;
  const auto nothing = [] {};
  BOOST_CHECK_THROW(fr::tuner().run(nothing), fr::invalid_argument);
  BOOST_CHECK_THROW(fr::tuner().add(unnamed), fr::invalid_argument);
  BOOST_CHECK_THROW(fr::tuner().add(empty), fr::invalid_argument);
  BOOST_CHECK_THROW(fr::tuner().add(u).add(again), fr::invalid_argument);
  BOOST_CHECK_THROW(fr::tuner().add(u).add(u), fr::invalid_argument);
  BOOST_CHECK_EXCEPTION(fr::tuner().add(u).candidates("v", {}), fr::invalid_argument, [](const fr::error& e) {
    return std::string(e.what()).find("no array 'v' to tune; there are u") != std::string::npos;
  });
  BOOST_CHECK_THROW(fr::tuner(fr::tune_options{.repeats = 0}), fr::invalid_argument);
  BOOST_CHECK_THROW(fr::tuner(fr::tune_options{.warm_up = -1}), fr::invalid_argument);
  fr::tuner of_u;
  of_u.add(u);
  fr::stream s{dev(0)};
  BOOST_CHECK_THROW(fr::capture(s, [&] { of_u.run(nothing); }), fr::invalid_argument);
}

BOOST_AUTO_TEST_CASE(memory_that_is_pinned_cannot_be_tuned, *boost::unit_test::precondition(on_simulated_devices)) {
  const fr::simulation pinned("devices=1;concurrent_managed=off");
  fr::unified_array<float> p({10}, 1.f);
  p.name("p");
  BOOST_CHECK_THROW(fr::tuner().add(p).run([] {}), fr::not_supported);
}

BOOST_AUTO_TEST_CASE(what_is_shown) {
  place here;
  auto u = made("a<b>&");
  std::ostringstream line;
  std::vector<fr::tune_progress> told;
  fr::tune_options o = few({"prefetch", "automatic read_mostly"});
  fr::tune_result r;
  {
    tools::progress_bar bar("tuning", &line);
    o.progress = [&](const fr::tune_progress& p) {
      told.push_back(p);
      bar.show(p.trial, p.trials, "  " + p.array + ": " + p.policy.text());
    };
    r = fr::tuner(o).add(u).run([&] { add(dev(0), u); });
  }
  BOOST_TEST(line.str().find("tuning [") != std::string::npos);
  BOOST_TEST(line.str().find("a<b>&: prefetch") != std::string::npos);
  BOOST_TEST(line.str().ends_with("\r\033[K"), "the line is erased");
  BOOST_REQUIRE(told.size() == r.trials.size() + 1);  // at the end the best policies are measured again
  for (std::size_t i = 0; i < told.size(); ++i) {
    BOOST_TEST((told[i].trial == i && told[i].trials == 5U));
    if (i < r.trials.size()) BOOST_TEST((told[i].array == r.trials[i].array && told[i].policy == r.trials[i].policy));
    BOOST_TEST((told[i].best_milliseconds > 0) == (i > 1));  // known after automatic
  }
  for (const char* part : {"(all arrays)", "a<b>&", "explicit", "automatic read_mostly", "ms a step"})
    BOOST_TEST(r.table().find(part) != std::string::npos, part);
  const std::string json = r.json();
  BOOST_TEST(support::json_reader::fault(json) == "");
  BOOST_TEST(json.find("\"array\":\"a\\u003cb>&\",\"policy\":\"prefetch\"") != std::string::npos, json);
  std::size_t rows = 0;
  for (std::size_t at = 0; (at = json.find("\"median\"", at)) != std::string::npos; ++at) ++rows;
  BOOST_TEST(rows == r.trials.size());
  BOOST_TEST(r.trials.size() == 4U);
}

// The tuner waits for pages that still arrive on the CPU, and restores the runtime's settings.
BOOST_AUTO_TEST_CASE(arrivals_beside_loops) {
  place here("devices=2;memory=256MiB");
  if (here.is_simulated()) {
    fr::migration_options o;
    o.beside_simulated_loops = true, o.piece = page;
    fr::set_migration(o);
  }
  auto u = made("u", 1, 3 * n);
  const fr::tune_result r = fr::tuner(few({"automatic piece=4MiB", "prefetch", "explicit"})).add(u).run([&] {
    add(dev(0), u);
    for (float& x : u) x += 1;
  });
  BOOST_TEST(holds(u, 1), r.table());
  for (const fr::tune_trial& t : r.trials) BOOST_TEST(t.rejected.find("changes") == std::string::npos, t.rejected);
}

BOOST_AUTO_TEST_SUITE_END()
