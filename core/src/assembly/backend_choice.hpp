// Which backend a process uses, by FERRY_BACKEND and by what is there.
#pragma once
#include <memory>

#include "ferry/core/detail/backend/backend.hpp"

namespace ferry {

// FERRY_BACKEND=cuda|sim. Unset: CUDA where a device is there, else the simulator, said in one line on stderr. Throws
// parse_error for another value, not_supported for cuda in a build without it, device_error for a broken driver.
std::unique_ptr<backend> choose_backend();

}  // namespace ferry
