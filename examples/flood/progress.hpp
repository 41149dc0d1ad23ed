#pragma once
#include <unistd.h>

#include <cstddef>
#include <cstdio>
#include <string>

// A progress bar on the terminal; prints nothing if stderr is not a terminal.
class progress_bar {
 public:
  progress_bar(std::string what, std::size_t steps, bool quiet)
      : what_(std::move(what)),
        steps_(steps),
        shown_(!quiet && isatty(STDERR_FILENO) == 1) {}
  void operator()(std::size_t done) {
    const std::size_t percent = 100 * done / steps_;
    if (!shown_ || percent == percent_) return;
    percent_ = percent;
    const std::size_t width = 40, filled = width * done / steps_;
    std::fprintf(stderr, "\r%s [%s%s] %3zu %%", what_.c_str(), std::string(filled, '#').c_str(),
                 std::string(width - filled, ' ').c_str(), percent);
    if (done == steps_) std::fputs("\r\033[K", stderr);
    std::fflush(stderr);
  }

 private:
  std::string what_;
  std::size_t steps_, percent_ = std::size_t(-1);
  bool shown_;
};
