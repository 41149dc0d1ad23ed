// main() of every test executable. Exits with 77, which ctest counts as skipped, if the backend has fewer devices than
// $FERRY_TEST_DEVICES.
#include <cstdlib>
#include <exception>
#include <iostream>
#include <string>
#include <string_view>

#ifdef BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>
#else
#include <boost/test/included/unit_test.hpp>
#endif

#include <ferry/core/device.hpp>

namespace {

constexpr int skipped = 77;

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

// Why the tests cannot run here; empty if they can. Never skips on the simulator: each test configures its own devices.
std::string reason_to_skip() {
  if (environment("FERRY_BACKEND") != "cuda") return {};
  const std::string asked = environment("FERRY_TEST_DEVICES");
  const std::size_t needed = asked.empty() ? 1 : std::stoul(asked);
  std::string why;
  std::size_t found = 0;
  try {
    found = ferry::devices().size();
  } catch (const std::exception& e) {
    why = std::string(": ") + e.what();
  }
  if (found >= needed) return {};
  return std::to_string(needed) + " device(s) needed, " + std::to_string(found) + " found" + why;
}

void skip_if_impossible() {
  const std::string why = reason_to_skip();
  if (why.empty()) return;
  std::cout << "skipped: " << why << std::endl;
  std::exit(skipped);
}

}  // namespace

#ifdef BOOST_TEST_DYN_LINK
int main(int argc, char* argv[]) {
  skip_if_impossible();
  return boost::unit_test::unit_test_main([] { return true; }, argc, argv);
}
#else  // Boost's header defines main(), which calls this
boost::unit_test::test_suite* init_unit_test_suite(int, char*[]) {
  skip_if_impossible();
  return nullptr;
}
#endif
