// The errors of ferry: one small hierarchy, sorted by what a program can do about them.
#pragma once
#include <cstddef>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <string>

namespace ferry {

struct memory_shortage;

// Base of every exception that ferry throws. The text says what failed, on what, why, and the way out. what() begins with
// "ferry: ", once.
class error : public std::runtime_error {
 public:
  // Texts need no prefix: it is added to those that lack it.
  explicit error(const std::string& text) : std::runtime_error(std::string(prefix) + plain(text.c_str())) {}
  // what() without the prefix, to be quoted in another text.
  const char* text() const noexcept { return plain(what()); }

 private:
  static constexpr char prefix[] = "ferry: ";
  static const char* plain(const char* text) noexcept {
    return std::strncmp(text, prefix, sizeof prefix - 1) == 0 ? text + sizeof prefix - 1 : text;
  }
  friend const char* plain_what(const std::exception& e) noexcept;
};

// The text of any exception, without the prefix where it is one of ferry.
inline const char* plain_what(const std::exception& e) noexcept { return error::plain(e.what()); }

// The call is wrong as written: shapes, ranges, devices, streams. Nothing was submitted.
class invalid_argument : public error {
 public:
  using error::error;
};

// Throws invalid_argument: `what`, as "the stream", holds nothing, and was used.
[[noreturn]] void throw_moved_from(const char* what);

// A text does not parse (configuration, .npy): it quotes the text and lists what is allowed.
class parse_error : public error {
 public:
  using error::error;
};

// The request is right, but this machine, backend or build cannot do it.
class not_supported : public error {
 public:
  using error::error;
};

// A device has no way to the memory of another.
class peer_access_error : public error {
 public:
  using error::error;
};

// The array gave its bytes back by free(); it or a view of it was used later.
class use_after_free : public error {
 public:
  using error::error;
};

// Somebody waits for work that can never run (found by the simulator).
class deadlock : public error {
 public:
  using error::error;
};

// No memory of the asked kind is left.
class out_of_memory : public error {
 public:
  out_of_memory(const std::string& text, std::size_t requested, std::shared_ptr<const memory_shortage> where = {})
      : error(text),
        requested_(requested),
        where_(std::move(where)) {}
  // Bytes that could not be had.
  std::size_t requested() const noexcept { return requested_; }
  // Where the memory went (memory_shortage.hpp); null where a single call of the backend failed.
  const memory_shortage* shortage() const noexcept { return where_.get(); }

 private:
  std::size_t requested_;
  std::shared_ptr<const memory_shortage> where_;
};

// A device or its driver failed. Sticky: that device answers every later call with it. All its work counts as complete, so
// nothing waits for it. What it wrote, and was not known to have finished, is lost, and so is what other devices may have
// computed from that: each use of those bytes, by the CPU or a device, throws this again until the array is gone. The other
// devices go on.
class device_error : public error {
 public:
  enum class severity { sticky, passing };
  explicit device_error(const std::string& text, severity how_bad = severity::sticky)
      : error(text),
        severity_(how_bad) {}
  bool is_sticky() const noexcept { return severity_ == severity::sticky; }

 private:
  severity severity_;
};

}  // namespace ferry
