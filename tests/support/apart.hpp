// Runs part of a test in a child process, so that a fatal signal fails the test instead of ending it.
#pragma once
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdio>
#include <functional>
#include <stdexcept>
#include <string>

#include <boost/test/unit_test.hpp>
#include <ferry/core.hpp>

namespace support {

struct ending {
  int signal = 0;        // signal that ended the child; 0: none
  int status = 0;        // exit status
  std::string told;      // the child's stderr, including the text of its exception
  bool refused = false;  // the child threw invalid_argument
  bool is_right() const { return signal == 0 && status == 0; }
};
inline std::ostream& operator<<(std::ostream& out, const ending& e) {
  return out << "signal " << e.signal << ", status " << e.status << ", " << e.told;
}

// Runs part() in a child process with its own simulated runtime, and blocks until the child ends. part() may call
// exit(). CUDA does not survive a fork: see devices_are_simulated.
inline ending run_apart(const std::function<void()>& part, const char* runtime = "devices=3") {
  std::array<int, 2> ends{};
  BOOST_REQUIRE(::pipe(ends.data()) == 0);
  const pid_t pid = ::fork();
  BOOST_REQUIRE(pid >= 0);
  if (pid == 0) {
    for (const int s : {SIGSEGV, SIGABRT, SIGBUS, SIGFPE, SIGILL}) ::signal(s, SIG_DFL);  // not Boost.Test's handlers
    ::alarm(60);
    ::dup2(ends[1], STDERR_FILENO);
    ::close(ends[0]);
    int status = 0;
    {
      const ferry::simulation apart(runtime);
      const auto tell = [](const char* text) {
        (void)!::write(STDERR_FILENO, text, std::char_traits<char>::length(text));
      };
      try {
        part();
      } catch (const ferry::invalid_argument& e) {
        tell(e.what());
        status = 40;
      } catch (const std::exception& e) {
        tell(e.what());
        status = 41;
      }
    }
    ::_exit(status);
  }
  ::close(ends[1]);
  ending e;
  std::array<char, 512> some;
  for (ssize_t n = 0; (n = ::read(ends[0], some.data(), some.size())) > 0;)
    e.told.append(some.data(), static_cast<std::size_t>(n));
  ::close(ends[0]);
  int status = 0;
  ::waitpid(pid, &status, 0);
  if (WIFSIGNALED(status)) e.signal = WTERMSIG(status);
  if (WIFEXITED(status)) e.status = WEXITSTATUS(status);
  e.refused = e.status == 40;
  return e;
}

// Replaces BOOST_TEST in a child process. Throws std::runtime_error if the condition is false.
inline void must_hold(bool condition, const char* what) {
  if (!condition) throw std::runtime_error(what);
}

// A static object of the child process: runs f after main, and after the destructors of thread_local objects.
template <class F>
struct at_the_end {
  F f;
  ~at_the_end() {
    try {
      f();
    } catch (const ferry::error& e) {
      std::fprintf(stderr, "%s\n", e.what());
    }
  }
};
template <class F>
at_the_end(F) -> at_the_end<F>;

inline boost::test_tools::assertion_result devices_are_simulated(boost::unit_test::test_unit_id) {
  boost::test_tools::assertion_result ok(ferry::runtime::current().is_simulated());
  ok.message() << "needs simulated devices: CUDA does not survive a fork";
  return ok;
}

}  // namespace support
