// Streams captured into graphs.
#include "backend_class.hpp"

namespace ferry::inline FERRY_ABI::detail::cuda {

// Relaxed mode: only work on the captured streams belongs to the capture; other calls of this thread work as usual.
void cuda_backend::begin_capture(native_stream s) {
  check_on(cudaStreamBeginCapture(raw(s), cudaStreamCaptureModeRelaxed), "begin_capture", raw(s));
}

native_graph cuda_backend::end_capture(native_stream s) {
  constexpr std::string_view verb = "end_capture";
  const relaxed_scope relaxed;
  auto made = std::make_unique<recorded_graph>();
  check_on(cudaStreamEndCapture(raw(s), &made->captured), verb, raw(s));
  const device_scope current(device_of(raw(s), verb), verb);
  if (const cudaError_t e = instantiate(&made->ready, made->captured); e != cudaSuccess) {
    (void)cudaGraphDestroy(made->captured);
    fail_on(e, "end_capture (instantiating the graph)", raw(s));
  }
  return {made.release()};
}

bool cuda_backend::is_capturing(native_stream s) {
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  check_on(cudaStreamIsCapturing(raw(s), &status), "is_capturing", raw(s));
  return status != cudaStreamCaptureStatusNone;  // an invalidated capture must still be ended
}

// CUDA cannot launch a graph into a capture (cudaErrorStreamCaptureUnsupported). There the graph becomes a child node
// of the graph being captured, which holds a copy of it.
void cuda_backend::launch_graph(native_graph g, native_stream s) {
  constexpr std::string_view verb = "launch_graph";
  if (is_capturing(s)) return check_on(add_child_graph(raw(s), raw(g)->captured), verb, raw(s));
  const device_scope current(device_of(raw(s), verb), verb);
  check_on(cudaGraphLaunch(raw(g)->ready, raw(s)), verb, raw(s));
}

void cuda_backend::destroy_graph(native_graph g) {
  const relaxed_scope relaxed;
  const std::unique_ptr<recorded_graph> gone(raw(g));
  const cudaError_t first = cudaGraphExecDestroy(gone->ready);
  const cudaError_t second = cudaGraphDestroy(gone->captured);
  check(first != cudaSuccess ? first : second, "destroy_graph");
}

}  // namespace ferry::inline FERRY_ABI::detail::cuda
