/// @file
/// Exceptions of ferry, by what a program can do about them.
#pragma once
#include <cstddef>
#include <cstring>
#include <exception>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>

#include "ferry/version.hpp"

namespace ferry::inline FERRY_ABI {

/// @addtogroup errors
/// @{

struct memory_shortage;

namespace detail {
const char* plain_what(const std::exception& e) noexcept;
}  // namespace detail

/// Base of every exception that ferry throws. The text says what failed, on which object, why, and what to do. what()
/// begins with "ferry: ", once.
class error : public std::runtime_error {
 public:
  /// Adds the prefix "ferry: " to texts that lack it.
  explicit error(const std::string& text) : std::runtime_error(std::string(prefix) + plain(text.c_str())) {}
  /// what() without the prefix, for quoting in another text.
  const char* text() const noexcept { return plain(what()); }

 private:
  static constexpr char prefix[] = "ferry: ";
  static const char* plain(const char* text) noexcept {
    return std::strncmp(text, prefix, sizeof prefix - 1) == 0 ? text + sizeof prefix - 1 : text;
  }
  friend const char* detail::plain_what(const std::exception& e) noexcept;
};

namespace detail {
// Text of any exception, without the prefix of ferry's exceptions.
inline const char* plain_what(const std::exception& e) noexcept { return error::plain(e.what()); }
// Throws invalid_argument for the use of a moved-from object. what: the object, such as "the stream".
[[noreturn]] void throw_moved_from(const char* what);
}  // namespace detail

/// The call is wrong as written: shapes, ranges, devices, streams. Nothing was submitted.
class invalid_argument : public error {
 public:
  using error::error;
};

/// A text (configuration, .npy) does not parse. The message quotes the text and lists what is allowed.
class parse_error : public error {
 public:
  using error::error;
};

/// The request is valid, but this computer, backend or build does not support it.
class not_supported : public error {
 public:
  using error::error;
};

/// A device cannot access the memory of another device.
class peer_access_error : public error {
 public:
  using error::error;
};

/// An array, or a view of it, was used after free() released its memory.
class use_after_free : public error {
 public:
  using error::error;
};

/// A wait can never finish, because the work that it waits for can never run (found by the simulator).
class deadlock : public error {
 public:
  using error::error;
};

/// An allocation of the requested kind failed.
class out_of_memory : public error {
 public:
  /// @param text message
  /// @param requested bytes of the failed allocation
  /// @param where where the memory went; may be null
  out_of_memory(const std::string& text, std::size_t requested, std::shared_ptr<const memory_shortage> where = {})
      : error(text),
        requested_(requested),
        where_(std::move(where)) {}
  /// Size of the failed allocation, in bytes.
  std::size_t requested() const noexcept { return requested_; }
  /// Where the memory went (memory_shortage.hpp); null if a single backend call failed.
  const memory_shortage* shortage() const noexcept { return where_.get(); }

 private:
  std::size_t requested_;
  std::shared_ptr<const memory_shortage> where_;
};

/// A device or its driver failed.
///
/// A sticky error is permanent: every later call on that device throws it. All work of the device counts as complete,
/// so nothing waits for it. Data that the device wrote, and that was not known to be complete, is lost. So are results
/// that other devices may have computed from that data. Each use of lost bytes, by the CPU or a device, throws this
/// error again until the array is destroyed. Other devices continue to work.
class device_error : public error {
 public:
  /// sticky: every later call on the device fails. passing: later calls may succeed.
  enum class severity { sticky, passing };
  explicit device_error(const std::string& text, severity how_bad = severity::sticky)
      : error(text),
        severity_(how_bad) {}
  /// True if every later call on the device fails.
  bool is_sticky() const noexcept { return severity_ == severity::sticky; }

 private:
  severity severity_;
};

/// A function that the program passed to host_task threw when its turn on the stream came.
///
/// The next call that waits for work of the runtime throws it, once. The stream continued: later work used what the
/// function had written until then.
class host_task_error : public error {
 public:
  /// @param text message, with the text of the function's exception
  /// @param cause exception that the function threw
  host_task_error(const std::string& text, std::exception_ptr cause) : error(text), cause_(std::move(cause)) {}
  /// The exception that the function threw.
  std::exception_ptr cause() const noexcept { return cause_; }

 private:
  std::exception_ptr cause_;
};

/// @}

}  // namespace ferry::inline FERRY_ABI
