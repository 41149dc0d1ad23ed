// Faults that memory checks find at program exit, reported by a process that ends here.
#include <array>
#include <cstdlib>
#include <string>

#include <sys/wait.h>
#include <unistd.h>
#include <boost/test/unit_test.hpp>

#include <ferry/core.hpp>

namespace fr = ferry;

namespace core_memory_exit {
namespace {

boost::test_tools::assertion_result devices_are_simulated(boost::unit_test::test_unit_id) {
  boost::test_tools::assertion_result ok(fr::runtime::current().is_simulated());
  ok.message() << "needs simulated devices: CUDA does not survive a fork";
  return ok;
}

// Ends by exit(), with one live array and one in quarantine; both were written past their ends.
[[noreturn]] void program() {
  fr::set_memory_checks(fr::memory_checks());
  fr::stream s;
  const auto overrun = [&](fr::device_array<int>& a, std::size_t count) {
    const int value = 1;
    int* const p = fr::pointer(a, s);
    fr::runtime::current().backend().fill_strided(s.native(), {reinterpret_cast<std::byte*>(p + a.size()), {4}},
                                                  {4, 1, {count}}, &value);
  };
  static auto* lives_on = new fr::device_array<int>({100});
  lives_on->name("lives on");
  overrun(*lives_on, 1);
  {
    fr::device_array<int> gone({50});
    gone.name("gone");
    overrun(gone, 2);
  }
  std::exit(3);
}

}  // namespace
}  // namespace core_memory_exit

BOOST_AUTO_TEST_SUITE(core_memory_exit)

BOOST_AUTO_TEST_CASE(faults_are_told_when_the_program_ends, *boost::unit_test::precondition(devices_are_simulated)) {
  std::array<int, 2> ends{};
  BOOST_REQUIRE(::pipe(ends.data()) == 0);
  const pid_t pid = ::fork();
  BOOST_REQUIRE(pid >= 0);
  if (pid == 0) {
    ::dup2(ends[1], STDERR_FILENO);
    ::close(ends[0]);
    program();
  }
  ::close(ends[1]);
  std::string told;
  std::array<char, 512> some;
  for (ssize_t n = 0; (n = ::read(ends[0], some.data(), some.size())) > 0;)
    told.append(some.data(), static_cast<std::size_t>(n));
  ::close(ends[0]);
  int status = 0;
  ::waitpid(pid, &status, 0);
  BOOST_TEST((WIFEXITED(status) && WEXITSTATUS(status) == 3));
  for (const std::string part : {"'lives on'", "'gone'", "400 bytes at", "200 bytes at", "past its end", "4 bytes are",
                                 "8 bytes are", "the first at offset 400"})
    BOOST_TEST(told.find(part) != std::string::npos, "'" << part << "' is missing in: " << told);
}

BOOST_AUTO_TEST_SUITE_END()
