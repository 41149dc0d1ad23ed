// Environment variables about teams and collectives. A value that does not parse throws parse_error.
#pragma once
#include <chrono>
#include <cstdint>

#include "ferry/version.hpp"

namespace ferry::inline FERRY_ABI::detail {

enum class transport_choice : std::uint8_t { automatic, mpi, nccl };       // FERRY_TRANSPORT
enum class collective_checks : std::uint8_t { first, off, on };            // FERRY_CHECK_COLLECTIVES
enum class halo_choice_said : std::uint8_t { automatic, stores, copies };  // FERRY_HALOS

transport_choice transport_of_environment();
collective_checks checks_of_environment();
halo_choice_said halos_of_environment();
// FERRY_COLLECTIVE_TIMEOUT; zero: without limit.
std::chrono::steady_clock::duration patience_of_environment();

void check_team_settings();

}  // namespace ferry::inline FERRY_ABI::detail
