#include "cuda/jit/module_loader.hpp"

#include <cuda.h>

#include "cuda/scopes.hpp"
#include "cuda/shims.hpp"

namespace ferry::inline FERRY_ABI::detail::cuda {
namespace {

void check_driver(CUresult r, const char* call, int device) {
  if (r != CUDA_SUCCESS) fail(static_cast<cudaError_t>(r), call, device);  // the codes have the same values
}

}  // namespace

std::string module_loader::version() {
  int version = 0;
  check(cudaDriverGetVersion(&version), "jit");
  return std::to_string(version);
}

void* module_loader::load(int device, const std::string& code, const std::string& entry) {
  static const auto load_data = driver_call<CUresult(CUmodule*, const void*)>("cuModuleLoadData");
  static const auto get_function = driver_call<CUresult(CUfunction*, CUmodule, const char*)>("cuModuleGetFunction");
  if (!load_data || !get_function) throw not_supported("jit: this driver has no cuModuleLoadData");
  const relaxed_scope relaxed;
  const device_scope current(device, "jit");
  CUmodule loaded = nullptr;
  CUfunction function = nullptr;
  check_driver(load_data(&loaded, code.c_str()), "loading a compiled kernel", device);
  check_driver(get_function(&function, loaded, entry.c_str()), "finding a compiled kernel", device);
  return function;
}

}  // namespace ferry::inline FERRY_ABI::detail::cuda
