// A progress bar: one line of a terminal that is overwritten.
#pragma once
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <iostream>
#include <string>
#include <utility>

namespace tools {

class progress_bar {
 public:
  // stderr if it is a terminal, else null.
  static std::ostream* terminal() { return isatty(STDERR_FILENO) == 1 ? &std::cerr : nullptr; }
  // to: the output; null for none.
  explicit progress_bar(std::string what, std::ostream* to = terminal()) : what_(std::move(what)), to_(to) {}
  // Erases the line.
  ~progress_bar() { write({}); }
  progress_bar(const progress_bar&) = delete;
  progress_bar& operator=(const progress_bar&) = delete;

  // Shows how many of all steps are done, and a text behind that. Erases the line after the last step.
  void show(std::size_t done, std::size_t steps, const std::string& more = {}) {
    const std::size_t at = std::min(done, steps), of = std::max<std::size_t>(steps, 1), full = bar * at / of;
    write(done >= steps ? std::string()
                        : what_ + " [" + std::string(full, '#') + std::string(bar - full, '.') + "] " +
                              std::to_string(100 * at / of) + " %" + more);
  }

 private:
  static constexpr std::size_t bar = 24, line = 100;
  void write(const std::string& text) {
    if (!to_ || text == shown_) return;
    *to_ << "\r\033[K" << text.substr(0, line) << std::flush;
    shown_ = text;
  }
  const std::string what_;
  std::ostream* const to_;
  std::string shown_;
};

}  // namespace tools
