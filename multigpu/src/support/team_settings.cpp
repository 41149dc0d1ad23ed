#include "support/team_settings.hpp"

#include <charconv>
#include <cstdlib>
#include <string>

#include "ferry/core/error.hpp"
#include "support/choice.hpp"

namespace ferry {

transport_choice transport_of_environment() {
  return static_cast<transport_choice>(choice("FERRY_TRANSPORT", {"auto", "mpi", "nccl"}));
}

collective_checks checks_of_environment() {
  return static_cast<collective_checks>(choice("FERRY_CHECK_COLLECTIVES", {"first", "off", "on"}));
}

halo_choice_said halos_of_environment() {
  return static_cast<halo_choice_said>(choice("FERRY_HALOS", {"automatic", "stores", "copies"}));
}

std::chrono::steady_clock::duration patience_of_environment() {
  using std::chrono::steady_clock;
  const char* given = std::getenv("FERRY_COLLECTIVE_TIMEOUT");
  if (!given || !*given) return std::chrono::minutes(10);
  const std::string text = given;
  if (text == "off") return {};
  constexpr double least = 0.001, most = 1e9;  // the clock ends at 9.2e9 s, and durations are added to points of time
  double seconds = 0;
  const char* const last = text.data() + text.size();
  const auto [end, wrong] = std::from_chars(text.data(), last, seconds);  // independent of the locale
  if (wrong != std::errc{} || end != last || !(seconds >= least && seconds <= most))
    throw parse_error("FERRY_COLLECTIVE_TIMEOUT='" + text +
                      "' is not allowed; allowed are seconds from 0.001 to 1e9, and off to wait for ever");
  return std::chrono::duration_cast<steady_clock::duration>(std::chrono::duration<double>(seconds));
}

void detail::check_team_settings() {
  (void)transport_of_environment();
  (void)checks_of_environment();
  (void)halos_of_environment();
  (void)patience_of_environment();
}

}  // namespace ferry
