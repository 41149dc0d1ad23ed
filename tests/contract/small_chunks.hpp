// Copies in many small chunks, and other settings for a scope.
#pragma once
#include <cstdlib>
#include <string>

#include <ferry/core.hpp>

namespace contract {

// For a scope: rings of few, small chunks, helper threads even for the smallest copies, and sharing of every link.
class small_chunks {
 public:
  small_chunks() : before_(ferry::current_copy_options()) {
    ferry::copy_options o = before_;
    o.chunk_bytes = o.small_chunk_bytes = 1000;
    o.chunks = 3;
    o.parallel_from_bytes = 64;
    o.parallel_chunk_bytes = 700;
    o.parallel_chunks = 5;
    o.threads = 2;
    o.scratch_bytes = 600;
    o.multipath_from_bytes = 500;
    o.multipath_chunk_bytes = 900;
    ferry::set_copy_options(o);
  }
  ~small_chunks() { ferry::set_copy_options(before_); }
  small_chunks(const small_chunks&) = delete;
  small_chunks& operator=(const small_chunks&) = delete;

 private:
  ferry::copy_options before_;
};

// Sets an environment variable for a scope.
class variable {
 public:
  variable(const char* name, const char* value) : name_(name) {
    const char* now = std::getenv(name);
    if (now) before_ = now;
    setenv(name, value, 1);
  }
  ~variable() {
    if (before_.empty())
      unsetenv(name_);
    else
      setenv(name_, before_.c_str(), 1);
  }
  variable(const variable&) = delete;
  variable& operator=(const variable&) = delete;

 private:
  const char* name_;
  std::string before_;
};

}  // namespace contract
