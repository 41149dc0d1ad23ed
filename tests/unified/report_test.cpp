// The migration report: estimated losses by faults and their sources, column legends, suggestions with source lines.
#include <filesystem>
#include <fstream>
#include <regex>
#include <sstream>
#include <string>

#include <boost/test/unit_test.hpp>

#include <ferry/unified.hpp>

#include "counters/fault_costs.hpp"

namespace fr = ferry;
namespace tt = boost::test_tools;

namespace report {
namespace {

constexpr std::size_t n = std::size_t{1} << 20;  // 4 MiB of float

const fr::migration_entry& entry(const fr::migration_report& r, const std::string& array) {
  for (const fr::migration_entry& e : r.entries)
    if (e.array == array) return e;
  throw std::runtime_error("no entry of " + array + "\n" + r.table());
}
std::string suggestion(const std::string& array) { return entry(fr::report_migration(), array).suggestion; }
std::string at(int line) { return "report_test.cpp:" + std::to_string(line); }

constexpr int kernel_line = __LINE__ + 3;
void use_on(fr::stream_ref s, fr::unified_array<float>& u) {
  fr::submit(
      s, [](fr::native_stream, float*) {}, fr::inout(u));
}
void use_in_unknown_line(fr::stream_ref s, fr::unified_array<float>& u) {
  fr::submit(
      s, [](fr::native_stream, float*) {}, fr::inout(u, fr::source_line{}));
}
fr::stream_ref on(std::size_t device) { return fr::default_stream(fr::devices()[device]); }

#define CHECK_SUGGESTS(array, what, line)                                         \
  do {                                                                            \
    const std::string text = suggestion(array);                                   \
    BOOST_TEST(text.find(what) != text.npos, text);                               \
    BOOST_TEST(text.find(line) != text.npos, "no line " << line << ": " << text); \
  } while (false)

const std::filesystem::path page_of_figures = FERRY_UNIFIED_PAGE;

}  // namespace
}  // namespace report

BOOST_AUTO_TEST_SUITE(report)

// Single source: the table of docs/unified.md.
BOOST_AUTO_TEST_CASE(figures_are_those_of_the_documentation,
                     *boost::unit_test::precondition([](boost::unit_test::test_unit_id) {
                       tt::assertion_result there(std::filesystem::exists(page_of_figures));
                       there.message() << "needs " << page_of_figures;
                       return there;
                     })) {
  std::ifstream file(page_of_figures);
  std::stringstream text;
  text << file.rdbuf();
  const std::string page = text.str();
  const auto compare = [&](const std::string& row, fr::detail::fault_figures::pair figures) {
    const std::size_t begin = page.find("| " + row + " | ");
    BOOST_REQUIRE_MESSAGE(begin != page.npos, "no row '" + row + "'");
    std::istringstream numbers(page.substr(begin + row.size() + 5));
    double by_faults = 0, instead = 0;
    char slash = 0;
    numbers >> by_faults >> slash >> instead;
    BOOST_TEST((slash == '/' && by_faults == figures.by_faults && instead == figures.instead), row);
    BOOST_TEST(figures.per_byte() > 0);
  };
  BOOST_TEST(page.find("One H200, CUDA 13.0, 256 MiB") != page.npos);
  compare("kernel over pages of the CPU: by faults / after a prefetch", fr::detail::fault_figures::to_devices);
  compare("the same over pages of the GPU: by faults / after a prefetch", fr::detail::fault_figures::to_cpu);
  compare("peer reads by faults / mapped / resident", fr::detail::fault_figures::between_devices);
}

BOOST_AUTO_TEST_CASE(faults_each_way_are_lost_time) {
  fr::simulation sim("devices=2;peers=none");
  const fr::migration_scope by_hand(fr::migration::explicitly);
  fr::unified_array<float> u({n}, fr::devices()[0]);
  u.name("u");
  for (float& x : u) x = 1;
  use_on(on(0), u);
  const double size = static_cast<double>(u.size_bytes());
  double lost = size * (21.7 - 5.8) / (256 << 20);
  BOOST_TEST(entry(fr::report_migration(), "u").lost_milliseconds == lost, tt::tolerance(1e-9));
  use_on(on(1), u);
  lost += size * (19.8 - 0.75) / (256 << 20);
  BOOST_TEST(entry(fr::report_migration(), "u").between_devices.by_fault == u.size_bytes());
  BOOST_TEST(entry(fr::report_migration(), "u").lost_milliseconds == lost, tt::tolerance(1e-9));
  for (float& x : u) x = 1;
  lost += size * (55.2 - 52.6) / (256 << 20);
  BOOST_TEST(entry(fr::report_migration(), "u").lost_milliseconds == lost, tt::tolerance(1e-9));
}

BOOST_AUTO_TEST_CASE(prefetches_and_faults_between_devices_are_two_columns) {
  fr::migration_report r;
  fr::migration_entry& e = r.entries.emplace_back();
  e.array = "a", e.phase = "p";
  e.between_devices = {std::uint64_t{3} << 20, std::uint64_t{5} << 20};
  std::istringstream lines(r.table());
  std::string titles, row;
  std::getline(lines, titles), std::getline(lines, row);
  BOOST_TEST(std::regex_search(titles, std::regex("GPU to GPU +by faults +dropped")), titles);
  BOOST_TEST(std::regex_search(row, std::regex("0\\.0 +3\\.0 +5\\.0 +0\\.0")), row);
  const std::size_t column = titles.find("GPU to GPU") + std::string("GPU to GPU").size();
  BOOST_TEST(row.substr(column - 3, 3) == "3.0", "numbers end where their titles do: " << row);
}

BOOST_AUTO_TEST_CASE(what_bounces_names_the_device_s_line_or_the_cpu_s) {
  fr::simulation sim("devices=2");
  fr::unified_array<float> u({n}), v({n}), w({n});
  u.name("u"), v.name("v"), w.name("w");
  for (float& x : u) x = 1;
  const int cpu_line = __LINE__ + 1;
  for (float& x : v) x = 1;
  for (std::size_t i = 0; i < 8; ++i) {
    use_on(on(i % 2), u);
    use_in_unknown_line(on(i % 2), v);
    use_in_unknown_line(on(i % 2), w);
  }
  CHECK_SUGGESTS("u", "devices take it from each other", at(kernel_line));
  CHECK_SUGGESTS("v", "devices take it from each other", at(cpu_line));
  CHECK_SUGGESTS("w", "devices take it from each other", "");
  BOOST_TEST(suggestion("w").find(".cpp") == std::string::npos);
  BOOST_TEST(entry(fr::report_migration(), "u").device_use.text() == at(kernel_line));
  BOOST_TEST(fr::report_migration().json().find("\"device_use\": \"" + at(kernel_line) + "\"") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(what_moves_by_faults_names_the_device_s_line_or_the_cpu_s) {
  fr::simulation sim("devices=1");
  const fr::migration_scope by_hand(fr::migration::explicitly);
  fr::unified_array<float> u({n}), v({n});
  u.name("u"), v.name("v");
  for (float& x : u) x = 1;
  const int cpu_line = __LINE__ + 1;
  for (float& x : v) x = 1;
  use_on(on(0), u);
  use_in_unknown_line(on(0), v);
  CHECK_SUGGESTS("u", "moves by faults", at(kernel_line));
  CHECK_SUGGESTS("v", "moves by faults", at(cpu_line));
}

BOOST_AUTO_TEST_CASE(what_the_cpu_never_touches_names_the_device_s_line) {
  fr::simulation sim("devices=1");
  fr::unified_array<float> u({n});
  u.name("u");
  use_on(on(0), u);
  CHECK_SUGGESTS("u", "it could be a device_array", at(kernel_line));
}

BOOST_AUTO_TEST_CASE(what_the_cpu_does_names_its_line_or_the_device_s) {
  fr::simulation sim("devices=1");
  fr::unified_array<float> to_and_fro({n}), unknown({n}), elements({100});
  to_and_fro.name("to_and_fro"), unknown.name("unknown"), elements.name("elements");
  int loop = 0, element = 0;
  for (int i = 0; i < 5; ++i) {
    use_on(on(0), to_and_fro), use_on(on(0), unknown), use_on(on(0), elements);
    loop = __LINE__ + 1;
    for (float& x : to_and_fro) x = 1;
    (void)unknown.begin(fr::source_line{});
    element = __LINE__ + 1;
    elements[5] = 1;
  }
  CHECK_SUGGESTS("to_and_fro", "to the GPU and back", at(loop));
  CHECK_SUGGESTS("unknown", "to the GPU and back", at(kernel_line));
  CHECK_SUGGESTS("elements", "single elements", at(element));
  const fr::migration_scope by_hand(fr::migration::explicitly);
  fr::unified_array<float> read({n});
  read.name("read");
  use_on(on(0), read);
  const int line = __LINE__ + 1;
  for (const float x : std::as_const(read)) (void)x;
  CHECK_SUGGESTS("read", "the CPU reads it", at(line));
}

BOOST_AUTO_TEST_SUITE_END()
