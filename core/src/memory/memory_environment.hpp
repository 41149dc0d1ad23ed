// Memory settings from environment variables, for the runtime that the process chooses.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "ferry/version.hpp"

namespace ferry::inline FERRY_ABI {
class runtime;
struct scoped_memory_limit;
enum class leak_mode : std::uint8_t;
}  // namespace ferry::inline FERRY_ABI

namespace ferry::inline FERRY_ABI::detail {

// As in leaks.hpp and memory_limits.hpp, for a runtime that is not current yet.
void set_memory_limits(runtime& m, const std::vector<scoped_memory_limit>& limits);
void report_leaks_at_exit(runtime& m, leak_mode mode);
void log_allocations_until_exit(runtime& m, const std::string& file);

// Applies FERRY_MEMORY_LIMIT, FERRY_OOM, FERRY_LEAKS, FERRY_MEMORY_LOG. Throws parse_error; invalid_argument for limits
// above a device's memory or for devices that do not exist.
void configure_memory(runtime& m);

}  // namespace ferry::inline FERRY_ABI::detail
