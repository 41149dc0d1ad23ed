#include "errors.hpp"

#include <ferry/core/detail/support/concat.hpp>
#include <ferry/core/error.hpp>

namespace ferry::inline FERRY_ABI::detail::cuda {

error_kind classify(int cuda_error) {
  switch (cuda_error) {
    case 2:  // MemoryAllocation
      return error_kind::out_of_memory;
    case 1:
    case 9:
    case 12:
    case 13:
    case 16:
    case 17:
    case 21:  // value, configuration, pitch, symbol, pointers, direction
    case 101:
    case 400:
    case 701:
    case 720:
    case 912:  // device, handle, too many resources, cooperative, cluster size
    case 401:
    case 712:
    case 713:  // illegal state, host memory (not) registered
    case 900:
    case 901:
    case 902:
    case 903:
    case 904:
    case 905:
    case 906:
    case 907:
    case 908:  // stream capture
      return error_kind::invalid_argument;
    case 31:
    case 36:
    case 98:
    case 200:
    case 209:
    case 218:
    case 221:
    case 222:
    case 223:
    case 224:
    case 225:
    case 800:
    case 801:
    case 811:
    case 812:  // not yet, newer driver, no kernel image or PTX for this device, not permitted
      return error_kind::not_supported;
    case 217:
    case 704:
    case 705:
    case 711:  // peer access: unsupported, already enabled, not enabled, too many peers
      return error_kind::peer_access;
    // The header says of most of these that the process must be terminated. The driver's guide says the same of ECC,
    // NVLink and containment errors. A destroyed context cannot be used again.
    case 214:
    case 220:
    case 226:  // ECC, NVLink, contained
    case 700:
    case 702:
    case 709:
    case 710:  // illegal address, timeout, context destroyed, assert
    case 714:
    case 715:
    case 716:
    case 717:
    case 718:
    case 719:
    case 721:  // stack, instruction, alignment, ..., launch failure
    case 806:
    case 810:
    case 911:  // MPS RPC failure, MPS client terminated, external device
      return error_kind::sticky;
    default: return error_kind::device;
  }
}

namespace {

std::string way_out(int code, error_kind kind) {
  switch (kind) {
    case error_kind::out_of_memory: return "free arrays, or work in smaller pieces";
    case error_kind::sticky:
      return "sticky: the process must restart to use this device; compute-sanitizer finds the kernel at fault";
    case error_kind::peer_access:
      return "copies still work; for kernels copy the array first (ferry::clone_on), or use a unified array";
    case error_kind::not_supported:
      if (code == 98 || code == 200 || code == 209 || code == 222)
        return "the program holds no code for this GPU: build it with CMAKE_CUDA_ARCHITECTURES naming its architecture";
      return "this GPU, driver or toolkit cannot do it; nvidia-smi shows the driver's version";
    case error_kind::invalid_argument:
      if (code >= 900 && code <= 908)
        return "a stream being captured only takes work: wait for nothing, and join every forked stream before the end";
      if (code == 701) return "use fewer threads a block, less shared memory, or __launch_bounds__";
      return "check that the stream, event and addresses are alive and belong to the device";
    case error_kind::device: break;
  }
  return "see nvidia-smi and dmesg; FERRY_BACKEND=sim runs without a GPU";
}

}  // namespace

void fail(cudaError_t e, std::string_view verb, int device) {
  clear_pending();
  const int code = static_cast<int>(e);
  const error_kind kind = classify(code);
  std::string text;
  text.append(verb).append(device >= 0 ? concat(" on device ", device) : "");
  text.append(" failed: ").append(cudaGetErrorName(e)).append(" (").append(cudaGetErrorString(e)).append("). ");
  text.append(way_out(code, kind));
  switch (kind) {
    case error_kind::out_of_memory: throw out_of_memory(text, 0);
    case error_kind::invalid_argument: throw invalid_argument(text);
    case error_kind::not_supported: throw not_supported(text);
    case error_kind::peer_access: throw peer_access_error(text);
    case error_kind::device: throw device_error(text, device_error::severity::passing);
    case error_kind::sticky: break;
  }
  throw device_error(text);
}

std::string out_of_memory_text(memory_kind kind, int device, std::size_t bytes, const device_memory& left) {
  const char* what = kind == memory_kind::device ? "device" : kind == memory_kind::unified ? "unified" : "pinned host";
  std::string text = concat("allocate: no ", what, " memory for ", bytes, " bytes (device ", device);
  if (left.total_bytes != 0) text += concat(": ", left.free_bytes, " bytes free of ", left.total_bytes);
  text += "). Free arrays, trim pools of this and other processes, or work in smaller pieces";
  if (kind == memory_kind::host) text += "; pinned memory is also limited by the machine's RAM and `ulimit -l`";
  return text;
}

}  // namespace ferry::inline FERRY_ABI::detail::cuda
