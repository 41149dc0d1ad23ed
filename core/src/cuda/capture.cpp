// Streams captured into graphs.
#include "backend_class.hpp"

namespace ferry::cuda {

// Relaxed: only what is submitted to the captured streams belongs to the capture; other calls of this thread go on as usual.
void cuda_backend::begin_capture(native_stream s) {
  check_on(cudaStreamBeginCapture(raw(s), cudaStreamCaptureModeRelaxed), "begin_capture", raw(s));
}

native_graph cuda_backend::end_capture(native_stream s) {
  constexpr std::string_view verb = "end_capture";
  const relaxed_scope relaxed;
  cudaGraph_t graph = nullptr;
  check_on(cudaStreamEndCapture(raw(s), &graph), verb, raw(s));
  const device_scope current(device_of(raw(s), verb), verb);
  cudaGraphExec_t exec = nullptr;
  const cudaError_t made = instantiate(&exec, graph);
  const cudaError_t freed = cudaGraphDestroy(graph);  // the template: no longer needed either way
  check_on(made, "end_capture (instantiating the graph)", raw(s));
  check_on(freed, verb, raw(s));
  return {exec};
}

bool cuda_backend::is_capturing(native_stream s) {
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  check_on(cudaStreamIsCapturing(raw(s), &status), "is_capturing", raw(s));
  return status != cudaStreamCaptureStatusNone;  // an invalidated capture must still be ended
}

void cuda_backend::launch_graph(native_graph g, native_stream s) {
  const device_scope current(device_of(raw(s), "launch_graph"), "launch_graph");
  check_on(cudaGraphLaunch(raw(g), raw(s)), "launch_graph", raw(s));
}

void cuda_backend::destroy_graph(native_graph g) {
  const relaxed_scope relaxed;
  check(cudaGraphExecDestroy(raw(g)), "destroy_graph");
}

}  // namespace ferry::cuda
