// Settings of run-time compilation: FERRY_JIT, FERRY_JIT_CACHE, FERRY_JIT_CACHE_SIZE, FERRY_JIT_LOG.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>

#include "ferry/version.hpp"

namespace ferry::inline FERRY_ABI::detail::jit {

enum class mode : std::uint8_t {
  off,  // nothing is compiled
  on,   // a background thread compiles; until it is done, precompiled kernels do the work
  sync  // the first use of a kernel blocks until it is compiled
};

struct jit_settings {
  mode how = mode::on;
  std::string cache = {};  // folder; empty: no cache on disk
  std::size_t cache_bytes = std::size_t{256} << 20;
  std::string log = {};  // file; empty: no log

  // Throws parse_error.
  static jit_settings from_environment();
};

}  // namespace ferry::inline FERRY_ABI::detail::jit
