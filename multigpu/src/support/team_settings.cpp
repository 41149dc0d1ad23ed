#include "support/team_settings.hpp"

#include <string>

#include "ferry/core/detail/support/environment.hpp"
#include "ferry/core/detail/support/text_parts.hpp"

namespace ferry::inline FERRY_ABI::detail {

transport_choice transport_of_environment() {
  return environment_choice<transport_choice>("FERRY_TRANSPORT", {"auto", "mpi", "nccl"})
      .value_or(transport_choice::automatic);
}

collective_checks checks_of_environment() {
  return environment_choice<collective_checks>("FERRY_CHECK_COLLECTIVES", {"first", "off", "on"})
      .value_or(collective_checks::first);
}

halo_choice_said halos_of_environment() {
  return environment_choice<halo_choice_said>("FERRY_HALOS", {"automatic", "stores", "copies"})
      .value_or(halo_choice_said::automatic);
}

std::chrono::steady_clock::duration patience_of_environment() {
  using std::chrono::steady_clock;
  const auto text = environment("FERRY_COLLECTIVE_TIMEOUT");
  if (!text) return std::chrono::minutes(10);
  if (*text == "off") return {};
  constexpr double least = 0.001, most = 1e9;  // the clock ends at 9.2e9 s, and durations are added to points of time
  const std::optional<double> seconds = parse_number<double>(*text);
  if (!seconds || !(*seconds >= least && *seconds <= most))
    refuse_variable("FERRY_COLLECTIVE_TIMEOUT", *text, "seconds from 0.001 to 1e9, and off to wait for ever");
  return std::chrono::duration_cast<steady_clock::duration>(std::chrono::duration<double>(*seconds));
}

void check_team_settings() {
  (void)transport_of_environment();
  (void)checks_of_environment();
  (void)halos_of_environment();
  (void)patience_of_environment();
}

}  // namespace ferry::inline FERRY_ABI::detail
