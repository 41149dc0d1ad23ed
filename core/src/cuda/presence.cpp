// Detects CUDA support. No driver and no device are valid results; a driver that does not work is an error.
#include <string>

#include <ferry/core/detail/support/concat.hpp>
#include <ferry/core/error.hpp>

#include "cuda_backend.hpp"
#include "errors.hpp"

namespace ferry::inline FERRY_ABI::detail::cuda {

namespace {
std::string version(int v) { return concat(v / 1000, ".", v % 1000 / 10); }
}  // namespace

presence judge(int cuda_error, int driver_version, int devices) {
  const auto e = static_cast<cudaError_t>(cuda_error);
  if (e == cudaSuccess) return devices > 0 ? presence::usable : presence::no_device;
  if (e == cudaErrorNoDevice) return presence::no_device;
  // The toolkit's link-time stub is loaded instead of a driver.
  if (e == cudaErrorStubLibrary) return presence::no_driver;
  // The runtime reports "insufficient" both for a driver that is too old and for none at all.
  if (e == cudaErrorInsufficientDriver && driver_version == 0) return presence::no_driver;
  std::string text = "the CUDA driver does not work: ";
  text.append(cudaGetErrorName(e)).append(" (").append(cudaGetErrorString(e)).append(")");
  if (e == cudaErrorInsufficientDriver)
    text += ": the driver supports CUDA " + version(driver_version) + ", this program needs " +
            version(CUDART_VERSION) + ". Update the driver, build with an older toolkit,";
  else
    text += ". See nvidia-smi and dmesg, restart the driver,";
  throw device_error(text + " or set FERRY_BACKEND=sim to run on the simulator");
}

presence probe() {
  int devices = 0, driver = 0;
  const cudaError_t e = cudaGetDeviceCount(&devices);
  clear_pending();
  if (cudaDriverGetVersion(&driver) != cudaSuccess) driver = 0;
  clear_pending();
  return judge(static_cast<int>(e), driver, devices);
}

}  // namespace ferry::inline FERRY_ABI::detail::cuda
