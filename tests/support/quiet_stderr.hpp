// Captures what a test writes to stderr.
#pragma once
#include <unistd.h>

#include <boost/test/unit_test.hpp>
#include <cstdio>
#include <optional>
#include <stdexcept>
#include <string>

#include <ferry/core.hpp>

namespace support {

// Captures what is written to stderr within a scope.
class quiet_stderr {
 public:
  quiet_stderr() : file_(std::tmpfile()), before_(dup(2)) {
    if (!file_) throw std::runtime_error("no temporary file for what is said");
    std::fflush(stderr);
    dup2(fileno(file_), 2);
  }
  ~quiet_stderr() {
    std::fflush(stderr);
    dup2(before_, 2);
    close(before_);
    std::fclose(file_);
  }
  quiet_stderr(const quiet_stderr&) = delete;
  quiet_stderr& operator=(const quiet_stderr&) = delete;
  std::string text() const {
    std::fflush(stderr);
    std::rewind(file_);
    std::string all;
    for (int c = std::fgetc(file_); c != EOF; c = std::fgetc(file_)) all += static_cast<char>(c);
    return all;
  }

 private:
  std::FILE* file_;
  int before_;
};

// A simulated runtime whose device fails. Its destructor reports that failure on stderr; any other output fails the
// test.
class machine_that_breaks {
 public:
  explicit machine_that_breaks(const std::string& options) { sim_.emplace(options); }
  ~machine_that_breaks() {
    sim_.reset();
    const std::string text = said_.text(), expected = "ferry: at the end of a simulated machine: ";
    BOOST_TEST((text.starts_with(expected) && text.find('\n') + 1 == text.size()), "said at its end: '" << text << "'");
  }

 private:
  quiet_stderr said_;
  std::optional<ferry::simulation> sim_;
};

}  // namespace support
