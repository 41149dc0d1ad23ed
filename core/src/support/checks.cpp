#include "ferry/core/checks.hpp"

#include "ferry/core/detail/support/environment.hpp"

namespace ferry::inline FERRY_ABI {

using namespace detail;

namespace {

std::atomic<bool>& debug_build() {
  static std::atomic<bool> is{false};
  return is;
}

}  // namespace

check_level detail::check_level_of_environment() {
  const auto on = environment_switch("FERRY_CHECK");
  if (!on) return check_level::usual;
  return *on ? check_level::all : check_level::none;
}

bool detail::note_debug_build() {
  debug_build().store(true, std::memory_order_relaxed);
  return true;
}
bool detail::is_debug_build() { return debug_build().load(std::memory_order_relaxed); }
bool detail::is_device_code_checked() { return is_debug_build() || check_level_of_environment() == check_level::all; }

}  // namespace ferry::inline FERRY_ABI
