// as: host
// Invalid calls: each throws the right error, with a text that names the cause, and the program continues.
#include "contract/fixture.hpp"

#include <cstdlib>
#include <limits>
#include <optional>

#include "assembly/backend_choice.hpp"

using namespace contract;

namespace contract_of_errors {
namespace {

// Sets an environment variable for a scope.
class environment {
 public:
  environment(const char* name, const char* value) : name_(name) {
    if (const char* before = std::getenv(name)) before_ = before;
    value ? setenv(name, value, 1) : unsetenv(name);
  }
  ~environment() { before_ ? setenv(name_, before_->c_str(), 1) : unsetenv(name_); }
  environment(const environment&) = delete;
  environment& operator=(const environment&) = delete;

 private:
  const char* name_;
  std::optional<std::string> before_;
};

}  // namespace
}  // namespace contract_of_errors

BOOST_FIXTURE_TEST_SUITE(contract_of_errors, clean)

BOOST_AUTO_TEST_CASE_TEMPLATE(shapes_that_do_not_fit, K, kinds) {
  using matrix = fr::basic_array<int, 2, K::value>;
  const matrix a({3, 4}, 1);
  matrix b({4, 3}, 2), c({3, 4}, 3);
  std::vector<int> v(11, 5);
  check_error<fr::invalid_argument>([&] { fr::copy(a, b); }, {"3 x 4", "4 x 3", "must be equal"});
  check_error<fr::invalid_argument>([&] { fr::copy(a.slice({{0, 2}}), b.slice({{0, 0}})); }, {"2 x 4", "0 x 3"});
  check_error<fr::invalid_argument>([&] { fr::copy(v, c); }, {"11 elements", "3 x 4"});
  check_error<fr::invalid_argument>([&] { fr::copy(a, std::span<int>(v)); }, {"3 x 4", "11 elements"});
  check_error<fr::invalid_argument>(
      [&] {
        (void)matrix::from(std::span<const int>(v), {3, 4});
      },
      {"11 elements", "3 x 4"});
  check_error<fr::invalid_argument>([&] { (void)a.reshape(fr::extents<1>(11)); },
                                    {"3 x 4", " 11", "number of elements"});
  check_error<fr::invalid_argument>([&] { (void)a.transpose().reshape(fr::extents<1>(12)); },
                                    {"4 x 3", "strided", "clone()"});
  fr::copy(a, c);
  CHECK_EQUAL(fr::to_vector(b), std::vector<int>(12, 2));
  CHECK_EQUAL(fr::to_vector(c), std::vector<int>(12, 1));
  CHECK_EQUAL(v, std::vector<int>(11, 5));
}

BOOST_AUTO_TEST_CASE_TEMPLATE(slices_out_of_range, K, kinds) {
  fr::basic_array<int, 2, K::value> a({3, 4}, 1);
  const auto outside = {std::string_view("dimension 1"), std::string_view("3 x 4")};
  check_error<fr::invalid_argument>([&] { (void)a.slice({{0, 3}, {0, 5}}); }, {"[0, 5)", "dimension 1", "3 x 4"});
  check_error<fr::invalid_argument>([&] { (void)a.slice({{0, 3}, {3, 2}}); }, {"[3, 2)", "dimension 1", "3 x 4"});
  check_error<fr::invalid_argument>([&] { (void)a.slice({{0, 3}, {5}}); }, outside);
  check_error<fr::invalid_argument>([&] { (void)a.slice({{-1, 2}}); }, {"[-1, 2)", "dimension 0", "3 x 4"});
  check_error<fr::invalid_argument>(
      [&] {
        (void)a.slice({{0, std::size_t{0} - 1}});
      },
      {"[0, -1)", "dimension 0", "3 x 4"});
  check_error<fr::invalid_argument>(
      [&] {
        (void)a.slice({{2, 1}, {4, 3}});
      },
      {"[2, 1)", "ends before it begins", "3 x 4"});
  check_error<fr::invalid_argument>([&] { (void)a.slice({{0, 4}}); }, {"[0, 4)", "dimension 0"});
  check_error<fr::invalid_argument>([&] { (void)a.slice({{}, {0, 4, 0}}); }, {"step 0", "dimension 1"});
  check_error<fr::invalid_argument>([&] { (void)a.slice({{}, {}, {}}); }, {"3 parts", "rank 2"});
  check_error<fr::invalid_argument>([&] { (void)std::as_const(a).slice({2, 3}).slice({{0, 2}}); }, {"[0, 2)", "1 x 4"});
  BOOST_TEST(a.slice({{3, 3}, {4}}).empty());  // a start at the end is valid
}

BOOST_AUTO_TEST_CASE_TEMPLATE(sizes_that_no_machine_has, K, kinds) {
  constexpr memory_kind k = K::value;
  constexpr std::size_t huge = std::numeric_limits<std::size_t>::max();
  using bytes = fr::basic_array<char, 1, k>;
  using doubles = fr::basic_array<double, 2, k>;
  check_error<fr::invalid_argument>(
      [] {
        doubles a({std::size_t{1} << 40, std::size_t{1} << 40});
      },
      {"1099511627776 x 1099511627776", "too many"});
  check_error<fr::invalid_argument>(
      [] {
        doubles a({std::size_t{1} << 31, std::size_t{1} << 30});
      },
      {"2305843009213693952 elements of 8 bytes", "2^64"});
  check_error<fr::invalid_argument>([] { doubles a({3, -1}); }, {"negative", "-1"});
  check_error<fr::invalid_argument>([] { (void)fr::extents<3>(-5L, 1, 2); }, {"negative", "-5"});
  BOOST_TEST(doubles({huge, 0}).empty());
  for (const std::size_t n : {huge, huge - 511, huge - 512, huge / 2, std::size_t{1} << 50}) try {
      const bytes a({n});
      BOOST_ERROR(n << " bytes were given");
    } catch (const fr::out_of_memory& e) {
      BOOST_TEST(e.requested() >= n, e.what());
    }
  bytes small({100}, 'x');  // and the program continues
  check_error<fr::out_of_memory>([&] { small.resize({huge}); }, {""});
  CHECK_EQUAL(fr::to_vector(small), std::vector<char>(100, 'x'));
}

BOOST_AUTO_TEST_CASE(out_of_memory_names_the_amount_and_ends) {
  const fr::simulation small("devices=2;memory=64MiB");
  {
    const fr::device_array<char> most({48 << 20});
    check_error<fr::out_of_memory>([] { fr::device_array<char> more({32 << 20}); }, {"32", "MiB"});
    const fr::device_array<char> elsewhere({32 << 20}, fr::device(1));
  }
  const fr::device_array<char> again({32 << 20});
  BOOST_TEST(again.size() == std::size_t{32} << 20);
}

BOOST_AUTO_TEST_CASE(devices_that_are_not_there) {
  const int count = static_cast<int>(fr::devices().size());
  for (const int index : {count, 1000, -1}) {
    const fr::device d(index);
    const std::string name = "device " + std::to_string(index);
    const auto refused = [&](auto call) { check_error<fr::invalid_argument>(call, {std::to_string(index)}); };
    check_error<fr::invalid_argument>([&] { (void)d.properties(); },
                                      {"no " + name, "devices 0 to " + std::to_string(count - 1)});
    refused([&] { fr::device_array<int> a({5}, d); });
    refused([&] { fr::unified_array<int> a({5}, 1, d); });
    refused([&] { fr::host_array<int> a({0}, d); });
    refused([&] { fr::stream s{d}; });
    refused([&] { (void)fr::default_stream(d); });
    refused([&] { fr::device_scope scope(d); });
    refused([&] { (void)d.memory(); });
    refused([&] { (void)fr::device(0).can_reach(d); });
    refused([&] { (void)d.can_reach(fr::device(0)); });
    refused([&] { (void)fr::clone_on(d, fr::full<int, 1>({5}, 1)); });
    refused([&] { (void)fr::stream_ref::from_native(d, {}); });
  }
  BOOST_TEST((fr::default_device() == fr::device(0)));
}

BOOST_AUTO_TEST_CASE(known_contents_that_make_no_sense) {
  check_error<fr::invalid_argument>([] { (void)fr::arange<int>(0, 10, 0); }, {"arange", "step"});
  check_error<fr::invalid_argument>([] { (void)fr::arange<float>(0, 10, 0); }, {"arange", "step"});
  for (const double bad : {std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN()}) {
    check_error<fr::invalid_argument>([&] { (void)fr::arange<double>(0, bad); }, {"arange", "no finite number"});
    check_error<fr::invalid_argument>([&] { (void)fr::arange<double>(bad, -1, -1); }, {"arange", "no finite number"});
    check_error<fr::invalid_argument>([&] { (void)fr::arange<double>(0, 1, bad); }, {"arange", "no finite number"});
  }
  BOOST_CHECK_THROW((void)fr::arange<double>(0, 1e300), fr::error);
  BOOST_CHECK_THROW((void)fr::arange<std::int64_t>(0, std::numeric_limits<std::int64_t>::max()), fr::error);
  BOOST_CHECK_THROW((void)fr::linspace<double>(0, 1, std::numeric_limits<std::size_t>::max() / 4), fr::error);
}

BOOST_AUTO_TEST_CASE(numbers_of_copy_options) {
  const fr::copy_options before = fr::current_copy_options();
  for (const std::size_t much : {std::size_t{5000}, std::size_t{1} << 40, ~std::size_t{0}})
    for (std::size_t fr::copy_options::*const number :
         {&fr::copy_options::chunks, &fr::copy_options::parallel_chunks, &fr::copy_options::threads}) {
      fr::copy_options o = before;
      o.*number = much;
      check_error<fr::invalid_argument>([&] { fr::set_copy_options(o); },
                                        {"copy_options: ", std::to_string(much), "allowed are"});
    }
  for (const std::size_t bytes : {std::size_t{0}, (std::size_t{1} << 40) + 1}) {
    fr::copy_options o = before;
    o.chunk_bytes = bytes;
    check_error<fr::invalid_argument>([&] { fr::set_copy_options(o); }, {"chunk_bytes is", "1 to 1099511627776"});
  }
  fr::set_copy_options(before);
}

BOOST_AUTO_TEST_CASE(texts_of_the_environment) {
  {
    const environment backend("FERRY_BACKEND", "opencl");
    check_error<fr::parse_error>([] { (void)fr::detail::choose_backend(); }, {"FERRY_BACKEND='opencl'", "cuda", "sim"});
  }
  const environment backend("FERRY_BACKEND", "sim");
  const auto refused = [](const char* text, std::string_view part) {
    const environment options("FERRY_SIM", text);
    check_error<fr::parse_error>([] { (void)fr::detail::choose_backend(); }, {text, part, "allowed", "devices=1..64"});
  };
  refused("devices=none", "devices=none");
  refused("devices=0", "devices=0");
  refused("devices=4;memory=3TB", "memory=3TB");
  refused("peers=0-9", "0-9");
  refused("schedule=fair", "schedule=fair");
  refused("fail=alloc", "fail=alloc");
  refused("devices=2;colour=red", "colour=red");
  const environment options("FERRY_SIM", "devices=3;memory=5MiB;peers=1-2");
  const auto chosen = fr::detail::choose_backend();
  BOOST_TEST(chosen->device_count() == 3);
  BOOST_TEST(chosen->memory(2).total_bytes == std::size_t{5} << 20);
  BOOST_TEST((chosen->can_access_peer(1, 2) && !chosen->can_access_peer(0, 1)));
  check_error<fr::parse_error>([] { fr::simulation sim("devices=two"); }, {"devices=two", "allowed"});
}

BOOST_AUTO_TEST_CASE(faults_that_were_asked_for) {
  {
    const fr::simulation sim("devices=1;fail=alloc@2,alloc@3", {.kind = fr::pool_kind::split});
    const fr::device_array<int> a({10}, 1);
    check_error<fr::out_of_memory>([] { fr::unified_array<int> b({10}); }, {"fail="});  // the request and its retry
    const fr::unified_array<int> b({10}, 3);                                            // only that request fails
    CHECK_EQUAL(fr::to_vector(a), std::vector<int>(10, 1));
    BOOST_TEST(b[5] == 3);
  }
  const fr::simulation sim("devices=2;fail=copy@2");
  const auto a = counted<int, 1, memory_kind::device>(fr::extents<1>(10), fr::device(1));
  check_error<fr::device_error>([&] { fr::to_vector(a); }, {"device 1", "fail="});
  check_error<fr::device_error>([&] { fr::to_vector(a); }, {"device 1"});  // sticky
  const auto b = counted<int, 1, memory_kind::device>(fr::extents<1>(10), fr::device(0));
  CHECK_EQUAL(fr::to_vector(b), counting<int>(10));  // another device continues to work
}

BOOST_AUTO_TEST_CASE(every_error_is_an_error_of_ferry) {
  const auto is_error = []<class E>(const E& e) {
    return std::is_base_of_v<fr::error, E> && std::is_base_of_v<std::runtime_error, E> &&
           std::string(e.what()) == "ferry: text" && std::string(e.text()) == "text";
  };
  BOOST_TEST((is_error(fr::invalid_argument("text")) && is_error(fr::parse_error("text")) &&
              is_error(fr::deadlock("text")) && is_error(fr::not_supported("text")) &&
              is_error(fr::peer_access_error("text")) && is_error(fr::use_after_free("text")) &&
              is_error(fr::out_of_memory("text", 7)) && is_error(fr::device_error("text"))));
  BOOST_TEST(fr::out_of_memory("text", 7).requested() == 7u);
  BOOST_TEST(fr::error("ferry: text").what() == std::string("ferry: text"));  // the prefix occurs once
  BOOST_TEST(fr::detail::plain_what(std::runtime_error("text")) == std::string("text"));
}

BOOST_AUTO_TEST_CASE_TEMPLATE(copies_name_both_arrays_and_the_line, K, kinds) {
  using matrix = fr::basic_array<int, 2, K::value>;
  matrix a({3, 4}, 1), b({4, 3}, 2);
  const std::string kind = fr::kind_name(K::value), line = "errors_test.cpp:" + std::to_string(__LINE__ + 2);
  check_error<fr::invalid_argument>(
      [&] { fr::copy(a, b); },
      {"copy from the unnamed " + kind + " array of 3 x 4 ints to", "array of 4 x 3 ints", line});
  a.name("pressure");
  b.name("velocity");
  check_error<fr::invalid_argument>([&] { fr::copy(a, b); }, {"array 'pressure' of 3 x 4 ints", "'velocity' of 4 x 3"});
  check_error<fr::invalid_argument>(
      [&] {
        fr::copy_task(a, b.slice({{0, 2}}));
      },
      {"'pressure'", "'velocity' of 2 x 3"});
  std::vector<int> v(11);
  check_error<fr::invalid_argument>([&] { fr::copy(v, b); },
                                    {"from 11 elements to array 'velocity'", "errors_test.cpp:"});
  check_error<fr::invalid_argument>([&] { fr::copy(a, v); },
                                    {"array 'pressure'", "to 11 elements", "errors_test.cpp:"});
  check_error<fr::invalid_argument>([&] { (void)a.slice({{0, 4}}); }, {"[0, 4)", "array 'pressure' of 3 x 4 ints"});
  check_error<fr::invalid_argument>([&] { (void)a.transpose().reshape(fr::extents<1>(12)); },
                                    {"array 'pressure' of 4 x 3 ints", "view.clone()"});
  const fr::stream s;
  check_error<fr::invalid_argument>([&] { fr::capture(s, [&] { fr::copy(s, a, std::span<int>(v).first(0)); }); }, {""});
}

BOOST_AUTO_TEST_CASE_TEMPLATE(use_after_free_names_the_array_its_end_and_the_line, K, kinds) {
  using matrix = fr::basic_array<double, 2, K::value>;
  const std::string kind = fr::kind_name(K::value);
  matrix named({3, 4}, 1), unnamed({3, 4}, 1), target({3, 4}, 1);
  named.name("pressure");
  auto part = named.slice({{1, 2}});
  named.free();
  unnamed.free();
  const matrix others[]{matrix({3, 4}, 2), matrix({3, 4}, 3)};  // which may reuse the blocks
  const auto refused = [&](auto call, std::initializer_list<std::string_view> parts) {
    check_error<fr::use_after_free>(call, parts);
  };
  const std::string line = "used again in errors_test.cpp:" + std::to_string(__LINE__ + 1);
  refused([&] { fr::copy(named, target); }, {"array 'pressure' of 3 x 4 doubles was freed by free()", line});
  refused([&] { fr::copy(unnamed, target); }, {"the unnamed " + kind + " array of 3 x 4 doubles was freed by free()"});
  refused([&] { fr::fill(part, 0); }, {"array 'pressure' of 1 x 4 doubles", "errors_test.cpp:"});
  refused([&] { (void)part.clone(); }, {"array 'pressure' of 1 x 4 doubles", "errors_test.cpp:"});
  refused([&] { (void)fr::in(part); }, {"array 'pressure' of 1 x 4 doubles", "errors_test.cpp:"});
  refused([&] { (void)fr::to_vector(part); }, {"array 'pressure'", "errors_test.cpp:"});
  refused([&] { (void)part.name(); }, {"array 'pressure' was freed by free()"});  // where nothing else is recorded
  if constexpr (K::value != memory_kind::device) {
    refused([&] { part(0, 1) = 2; }, {"array 'pressure' of 1 x 4 doubles", "errors_test.cpp:"});
    refused([&] { (void)fr::host(part); }, {"array 'pressure' of 1 x 4 doubles", "errors_test.cpp:"});
  }
}

// More arrays are freed than ferry remembers: errors about the oldest contain less information, but nothing wrong.
BOOST_AUTO_TEST_CASE(use_after_free_long_ago) {
  fr::host_array<int> first({10}, 1);
  first.name("first");
  first.free();
  for (int i = 0; i < 2000; ++i) {
    fr::host_array<int> other({10});
    other.name("other");
    other.free();
  }
  try {
    (void)first[0];
    BOOST_ERROR("nothing was thrown");
  } catch (const fr::use_after_free& e) {
    BOOST_TEST(contains(e.what(), "host array of 10 ints was freed;"), e.what());
    BOOST_TEST(!contains(e.what(), "other"), e.what());
  }
}

BOOST_AUTO_TEST_CASE(indices_name_the_array_its_shape_and_the_line) {
  fr::unified_array<int, 2> u({3, 4}, 1);
  check_error<fr::invalid_argument>(
      [&] { u.at(1, 4) = 2; }, {"index 4 in dimension 1 of the unnamed unified array of 3 x 4 ints in errors_test.cpp:",
                                "outside its extent 4"});
  u.name("u");
  check_error<fr::invalid_argument>([&] { (void)std::as_const(u).at(3, 0); },
                                    {"array 'u' of 3 x 4 ints in errors_test.cpp:"});
}

BOOST_AUTO_TEST_CASE(arrays_of_another_machine_are_named) {
  fr::device_array<int> ours({10}, 1);
  ours.name("ours");
  const fr::simulation other("devices=1");
  const fr::stream s;
  check_error<fr::invalid_argument>([&] { fr::fill(s, ours, 1); },
                                    {"array 'ours' in errors_test.cpp:", "belongs to another runtime"});
}

// A device with a random schedule whose only work fails when the CPU waits for it.
struct failing_work {
  explicit failing_work(int seed) : sim("devices=2;schedule=random:" + std::to_string(seed)) {
    u.name("u");
    fr::submit(
        s,
        [](fr::native_stream n, int*) {
          fr::runtime::current().backend().run_on_host(n, [] { throw std::runtime_error("planted"); });
        },
        u);
  }
  const fr::simulation sim;
  fr::stream s{fr::device(1)};
  fr::unified_array<int> u{{10}, fr::device(1)};
};

BOOST_AUTO_TEST_CASE(a_failure_that_no_call_waited_for_reaches_the_program) {
  for (int seed = 1; seed < 5; ++seed) {
    const failing_work f(seed);
    BOOST_TEST(fr::device(1).failure() == "");
    check_error<fr::device_error>([] { fr::synchronize(); }, {"planted", "device 1"});
    check_error<fr::device_error>([] { fr::synchronize(); }, {"planted", "device 1"});  // sticky
    BOOST_TEST(contains(fr::device(1).failure(), "planted"));
    BOOST_TEST(!contains(fr::device(1).failure(), "ferry: "));
    BOOST_TEST(fr::device(0).failure() == "");
  }
  const fr::simulation sim("devices=2");
  fr::synchronize();
}

BOOST_AUTO_TEST_CASE(lost_contents_name_the_array_and_the_line) {
  const failing_work f(1);
  BOOST_CHECK_THROW(fr::synchronize(), fr::device_error);
  check_error<fr::device_error>(
      [&] { (void)std::as_const(f.u)[3]; },
      {"what array 'u' holds, used in errors_test.cpp:", "is lost: device 1 failed", "planted"});
  check_error<fr::device_error>(
      [&] {
        fr::host_array<int> h({10});
        fr::copy(f.u, h);
      },
      {"array 'u' holds", "errors_test.cpp:"});
}

BOOST_AUTO_TEST_SUITE_END()
