// Runtimes, the choice of a backend, and streams and arrays of another runtime.
#include <cstdlib>
#include <string>
#include <thread>

#include <boost/test/unit_test.hpp>

#include <ferry/core/array.hpp>
#include <ferry/core/runtime.hpp>

#include "assembly/backend_choice.hpp"
#include "ferry/core/detail/ordering/timelines.hpp"
#include "ferry/core/detail/pools/memory_pool.hpp"
#include "support/failures.hpp"
#include "support/quiet_stderr.hpp"

namespace fr = ferry;
using support::failure_of;

namespace machines {
namespace {

// Sets an environment variable for a scope.
class variable {
 public:
  variable(const char* name, const char* value) : name_(name) {
    if (const char* now = std::getenv(name)) before_ = now, was_set_ = true;
    setenv(name, value, 1);
  }
  ~variable() {
    if (was_set_)
      setenv(name_, before_.c_str(), 1);
    else
      unsetenv(name_);
  }
  variable(const variable&) = delete;
  variable& operator=(const variable&) = delete;

 private:
  const char* name_;
  std::string before_;
  bool was_set_ = false;
};

bool says(const std::string& text, const std::string& part) { return text.find(part) != text.npos; }

}  // namespace
}  // namespace machines

BOOST_AUTO_TEST_SUITE(machines)

BOOST_AUTO_TEST_CASE(streams_and_arrays_of_another_machine_are_refused) {
  fr::simulation outer("devices=2");
  fr::stream s{fr::devices()[0]};
  fr::host_array<int> a({4}, 1);
  {
    fr::simulation inner("devices=2");
    fr::host_array<int> b({4}, 2);
    const std::string stream = failure_of<fr::invalid_argument>([&] { fr::fill(s, b, 3); });
    BOOST_TEST(says(stream, "stream belongs to another runtime"), stream);
    fr::stream t{fr::devices()[0]};
    const std::string array = failure_of<fr::invalid_argument>([&] { fr::fill(t, a, 3); });
    BOOST_TEST(says(array, "belongs to another runtime"), array);
    fr::fill(t, b, 5);
    BOOST_TEST(b[3] == 5);
  }
  fr::fill(s, a, 7);
  BOOST_TEST(a[0] == 7);
}

BOOST_AUTO_TEST_CASE(an_unknown_backend_is_an_error) {
  const variable v("FERRY_BACKEND", "cuba");
  const std::string text = failure_of<fr::parse_error>([] { fr::detail::choose_backend(); });
  BOOST_TEST(says(text, "'cuba'"), text);
  BOOST_TEST(says(text, "cuda, cpu and sim"), text);
}

BOOST_AUTO_TEST_CASE(the_cpu_is_a_backend) {
  const variable b("FERRY_BACKEND", "cpu"), v("FERRY_CPU", "devices=2;threads=2;memory=1GiB");
  const auto cpu = fr::detail::choose_backend();
  BOOST_TEST(cpu->name() == "cpu");
  BOOST_TEST(cpu->device_count() == 2);
  BOOST_TEST(cpu->properties(1).name == "CPU 1");
  BOOST_TEST(cpu->memory(1).total_bytes == std::size_t{1} << 30);
}

BOOST_AUTO_TEST_CASE(without_a_gpu_the_cpu_is_the_default,
                     *boost::unit_test::precondition([](boost::unit_test::test_unit_id) {
                       const variable none("FERRY_BACKEND", "");
                       return boost::test_tools::assertion_result(fr::detail::choose_backend()->name() != "cuda");
                     })) {
  const support::quiet_stderr quiet;
  const variable b("FERRY_BACKEND", "");
  {
    const variable v("FERRY_SIM", ""), c("FERRY_CPU", "threads=2");
    const auto cpu = fr::detail::choose_backend();
    BOOST_TEST((cpu->name() == "cpu" && cpu->device_count() == 1));
  }
  const variable v("FERRY_SIM", "devices=3");
  const auto simulated = fr::detail::choose_backend();
  BOOST_TEST((simulated->name() == "sim" && simulated->device_count() == 3));
}

BOOST_AUTO_TEST_CASE(a_configuration_that_does_not_parse_is_an_error) {
  const variable b("FERRY_BACKEND", "sim"), v("FERRY_SIM", "devices=two");
  const std::string text = failure_of<fr::parse_error>([] { fr::detail::choose_backend(); });
  BOOST_TEST(says(text, "two"), text);
}

// A thread's own streams return to the pool when it ends, and the next thread reuses them.
BOOST_AUTO_TEST_CASE(streams_of_threads_come_back) {
  fr::simulation sim("devices=1");
  fr::host_array<int> a({4}, 0);
  const std::size_t before = sim.get().streams().size();
  for (int i = 1; i <= 10; ++i) std::thread([&] { fr::fill(a, i); }).join();
  BOOST_TEST(sim.get().streams().size() <= before + 1);
  BOOST_TEST(a[2] == 10);
}

BOOST_AUTO_TEST_CASE(a_device_that_is_not_there_is_an_error) {
  fr::simulation sim("devices=2");
  const std::string text = failure_of<fr::invalid_argument>([] { fr::host_array<int> a({4}, fr::device(2)); });
  BOOST_TEST(says(text, "no device 2"), text);
  BOOST_TEST(says(text, "devices 0 to 1"), text);
}

// Completely free segments are released; the rest stays until it is freed.
BOOST_AUTO_TEST_CASE(pools_split_join_and_trim) {
  fr::simulation sim("devices=1;memory=64KiB", {64, 1024, 4096, fr::pool_kind::split});
  fr::detail::memory_pool& pool = sim.get().pool(fr::memory_kind::device, 0);
  {
    fr::device_array<char> a({100}), b({200}), c({5000});
    BOOST_TEST(pool.statistics().allocated_bytes == 128u + 256u + 5056u);
    BOOST_TEST(pool.statistics().segments == 2u);
    BOOST_TEST(pool.trim() == 0u);
    const auto* place = a.unsynchronized_data();
    a.free();
    fr::device_array<char> again({90});
    BOOST_TEST((again.unsynchronized_data() == place));
  }
  BOOST_TEST(pool.statistics().allocated_bytes == 0u);
  const std::size_t given_back = pool.trim();
  BOOST_TEST(given_back == 4096u + 5056u);
  BOOST_TEST(pool.statistics().reserved_bytes == 0u);
  BOOST_TEST(pool.statistics().blocks == 0u);
}

// The pool releases its cache before it throws. The error comes from the backend, and the program continues.
BOOST_AUTO_TEST_CASE(memory_that_is_full) {
  fr::simulation sim("devices=1;memory=64KiB", {64, 1024, 4096, fr::pool_kind::split});
  { fr::device_array<char> a({40000}); }
  fr::device_array<char> b({50000});
  BOOST_CHECK_THROW(fr::device_array<char>({20000}), fr::out_of_memory);
  b.free();
  fr::device_array<char> c({60000}, 'x');
  BOOST_TEST(fr::to_vector(c)[59999] == 'x');
}

BOOST_AUTO_TEST_SUITE_END()
