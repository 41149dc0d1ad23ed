// Array policies as text and files, and the arrays that they apply to, without kernels.
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <boost/test/unit_test.hpp>

#include <ferry/unified.hpp>

#include "support/failures.hpp"

namespace fr = ferry;
using support::failure_of;

namespace policy_files {
namespace {

const std::string head = "ferry policies 1\nprogram \"" + std::string(program_invocation_short_name) + "\"\n";

// A file that the destructor deletes.
struct file {
  std::string path = (std::filesystem::temp_directory_path() / ("policies" + std::to_string(getpid()))).string();
  explicit file(const std::string& text) { std::ofstream(path) << text; }
  ~file() { std::filesystem::remove(path); }
};

struct tuned {  // the environment variable
  explicit tuned(const std::string& path) { setenv("FERRY_TUNE", path.c_str(), 1); }
  ~tuned() { unsetenv("FERRY_TUNE"); }
};

struct identity {  // restores the executable's name
  identity(const char* name, const char* version) { fr::name_program(name, version); }
  ~identity() { fr::name_program(""); }
};

void expect_refused(const std::string& text, const std::string& begin, const std::string& part) {
  const std::string what = failure_of<fr::parse_error>([&] { (void)fr::array_policies::parse(text, "f"); });
  BOOST_TEST(what.starts_with("ferry: " + begin), what);
  BOOST_TEST(what.find(part) != std::string::npos, what);
}

}  // namespace
}  // namespace policy_files

BOOST_AUTO_TEST_SUITE(policy_files)

BOOST_AUTO_TEST_CASE(policies_as_text) {
  for (const char* text :
       {"automatic", "prefetch", "explicit read_mostly", "automatic preferred=device:1 accessed_by=cpu,device:0",
        "automatic preferred=cpu", "explicit preferred=numa:1", "prefetch page=64KiB piece=3MiB",
        "automatic smallest_to_device=0 smallest_to_cpu=1000 flips=5 remote_reads=0"})
    BOOST_TEST(fr::array_policy::parse(text).text() == text);
  const fr::array_policy p = fr::array_policy::parse("  preferred=cpu   prefetch ");
  BOOST_TEST((p.moves == fr::array_policy::way::ahead && p.preferred && p.preferred->is_host()));
  for (const char* text : {"", " ", "fast", "page", "page=", "page=0", "page=-1", "page=5%", "preferred=gpu", "flips=x",
                           "preferred=device:", "preferred=device:-1", "accessed_by=", "accessed_by=cpu,", "flips=1x"})
    BOOST_TEST(failure_of<fr::parse_error>([&] {
                 (void)fr::array_policy::parse(text);
               }).find("allowed are automatic") != std::string::npos,
               text);
  const fr::migration_options o = fr::array_policy::parse("prefetch page=1MiB flips=7").over({});
  BOOST_TEST((o.smallest_to_device == 0 && o.smallest_to_cpu == 0 && o.page == 1 << 20 && o.flips == 7));
  BOOST_TEST(o.piece == fr::migration_options{}.piece);
}

BOOST_AUTO_TEST_CASE(there_and_back) {
  fr::array_policies p;
  p.program = "relax \"it\"";
  p.version = "2.1\\b";
  p.notes = {"10 ms a step"};
  p.of["field of \"u\""] = fr::array_policy::parse("prefetch page=512KiB");
  p.of["edge"] = fr::array_policy::parse("explicit accessed_by=device:0");
  const fr::array_policies q = fr::array_policies::parse(p.text());
  BOOST_TEST((q.program == p.program && q.version == p.version && q.notes == p.notes && q.of == p.of), p.text());
  const file f("what was there before");
  p.save(f.path);
  BOOST_TEST(fr::array_policies::load(f.path).text() == p.text());
  BOOST_CHECK_THROW(p.save("/no/such/folder/file"), fr::invalid_argument);
  BOOST_TEST(fr::array_policies::load(f.path).text() == p.text());
  p.of["two\nlines"] = {};
  BOOST_CHECK_THROW(p.save(f.path), fr::invalid_argument);
  BOOST_TEST(fr::array_policies::load(f.path).of.size() == 2U, "a save that fails leaves the file as it was");
  // Lines may have other systems' line ends, and may be blank.
  const fr::array_policies r =
      fr::array_policies::parse("ferry policies 1\r\n\r\n  program \"a\"\r\n\tarray \"u\" prefetch\r\n");
  BOOST_TEST((r.program == "a" && r.of.count("u") == 1U));
}

BOOST_AUTO_TEST_CASE(malformed_files_say_where) {
  expect_refused("", "f:1:1: ", "first line must be");
  expect_refused("ferry policies 2\n", "f:1:1: ", "another version");
  expect_refused("ferry policies 1\n", "f:1:1: ", "program is not named");
  expect_refused("ferry policies 1\nprogram relax\n", "f:2:9: ", "in quotes");
  expect_refused("ferry policies 1\nprogram \"relax\n", "f:2:9: ", "do not end");
  expect_refused("ferry policies 1\nprogram \"relax\\", "f:2:9: ", "do not end");
  expect_refused("ferry policies 1\nprogram \"a\" \"1\" 2\n", "f:2:17: ", "nothing is expected");
  expect_refused("ferry policies 1\nprogram \"a\"\nprogram \"a\"\n", "f:3:1: ", "twice");
  expect_refused("ferry policies 1\narray \"u\" prefetch\n", "f:2:1: ", "must be named before");
  expect_refused(head + "arrays \"u\" prefetch\n", "f:3:1: ", "'arrays'");
  expect_refused(head + "\n# note\n array \"u\" prefetch quickly\n", "f:5:21: ", "'quickly' is no policy");
  expect_refused(head + "array \"u\" prefetch page=2MB\n", "f:3:20: ", "'page=2MB'");
  expect_refused(head + "array \"u\"\n", "f:3:10: ", "has no policy");
  expect_refused(head + "array \"\" prefetch\n", "f:3:7: ", "without a name");
  expect_refused(head + "array \"u\" prefetch\narray \"u\" explicit\n", "f:4:7: ", "already");
  BOOST_TEST(failure_of<fr::parse_error>([] { (void)fr::array_policies::load("/no/such"); }).find("'/no/such'") !=
             std::string::npos);
  BOOST_CHECK_THROW((void)fr::array_policies::load("/"), fr::parse_error);
}

BOOST_AUTO_TEST_CASE(arrays_get_theirs_by_name) {
  const file f(head + "array \"u\" explicit read_mostly\narray \"v\" prefetch\narray \"nobody\" prefetch\n");
  const tuned env(f.path);
  const fr::simulation sim("devices=2");
  fr::unified_array<float> u({1000}), v({1000}, 1.f), w({1000});  // v is used before it is named
  u.name("u"), w.name("w");
  BOOST_TEST(!policy_of(v));
  v.name("v");
  u[0] = w[0] = 1;
  BOOST_TEST((policy_of(u) && policy_of(v) && !policy_of(w)));
  BOOST_TEST(policy_of(u)->text() == "explicit read_mostly");
  BOOST_TEST(policy_of(v)->text() == "prefetch");
  BOOST_TEST(fr::explain(u).find("policy: explicit read_mostly, by the array's name") != std::string::npos,
             fr::explain(u));
  BOOST_TEST((fr::unmet_policies() == std::vector<std::string>{"nobody"}));
  // A policy set by the program takes precedence, until it is cleared.
  fr::set_policy(u, {});
  BOOST_TEST(policy_of(u)->text() == "automatic");
  fr::clear_policy(u);
  BOOST_TEST(policy_of(u)->text() == "explicit read_mostly");
  // Replaces the policies, also for arrays in use.
  fr::array_policies p = fr::array_policies::load(f.path);
  p.of = {{"w", fr::array_policy::parse("prefetch")}};
  fr::use_policies(p);
  BOOST_TEST((!policy_of(u) && !policy_of(v) && policy_of(w)));
  BOOST_TEST(fr::unmet_policies().empty());
  // An array that reuses another one's bytes starts without a policy.
  w = {};
  fr::unified_array<float> x({1000});
  BOOST_TEST(!policy_of(x));
}

BOOST_AUTO_TEST_CASE(what_the_program_sets_goes_before) {
  const fr::simulation sim("devices=1");
  fr::unified_array<float> u({std::size_t{2} << 20}, 1.f);
  fr::set_policy(u, fr::array_policy::parse("prefetch"));
  fr::set_migration(u, fr::migration::explicitly);
  fr::prefetch(u, fr::devices()[0]);
  for (float& x : u) x = 2;
  BOOST_TEST(fr::residency(u).on_cpu == u.size_bytes());  // by faults, according to the page map
  const auto r = fr::report_migration();
  BOOST_REQUIRE(r.entries.size() == 1U);
  BOOST_TEST((r.entries[0].to_cpu.by_prefetch == 0 && r.entries[0].to_cpu.by_fault == u.size_bytes()));
}

// Each new name applies from the next use on.
BOOST_AUTO_TEST_CASE(arrays_that_are_renamed) {
  const fr::simulation sim("devices=2");
  fr::array_policies p;
  p.program = program_invocation_short_name;
  p.of["u"] = fr::array_policy::parse("prefetch");
  p.of["v"] = fr::array_policy::parse("explicit");
  fr::use_policies(p);
  fr::unified_array<float> a({1000}, 1.f);
  const auto named = [&](const char* name) {
    a.name(name);
    a[0] = 1;
    const auto its = policy_of(a);
    return its ? its->text() : "none";
  };
  for (int i = 0; i < 2; ++i) {
    BOOST_TEST(named("other") == "none");
    BOOST_TEST(named("u") == "prefetch");
    BOOST_TEST(named("v") == "explicit");
    BOOST_TEST(named("") == "none");
  }
  BOOST_TEST(fr::unmet_policies().empty());
}

// Through every interface, with a remedy in each text.
BOOST_AUTO_TEST_CASE(settings_that_are_refused) {
  const fr::simulation sim("devices=2");
  fr::unified_array<float> u({1000}, 1.f);
  u.name("u");
  const auto refused = [&](auto set, const std::string& expected) {
    const auto says_it = [&](const std::string& what) {
      BOOST_TEST((support::has(what, expected) && support::has(what, "migration_options{}.")), what);
    };
    fr::migration_options o;
    set(o);
    says_it(failure_of<fr::invalid_argument>([&] { fr::set_migration(o); }));
    fr::array_policies p;
    p.program = program_invocation_short_name;
    set(p.of["u"]);
    says_it(failure_of<fr::invalid_argument>([&] { fr::set_policy(u, p.of["u"]); }));
    says_it(failure_of<fr::invalid_argument>([&] { fr::use_policies(p); }));
    BOOST_TEST(!policy_of(u));
  };
  refused([](auto& o) { o.page = 0; }, "a page of 0 bytes");
  refused([](auto& o) { o.piece = 0; }, "a piece of 0 bytes");
  refused([](auto& o) { o.flips = -1; }, "flips is -1");
  refused([](auto& o) { o.remote_reads = -2; }, "remote_reads is -2");
  fr::migration_options o;
  o.page_neighbours = -1;
  BOOST_CHECK_THROW(fr::set_migration(o), fr::invalid_argument);
  for (float& x : u) x = 2;
}

BOOST_AUTO_TEST_CASE(nodes_that_are_not_there) {
  const fr::simulation sim("devices=2");
  fr::unified_array<float> u({1000}, 1.f);
  u.name("u");
  const std::string expected = "there is no NUMA node 9 of the CPU";
  const auto refused = [&](auto call) {
    const std::string what = failure_of<fr::invalid_argument>(call);
    BOOST_TEST(support::has(what, expected), what);
  };
  for (const char* text : {"automatic preferred=numa:9", "automatic accessed_by=cpu,numa:9"}) {
    fr::array_policies p;
    p.program = program_invocation_short_name;
    p.of["u"] = fr::array_policy::parse(text);
    refused([&] { fr::use_policies(p); });
    refused([&] { fr::set_policy(u, p.of["u"]); });
    BOOST_TEST(!policy_of(u));
  }
  refused([&] { fr::prefetch(u, fr::numa_node(9)); });
  refused([&] { fr::advise(u, fr::advice::preferred_location, fr::numa_node(9)); });
  fr::prefetch(u, fr::numa_node(0));
  fr::set_policy(u, fr::array_policy::parse("automatic preferred=numa:0"));
  BOOST_TEST(policy_of(u).has_value());
}

BOOST_AUTO_TEST_CASE(files_of_others_are_refused) {
  const auto machine_with = [](const std::string& text) {
    const file f(text);
    const tuned env(f.path);
    const fr::simulation sim("devices=2");
  };
  std::string what =
      failure_of<fr::invalid_argument>([&] { machine_with("ferry policies 1\nprogram \"other\" \"3\"\n"); });
  BOOST_TEST(what.find("ferry: FERRY_TUNE=") == 0U, what);
  BOOST_TEST(
      what.find("'other' version '3', and this is '" + std::string(program_invocation_short_name)) != std::string::npos,
      what);
  what = failure_of<fr::invalid_argument>([&] { machine_with(head + "array \"u\" explicit accessed_by=device:5\n"); });
  BOOST_TEST((what.find("array 'u'") != std::string::npos && what.find("no device 5") != std::string::npos), what);
  what = failure_of<fr::parse_error>([&] { machine_with(head + "array \"u\"\n"); });
  BOOST_TEST(what.find(":3:10: ") != std::string::npos, what);
  {
    const tuned env("/no/such/file");
    BOOST_CHECK_THROW(const fr::simulation sim, fr::parse_error);
  }
  const identity me("relax", "2");
  machine_with("ferry policies 1\nprogram \"relax\" \"2\"\n");
  what = failure_of<fr::invalid_argument>([&] { machine_with("ferry policies 1\nprogram \"relax\" \"1\"\n"); });
  BOOST_TEST(what.find("version '1'") != std::string::npos, what);
  // A refusal changes nothing.
  const fr::simulation sim("devices=2");
  fr::unified_array<float> u({10}, 1.f);
  u.name("u");
  fr::array_policies p;
  p.program = "relax", p.version = "2";
  p.of["u"] = fr::array_policy::parse("prefetch");
  fr::use_policies(p);
  p.of["u"] = fr::array_policy::parse("explicit preferred=device:2");
  BOOST_CHECK_THROW(fr::use_policies(p), fr::invalid_argument);
  BOOST_TEST(policy_of(u)->text() == "prefetch");
  BOOST_CHECK_THROW(fr::set_policy(u, fr::array_policy::parse("automatic accessed_by=device:9")), fr::invalid_argument);
  BOOST_TEST(policy_of(u)->text() == "prefetch");
}

BOOST_AUTO_TEST_SUITE_END()
