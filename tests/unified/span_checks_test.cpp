// Tracked spans: results of host_span() and host(), alive when conflicting work is submitted.
#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <optional>
#include <ranges>
#include <span>

#include <boost/test/unit_test.hpp>

#include <ferry/unified.hpp>

#include "support/failures.hpp"

namespace fr = ferry;
using support::failure_of;

namespace span_checks {
namespace {

static_assert(std::ranges::borrowed_range<fr::host_elements<int>> && std::ranges::view<fr::host_elements<int>>);
static_assert(std::ranges::contiguous_range<fr::host_elements<const int>>);
static_assert(std::is_convertible_v<fr::host_elements<int>, std::span<const int>>);
static_assert(std::is_same_v<fr::host_elements<int>::iterator, std::span<int>::iterator>);

template <class T>
T sum_of(std::span<T> s) {
  return std::accumulate(s.begin(), s.end(), T{});
}

class variable {
 public:
  variable(const char* name, const char* value) : name_(name) {
    if (const char* before = std::getenv(name)) before_ = before;
    ::setenv(name, value, 1);
  }
  ~variable() { before_ ? ::setenv(name_, before_->c_str(), 1) : ::unsetenv(name_); }
  variable(const variable&) = delete;
  variable& operator=(const variable&) = delete;

 private:
  const char* name_;
  std::optional<std::string> before_;
};
struct spans_variable : variable {
  explicit spans_variable(const char* value) : variable("FERRY_CHECK_SPANS", value) {}
};

void write(fr::unified_array<int>& u) {
  fr::submit(
      fr::default_stream(fr::devices()[0]), [](fr::native_stream, int*) {}, fr::inout(u));
}
void read(const fr::unified_array<int>& u) {
  fr::submit(
      fr::default_stream(fr::devices()[0]), [](fr::native_stream, const int*) {}, fr::in(u));
}

std::string line(int at) { return "span_checks_test.cpp:" + std::to_string(at); }

}  // namespace
}  // namespace span_checks

BOOST_AUTO_TEST_SUITE(span_checks)

BOOST_AUTO_TEST_CASE(off_unless_asked_for) {
  const variable no_checks("FERRY_CHECK", "");
  spans_variable none("");
  fr::simulation sim("devices=1");
  fr::unified_array<int> u({100}, 1);
  const auto s = fr::host_span(u);
  const auto h = fr::host(u);
  BOOST_TEST(failure_of([&] { write(u); }).empty());
  BOOST_TEST((s.size() == 100U && h.extent(0) == 100U));
}

BOOST_AUTO_TEST_CASE(a_living_span_names_both_lines) {
  spans_variable on("on");
  fr::simulation sim("devices=2");
  fr::unified_array<int> u({100}, 1), v({100}, 1);
  u.name("pressure");
  int submitted = 0;
  const auto work = [&] {
    submitted = __LINE__ + 2;
    fr::submit(
        fr::default_stream(fr::devices()[1]), [](fr::native_stream, int*) {}, fr::inout(u));
  };
  {
    const int made = __LINE__ + 1;
    const auto s = fr::host_span(u);
    const std::string text = failure_of(work);
    BOOST_TEST(text.find("'pressure'") != std::string::npos, text);
    BOOST_TEST(text.find("writes it through a host_span made in " + line(made)) != std::string::npos, text);
    BOOST_TEST(text.find(line(submitted)) != std::string::npos, text);
    BOOST_TEST(!failure_of([&] { read(u); }).empty(), "the span writes");
    BOOST_TEST(failure_of([&] { write(v); }).empty(), "another array");
  }
  BOOST_TEST(failure_of(work).empty(), "its scope has ended");
  {
    const int made = __LINE__ + 1;
    auto h = fr::host(std::as_const(u));
    const std::string text = failure_of(work);
    BOOST_TEST(text.find("reads it through a host() made in " + line(made)) != std::string::npos, text);
    BOOST_TEST(failure_of([&] { read(u); }).empty(), "both only read");
    BOOST_TEST(h(3) == 1);
  }
  BOOST_TEST(failure_of(work).empty());
  {
    auto half = u.slice({0, 50});
    const auto s = fr::const_host_span(half);
    BOOST_TEST(!failure_of(work).empty());
    BOOST_TEST(failure_of([&] { fr::fill(u.slice({50, 100}), 2); }).empty(), "another part");
  }
  BOOST_TEST(failure_of(work).empty());
}

// The last copy ends the use. Parts assigned to the span, and a std::span made from it, are not tracked.
BOOST_AUTO_TEST_CASE(copies_and_conversions) {
  fr::simulation sim("devices=1");
  fr::check_spans(fr::span_checks::on);
  fr::unified_array<int> u({100}, 1);
  const auto is_refused = [&] { return !failure_of([&] { write(u); }).empty(); };
  {
    std::optional<fr::host_elements<int>> kept;
    {
      const auto s = fr::host_span(u);
      kept = s;
    }
    BOOST_TEST(is_refused());
    auto moved = std::move(*kept);
    kept.reset();
    BOOST_TEST(is_refused());
    moved = moved.first(10);
    BOOST_TEST((moved.size() == 10U && !is_refused()));
    moved = fr::host_span(u);
    BOOST_TEST((moved.size() == 100U && is_refused()));
  }
  BOOST_TEST(!is_refused());
  const std::span<int> plain = fr::host_span(u);
  BOOST_TEST((plain.size() == 100U && !is_refused()));
  BOOST_TEST(sum_of(fr::host_span(u)) == 100);
  std::ranges::fill(fr::host_span(u), 2);
  for (int& x : fr::host_span(u)) {
    if (&x == u.unsynchronized_data()) BOOST_TEST(is_refused(), "alive while the loop runs");
    ++x;
  }
  BOOST_TEST(!is_refused());
  BOOST_TEST(*std::ranges::max_element(fr::host_span(u)) == 3);
  const auto late = fr::host_span(u);
  fr::check_spans(fr::span_checks::off);
  BOOST_TEST(is_refused(), "made while spans were checked");
  const auto later = fr::host_span(u);
  BOOST_TEST(later.data() == late.data());
}

BOOST_AUTO_TEST_CASE(spans_of_arrays_that_are_gone) {
  fr::simulation sim("devices=1");
  fr::check_spans(fr::span_checks::on);
  {
    fr::unified_array<int> u({100}, 1);
    const auto s = fr::host_span(u);
    u.free();
    fr::unified_array<int> w({100}, 2);  // the same bytes, without a span
    BOOST_TEST(failure_of([&] { write(w); }).empty());
  }
  std::optional<fr::host_elements<int>> kept;
  {
    fr::unified_array<int> u({100}, 7);
    kept = fr::host_span(u);
  }
  BOOST_TEST(kept->front() == 7, "it keeps the bytes");
  kept.reset();
  BOOST_TEST(sim.get().allocations() == 0U);
  fr::unified_array<int> none({0});
  BOOST_TEST(fr::host_span(none).empty());
  fr::host_array<int> pinned({10}, 1);
  const auto s = fr::host_span(pinned);
  BOOST_TEST(failure_of([&] { fr::fill(pinned, 2); }).empty(), "pinned arrays are not followed");
}

// Pages move as they would without the check. A span that has become read-only is still tracked.
BOOST_AUTO_TEST_CASE(a_span_becomes_read_only) {
  fr::simulation sim("devices=2");
  fr::check_spans(fr::span_checks::on);
  fr::unified_array<int> u({64}, 1);
  {
    fr::host_elements<const int> kept;
    kept = fr::host_elements<const int>(fr::host_span(u));
    BOOST_TEST(kept[5] == 1);
    BOOST_CHECK_THROW(fr::fill(u, 2), fr::invalid_argument);
  }
  fr::fill(u, 2);
  BOOST_TEST(u[5] == 2);
}

BOOST_AUTO_TEST_CASE(spans_pin_no_pages) {
  for (const fr::span_checks how : {fr::span_checks::off, fr::span_checks::on}) {
    fr::simulation sim("devices=2;memory=64MiB");
    fr::check_spans(how);
    fr::unified_array<int> u({std::size_t{1} << 20}, 1);
    const auto s = fr::const_host_span(u);
    read(u);
    BOOST_TEST(fr::residency(u).on(fr::devices()[0]) == u.size_bytes());
    BOOST_TEST(s.front() == 1);
    const fr::device_array<char> most({std::size_t{62} << 20}, fr::devices()[0]);  // moves pages of u to the CPU
    BOOST_TEST(fr::residency(u).on_cpu == u.size_bytes() / 2);                     // as many pages as were missing
  }
}

BOOST_AUTO_TEST_CASE(all_checks_follow_spans_unless_their_own_variable_says_otherwise) {
  const auto is_followed = [](const char* options) {
    fr::simulation sim(options);
    fr::unified_array<int> u({100}, 1);
    const auto h = fr::host(u);
    return !failure_of([&] { write(u); }).empty();
  };
  {
    const variable no_checks("FERRY_CHECK", "");
    BOOST_TEST(is_followed("devices=1;check=on"));
    BOOST_TEST(!is_followed("devices=1;check=races"));
    BOOST_TEST(!is_followed("devices=1;check=off"));
  }
  const variable all("FERRY_CHECK", "on");
  BOOST_TEST(is_followed("devices=1"));
  BOOST_TEST(is_followed("devices=1;check=off"));
  const spans_variable off("off");
  BOOST_TEST(!is_followed("devices=1"));
}

BOOST_AUTO_TEST_CASE(what_the_environment_may_say) {
  spans_variable wrong("maybe");
  try {
    fr::simulation sim("devices=1");
    BOOST_ERROR("FERRY_CHECK_SPANS=maybe was accepted");
  } catch (const fr::parse_error& e) {
    const std::string text = e.what();
    BOOST_TEST(text.find("'maybe'") != std::string::npos, text);
    BOOST_TEST(text.find("allowed are off, on") != std::string::npos, text);
  }
}

BOOST_AUTO_TEST_SUITE_END()
