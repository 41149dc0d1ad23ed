// Environment variables are checked when a runtime is created, in every program, whether or not it uses them.
#include <boost/test/unit_test.hpp>
#include <cstdlib>
#include <ferry/ferry.hpp>
#include <filesystem>
#include <fstream>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "support/team_settings.hpp"

namespace fr = ferry;

namespace settings {
namespace {

const std::filesystem::path page = FERRY_CONFIGURATION_PAGE;

// The variables in the documentation's section about the environment.
std::vector<std::string> documented_variables() {
  std::vector<std::string> names;
  std::ifstream in(page);
  bool here = false;
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with("## ")) here = line == "## Environment";
    if (here && line.starts_with("| `FERRY_")) names.push_back(line.substr(3, line.find('`', 3) - 3));
  }
  return names;
}

class variable {
 public:
  variable(const std::string& name, const std::string& value) : name_(name) {
    if (const char* before = std::getenv(name.c_str())) before_ = before;
    setenv(name.c_str(), value.c_str(), 1);
  }
  ~variable() { before_ ? setenv(name_.c_str(), before_->c_str(), 1) : unsetenv(name_.c_str()); }
  variable(const variable&) = delete;
  variable& operator=(const variable&) = delete;

 private:
  const std::string name_;
  std::optional<std::string> before_;
};

// The text of the parse_error of a new runtime; empty if it is created.
std::string refusal() {
  try {
    const fr::simulation sim("devices=1");
  } catch (const fr::parse_error& e) {
    return e.what();
  }
  return {};
}

}  // namespace
}  // namespace settings

BOOST_AUTO_TEST_SUITE(settings)

BOOST_AUTO_TEST_CASE(each_documented_variable_refuses_nonsense,
                     *boost::unit_test::precondition([](boost::unit_test::test_unit_id) {
                       boost::test_tools::assertion_result there(std::filesystem::exists(page));
                       there.message() << "needs " << page << ", the documentation of this build";
                       return there;
                     })) {
  // Any text is a valid name or file: there is no wrong form.
  const std::set<std::string> free_texts{"FERRY_CUPTI_LIBRARY", "FERRY_NCCL_LIBRARY", "FERRY_TOPOLOGY",
                                         "FERRY_HOST",          "FERRY_MEMORY_LOG",   "FERRY_JIT_CACHE",
                                         "FERRY_JIT_LOG",       "FERRY_NVRTC_LIBRARY"};
  const std::vector<std::string> all = documented_variables();
  BOOST_TEST(all.size() >= 25);
  for (const std::string& name : all) {
    const variable set(name, "nonsense");
    const std::string text = refusal();
    if (free_texts.contains(name)) {
      BOOST_TEST(text == "");
    } else {
      BOOST_TEST(text.starts_with("ferry: "), name << " is accepted");
      BOOST_TEST(text.find(name) != text.npos, name << " is not named in: " << text);
      BOOST_TEST(text.find("nonsense") != text.npos, name << ": the value is not quoted in: " << text);
    }
  }
  BOOST_TEST(refusal() == "");
}

BOOST_AUTO_TEST_CASE(nothing_is_as_good_as_not_set) {
  for (const std::string& name : documented_variables()) {
    const variable set(name, "");
    BOOST_TEST(refusal() == "");
  }
}

BOOST_AUTO_TEST_CASE(how_long_others_are_waited_for) {
  using namespace std::chrono_literals;
  const auto patience = [](const char* text) {
    const variable set("FERRY_COLLECTIVE_TIMEOUT", text);
    return fr::detail::patience_of_environment();
  };
  BOOST_TEST((patience("") == 600s && patience("off") == 0s && patience("2") == 2s && patience("0.25") == 250ms));
  BOOST_TEST((patience("1e9") == 1000000000s));
  for (const char* bad : {"1e10", "1e300", "inf", "nan", "0", "-1", "1e-9", "2 s", "ten", "1,5"}) {
    const variable set("FERRY_COLLECTIVE_TIMEOUT", bad);
    BOOST_CHECK_EXCEPTION(fr::detail::patience_of_environment(), fr::parse_error, [&](const fr::parse_error& e) {
      const std::string text = e.what();
      return text.find(std::string("FERRY_COLLECTIVE_TIMEOUT='") + bad + "'") != text.npos &&
             text.find("0.001 to 1e9, and off") != text.npos;
    });
    BOOST_TEST(refusal().find("FERRY_COLLECTIVE_TIMEOUT") != std::string::npos);
  }
}

// A wrong unit gets a list of the valid ones, wherever sizes are parsed.
BOOST_AUTO_TEST_CASE(units_of_sizes) {
  for (const auto& [name, value] : {std::pair<const char*, const char*>{"FERRY_MEMORY_LIMIT", "hard:1 Mib"},
                                    {"FERRY_SIM", "memory=1 Mib"},
                                    {"FERRY_CPU", "memory=1 Mib"},
                                    {"FERRY_POISON", "zone=1 Mib"},
                                    {"FERRY_POISON", "quarantine=1Mib"}}) {
    const variable set(name, value);
    const std::string text = refusal();
    BOOST_TEST(text.find("'Mib' is no unit, which is ") != text.npos, name << ": " << text);
    BOOST_TEST(text.find("KiB, MiB") != text.npos, name << ": " << text);
  }
  {
    const variable set("FERRY_POISON", "zone=512B");
    BOOST_TEST(refusal().find("'B' is no unit, which is KiB, MiB or GiB") != std::string::npos);
  }
  BOOST_CHECK_EXCEPTION(fr::array_policy::parse("automatic page=1Mib"), fr::parse_error, [](const fr::parse_error& e) {
    return std::string(e.what()).find("'Mib' is no unit") != std::string::npos;
  });
  BOOST_CHECK_EXCEPTION(fr::memory_size("1 MiB"), fr::parse_error, [](const fr::parse_error& e) {
    return std::string(e.what()).find("a space is not allowed in it") != std::string::npos;
  });
}

BOOST_AUTO_TEST_SUITE_END()
