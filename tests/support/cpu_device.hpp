// The CPU as the device, for a scope.
#pragma once
#include <string>
#include <string_view>

#include <ferry/core/runtime.hpp>

#include "sim/sim_backend.hpp"

namespace support {

// Options are those of FERRY_CPU: "threads=2;check=off". There may be more threads than cores.
class cpu_device : public ferry::runtime_scope {
 public:
  explicit cpu_device(std::string_view options)
      : runtime_scope(ferry::detail::sim::make_backend(
            ferry::detail::sim::parse_cpu_options(std::string(options) + ";oversubscribe=on", std::size_t{1} << 30))) {}
};

}  // namespace support
