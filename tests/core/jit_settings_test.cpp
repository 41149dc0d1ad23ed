// Environment variables of run-time compilation.
#include <boost/test/unit_test.hpp>
#include <cstdlib>
#include <ferry/core/error.hpp>
#include <jit/jit_settings.hpp>
#include <string>

namespace jit_settings_cases {
namespace {

using ferry::detail::jit::jit_settings, ferry::detail::jit::mode;

jit_settings settings_with(const char* name, const char* value) {
  const char* const before = std::getenv(name);
  const std::string old = before ? before : "";
  ::setenv(name, value, 1);
  struct restore {
    const char* name;
    const std::string& old;
    ~restore() { old.empty() ? ::unsetenv(name) : ::setenv(name, old.c_str(), 1); }
  } const at_end{name, old};
  return jit_settings::from_environment();
}

}  // namespace
}  // namespace jit_settings_cases

using namespace jit_settings_cases;

BOOST_AUTO_TEST_SUITE(jit_settings_cases)

BOOST_AUTO_TEST_CASE(modes) {
  BOOST_TEST((settings_with("FERRY_JIT", "").how == mode::on));
  BOOST_TEST((settings_with("FERRY_JIT", "off").how == mode::off));
  BOOST_TEST((settings_with("FERRY_JIT", "on").how == mode::on));
  BOOST_TEST((settings_with("FERRY_JIT", "sync").how == mode::sync));
  BOOST_CHECK_THROW(settings_with("FERRY_JIT", "yes"), ferry::parse_error);
}

BOOST_AUTO_TEST_CASE(the_folder_and_its_size) {
  BOOST_TEST(settings_with("FERRY_JIT_CACHE", "off").cache == "");
  BOOST_TEST(settings_with("FERRY_JIT_CACHE", "/some/folder").cache == "/some/folder");
  BOOST_TEST(settings_with("XDG_CACHE_HOME", "/xdg").cache == "/xdg/ferry/kernels");
  BOOST_TEST(settings_with("FERRY_JIT_CACHE_SIZE", "1MiB").cache_bytes == std::size_t{1} << 20);
  BOOST_TEST(settings_with("FERRY_JIT_CACHE_SIZE", "").cache_bytes == std::size_t{256} << 20);
  BOOST_CHECK_THROW(settings_with("FERRY_JIT_CACHE_SIZE", "10%"), ferry::parse_error);
  BOOST_CHECK_THROW(settings_with("FERRY_JIT_CACHE_SIZE", "much"), ferry::parse_error);
  BOOST_TEST(settings_with("FERRY_JIT_LOG", "shapes.jsonl").log == "shapes.jsonl");
}

BOOST_AUTO_TEST_SUITE_END()
