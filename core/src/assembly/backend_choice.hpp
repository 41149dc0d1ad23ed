// Chooses the backend of a process, by FERRY_BACKEND and the available devices.
#pragma once
#include <memory>
#include <string_view>

#include "ferry/core/detail/backend/backend.hpp"

namespace ferry::inline FERRY_ABI::detail {

// FERRY_BACKEND=cuda|cpu|sim. Unset: CUDA if there is a device, else the CPU, or the simulator if FERRY_SIM is set; one
// line on stderr reports it. Throws parse_error for another value, not_supported for cuda in a build without it,
// device_error for a broken driver.
std::unique_ptr<backend> choose_backend();

// The CPU as devices, with the options of FERRY_CPU. Throws parse_error.
std::unique_ptr<backend> make_cpu(std::string_view options);

// Simulated devices with the options of FERRY_SIM. Throws parse_error, and not_supported for nvrtc=on without CUDA.
std::unique_ptr<backend> make_simulator(std::string_view options);

}  // namespace ferry::inline FERRY_ABI::detail
