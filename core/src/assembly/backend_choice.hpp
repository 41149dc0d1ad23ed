// Chooses the backend of a process, by FERRY_BACKEND and the available devices.
#pragma once
#include <memory>

#include "ferry/core/detail/backend/backend.hpp"

namespace ferry::inline FERRY_ABI::detail {

// FERRY_BACKEND=cuda|sim. Unset: CUDA if there is a device, else the simulator, which is reported in one line on
// stderr. Throws parse_error for another value, not_supported for cuda in a build without it, device_error for a broken
// driver.
std::unique_ptr<backend> choose_backend();

}  // namespace ferry::inline FERRY_ABI::detail
