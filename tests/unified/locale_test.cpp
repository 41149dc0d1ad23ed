// Reports of unified memory are the same under every locale of the program.
#include <boost/test/unit_test.hpp>
#include <ferry/unified.hpp>
#include <limits>
#include <regex>
#include <string>

#include "support/json_fault.hpp"
#include "support/other_locale.hpp"

namespace fr = ferry;

BOOST_AUTO_TEST_SUITE(locales_of_reports)

BOOST_AUTO_TEST_CASE(the_migration_report) {
  const fr::simulation sim("devices=2");
  const support::other_locale german;
  fr::set_migration_counters(fr::migration_counters::on);
  fr::reset_migration_report();
  fr::unified_array<float> u({std::size_t{1} << 21}, 1.0f);
  u.name("u \xff \xe2\x82");
  const fr::stream s;
  for (int i = 0; i < 3; ++i) {
    fr::submit(
        s, [](fr::native_stream, float*) {}, fr::inout(u));
    u[0] += 1;
  }
  const fr::migration_report r = fr::report_migration();
  BOOST_TEST(support::json_reader::fault(r.json()) == "");
  BOOST_TEST(r.json().find("\"bytes\": 8388608,") != std::string::npos, r.json());
  BOOST_TEST(std::regex_search(r.table(), std::regex(R"(\b8\.0\b)")), r.table());
  BOOST_TEST(r.table().find(',') == r.table().find(", "), r.table());
}

BOOST_AUTO_TEST_CASE(what_a_tuner_found) {
  const support::other_locale german;
  fr::tune_result r;
  r.trials.resize(2);
  r.trials[0].milliseconds = {1234.5}, r.trials[0].median = 1234.5, r.trials[0].spread = 0.25;
  r.trials[1].array = "u", r.trials[1].milliseconds = {0.125}, r.trials[1].median = 0.125;
  r.trials[1].policy = fr::array_policy::parse("prefetch"), r.trials[1].chosen = true;
  r.best.of["u"] = r.trials[1].policy;
  r.automatic_milliseconds = 1234.5, r.best_milliseconds = 0.125;
  const std::string json = r.json();
  BOOST_TEST(support::json_reader::fault(json) == "");
  for (const char* part :
       {"\"automatic_milliseconds\":1234.5", "\"best_milliseconds\":0.125", "\"best\":{\"u\":\"prefetch\"}",
        "\"milliseconds\":[1234.5]", "\"spread\":0.25", "\"chosen\":true"})
    BOOST_TEST(json.find(part) != std::string::npos, part << " is missing in " << json);
  r.trials[0].median = std::numeric_limits<double>::quiet_NaN();
  r.trials[0].spread = std::numeric_limits<double>::infinity();
  BOOST_TEST(support::json_reader::fault(r.json()) == "");
  BOOST_TEST(r.table().find(" 0.125 ") != std::string::npos, r.table());
}

BOOST_AUTO_TEST_SUITE_END()
