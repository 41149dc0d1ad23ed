#include "cuda/jit/nvrtc_library.hpp"

#include <cuda_runtime_api.h>

#include <vector>

#include "ferry/core/detail/support/concat.hpp"
#include "ferry/core/detail/support/dynamic_library.hpp"
#include "ferry/core/error.hpp"

namespace ferry::inline FERRY_ABI::detail::cuda {
namespace {

struct nvrtc_result {
  nvrtc_library functions;
  std::string why_not;  // empty: all functions are loaded
};

nvrtc_result load_nvrtc() {
  const std::string name = concat("libnvrtc.so.", CUDART_VERSION / 1000);
  const std::string remedy =
      ". It comes with the CUDA toolkit (package cuda-nvrtc) and with PyTorch; say where it is: "
      "FERRY_NVRTC_LIBRARY=/path/to/" +
      name + ", or set FERRY_JIT=off";
  std::vector<std::string> names{name};
#if defined(FERRY_NVRTC_LIBRARY)
  names.push_back(FERRY_NVRTC_LIBRARY);
#endif
  nvrtc_result r;
  detail::dynamic_library so("FERRY_NVRTC_LIBRARY", names);
  if (!so.is_loaded()) {
    r.why_not = "NVRTC cannot be loaded: " + so.why_not() + remedy;
    return r;
  }
  nvrtc_library& f = r.functions;
  so.need(f.version, "nvrtcVersion");
  so.need(f.error_string, "nvrtcGetErrorString");
  so.need(f.architectures, "nvrtcGetSupportedArchs");
  so.need(f.architecture_count, "nvrtcGetNumSupportedArchs");
  so.need(f.create, "nvrtcCreateProgram");
  so.need(f.destroy, "nvrtcDestroyProgram");
  so.need(f.compile, "nvrtcCompileProgram");
  so.need(f.log_size, "nvrtcGetProgramLogSize");
  so.need(f.log, "nvrtcGetProgramLog");
  so.need(f.cubin_size, "nvrtcGetCUBINSize");
  so.need(f.cubin, "nvrtcGetCUBIN");
  so.need(f.ptx_size, "nvrtcGetPTXSize");
  so.need(f.ptx, "nvrtcGetPTX");
  if (!so.missing().empty()) r.why_not = "the NVRTC that was loaded lacks " + so.missing() + remedy;
  return r;
}

}  // namespace

const nvrtc_library& nvrtc_library::get() {
  static const auto* r = new nvrtc_result(load_nvrtc());  // never destroyed: a thread may compile while exit() runs
  if (!r->why_not.empty()) throw not_supported(r->why_not);
  return r->functions;
}

}  // namespace ferry::inline FERRY_ABI::detail::cuda
