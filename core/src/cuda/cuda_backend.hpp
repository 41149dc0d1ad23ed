// The CUDA backend, as the rest of ferry sees it: no CUDA header is needed to include this file.
#pragma once
#include <memory>

#include <ferry/core/detail/backend/backend.hpp>

namespace ferry::cuda {

// What this machine has to offer. Only the last two mean "choose the simulator".
enum class presence { usable, no_driver, no_device };

// Asks the CUDA runtime. Initialises the driver (may take a second on the first call), no device.
// Throws device_error when there is a driver that does not work: that is no reason to fall back in silence.
presence probe();

// The same decision as a pure function of what cudaGetDeviceCount and cudaDriverGetVersion answered.
// `driver_version` as CUDA counts (13000 is 13.0), 0 when no driver is loaded.
presence judge(int cuda_error, int driver_version, int devices);

// The backend over all visible devices. Throws device_error when probe() is not `usable`.
// Keep it to the end of the process: streams and events outlive every owner, and nothing may call CUDA after main.
std::unique_ptr<ferry::backend> make_backend();

}  // namespace ferry::cuda
