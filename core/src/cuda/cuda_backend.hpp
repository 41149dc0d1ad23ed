// The CUDA backend's interface to the rest of ferry. Including this file needs no CUDA header.
#pragma once
#include <memory>

#include <ferry/core/detail/backend/backend.hpp>

#include "ferry/version.hpp"

namespace ferry::inline FERRY_ABI::detail::cuda {

// The result of probe(). Only the last two select the simulator.
enum class presence { usable, no_driver, no_device };

// Queries the CUDA runtime. Initializes the driver (may take a second on the first call), but no device. Throws
// device_error if there is a driver that does not work: falling back silently would hide that.
presence probe();

// The same decision as a pure function of the results of cudaGetDeviceCount and cudaDriverGetVersion. `driver_version`
// as CUDA encodes it (13000 is 13.0), 0 if no driver is loaded.
presence judge(int cuda_error, int driver_version, int devices);

// Returns the backend for all visible devices. Throws device_error if probe() is not `usable`. Never destroy it:
// streams and events outlive their owners, and CUDA must not be called after main.
std::unique_ptr<detail::backend> make_backend();

// Compiles the kernel of a functor for simulated devices, which do not run it. Throws not_supported with the messages
// of NVRTC, and if there is no NVRTC.
void check_functor(const kernel_text& kernel);

}  // namespace ferry::inline FERRY_ABI::detail::cuda
