// Copies, fills and functions of the CPU on a stream.
#include <exception>
#include <utility>
#include <vector>

#include "backend_class.hpp"
#include "convert_kernels.hpp"
#include "ferry/core/detail/support/concat.hpp"
#include "strided_kernels.hpp"

namespace ferry::inline FERRY_ABI::detail::cuda {

namespace {

// Below this row length the copy engine's cost per row matters, even over PCIe.
constexpr std::size_t shortest_row = 64;

struct host_task {
  std::function<void()> function;
  host_faults* faults;
};

void run(host_task& task) noexcept {
  try {
    task.function();
  } catch (const std::exception& e) {
    task.faults->add(plain_what(e));
  } catch (...) {
    task.faults->add("an exception that is no std::exception");
  }
}

void CUDART_CB run_and_free(void* p) {
  const std::unique_ptr<host_task> task(static_cast<host_task*>(p));
  run(*task);
}
void CUDART_CB run_and_keep(void* p) { run(*static_cast<host_task*>(p)); }
void CUDART_CB free_task(void* p) { delete static_cast<host_task*>(p); }

// The copy engine makes 2-D copies of CPU memory at full PCIe speed without using the multiprocessors. Between device
// memory the kernel is faster for every row length (measured on an H200: 3.9 against 1.7 to 3.2 TB/s).
bool is_on_a_gpu(const void* p) {
  cudaPointerAttributes a{};
  if (cudaPointerGetAttributes(&a, p) != cudaSuccess) return clear_pending(), false;
  return a.type == cudaMemoryTypeDevice || a.type == cudaMemoryTypeManaged;
}

}  // namespace

void host_faults::add(std::string text) {
  const lock_guard lock(mutex_);
  if (any_.load(std::memory_order_relaxed)) return;  // the first error explains the others
  text_ = std::move(text);
  any_.store(true, std::memory_order_release);
}

void host_faults::raise() {
  if (!any_.load(std::memory_order_acquire)) return;
  const lock_guard lock(mutex_);
  if (!any_.exchange(false)) return;
  throw device_error("a function given to run_on_host threw: " + text_ +
                         ". Later work of its stream ran all the same; catch exceptions inside the function",
                     device_error::severity::passing);
}

void cuda_backend::copy(native_stream s, void* to, const void* from, std::size_t bytes) {
  if (bytes == 0) return;
  const device_scope current(device_of(raw(s), "copy"), "copy");  // memory of pools needs it
  check_on(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, raw(s)), "copy", raw(s));
}

void cuda_backend::copy_peer(native_stream s, void* to, int to_device, const void* from, int from_device,
                             std::size_t bytes) {
  at(to_device, "copy_peer");
  at(from_device, "copy_peer");
  if (bytes == 0) return;
  if (is_capturing(s)) return copy(s, to, from, bytes);  // CUDA captures no cudaMemcpyPeerAsync, not even between peers
  check_on(cudaMemcpyPeerAsync(to, to_device, from, from_device, bytes, raw(s)), "copy_peer", raw(s));
}

void cuda_backend::copy_batch(native_stream s, std::span<const copy_part> parts) {
  const device_scope current(device_of(raw(s), "copy_batch"), "copy_batch");
  std::vector<void*> to;
  std::vector<const void*> from;
  std::vector<std::size_t> bytes;
  for (const copy_part& p : parts) {
    if (p.bytes == 0) continue;
    to.push_back(p.to), from.push_back(p.from), bytes.push_back(p.bytes);
  }
  if (!to.empty()) check_on(memcpy_batch(to, from, bytes, raw(s)), "copy_batch", raw(s));
}

void cuda_backend::convert_strided(native_stream s, const strided_bytes& to, number_type to_type,
                                   const strided_bytes& from, number_type from_type, const strided_shape& shape) {
  constexpr std::string_view verb = "convert_strided";
  if (to_type == number_type::none || from_type == number_type::none || shape.rank > max_rank)
    throw invalid_argument("convert_strided: elements that are no numbers, or a rank above 6");
  const int device = device_of(raw(s), verb);
  const device_entry& on = at(device, verb);
  const device_scope current(device, verb);
  check_on(launch_strided_convert(to, to_type, from, from_type, shape, on.most_blocks, raw(s)), verb, raw(s));
}

void cuda_backend::copy_strided(native_stream s, const strided_bytes& to, const strided_bytes& from,
                                const strided_shape& shape) {
  constexpr std::string_view verb = "copy_strided";
  const strided_plan plan = plan_copy(to, from, shape);
  if (plan.words == 0) return;
  const int device = device_of(raw(s), verb);
  const device_entry& on = at(device, verb);
  const device_scope current(device, verb);
  const std::size_t row = plan.run_bytes();
  if (plan.is_contiguous())
    check_on(cudaMemcpyAsync(plan.to, plan.from, row, cudaMemcpyDefault, raw(s)), verb, raw(s));
  else if (row >= shortest_row && plan.is_pitched(on.most_pitch) && !(is_on_a_gpu(plan.to) && is_on_a_gpu(plan.from)))
    check_on(
        cudaMemcpy2DAsync(plan.to, static_cast<std::size_t>(plan.to_stride[0]), plan.from,
                          static_cast<std::size_t>(plan.from_stride[0]), row, plan.rows(), cudaMemcpyDefault, raw(s)),
        verb, raw(s));
  else
    check_on(launch_strided_copy(plan, on.most_blocks, raw(s)), verb, raw(s));
}

void cuda_backend::fill_strided(native_stream s, const strided_bytes& to, const strided_shape& shape,
                                const void* element) {
  constexpr std::string_view verb = "fill_strided";
  const fill_plan plan = plan_fill(to, shape, element);
  const strided_plan& where = plan.where;
  if (where.words == 0) return;
  const int device = device_of(raw(s), verb);
  const device_entry& on = at(device, verb);
  const device_scope current(device, verb);
  const std::size_t row = where.run_bytes();
  const int byte = std::to_integer<int>(plan.what.bytes[0]);
  if (plan.what.uniform && where.is_contiguous())
    check_on(cudaMemsetAsync(where.to, byte, row, raw(s)), verb, raw(s));
  else if (plan.what.uniform && row >= shortest_row && where.is_pitched(on.most_pitch))
    check_on(cudaMemset2DAsync(where.to, static_cast<std::size_t>(where.to_stride[0]), byte, row, where.rows(), raw(s)),
             verb, raw(s));
  else
    check_on(launch_strided_fill(plan, on.most_blocks, raw(s)), verb, raw(s));
}

// A task that throws does not stop the stream: the next synchronize of any stream or event throws device_error for it.
void cuda_backend::run_on_host(native_stream s, std::function<void()> task) {
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  cudaGraph_t graph = nullptr;
  check_on(captured_graph(raw(s), status, graph), "run_on_host", raw(s));
  if (status == cudaStreamCaptureStatusActive) return enqueue_to_graph(raw(s), graph, std::move(task));
  auto owned = std::make_unique<host_task>(host_task{std::move(task), &faults_});
  check_on(cudaLaunchHostFunc(raw(s), run_and_free, owned.get()), "run_on_host", raw(s));
  static_cast<void>(owned.release());  // run_and_free owns it now
}

// A captured task runs at every launch, so the graph and its instances own it jointly.
void cuda_backend::enqueue_to_graph(cudaStream_t s, cudaGraph_t graph, std::function<void()> task) {
  auto owned = std::make_unique<host_task>(host_task{std::move(task), &faults_});
  cudaUserObject_t owner = nullptr;
  check_on(cudaUserObjectCreate(&owner, owned.get(), free_task, 1, cudaUserObjectNoDestructorSync), "run_on_host", s);
  host_task* const p = owned.release();
  const cudaError_t e = cudaGraphRetainUserObject(graph, owner, 1, cudaGraphUserObjectMove);
  if (e != cudaSuccess) static_cast<void>(cudaUserObjectRelease(owner, 1));
  check_on(e, "run_on_host", s);
  check_on(cudaLaunchHostFunc(s, run_and_keep, p), "run_on_host", s);
}

void cuda_backend::launch(native_stream, const host_kernel& kernel) {
  throw not_supported(concat("kernel '", kernel.name,
                             "' was compiled for the CPU only and cannot run on a GPU. Compile its source as CUDA "
                             "(ferry_add_executable does), or set FERRY_BACKEND=sim"));
}

// Also reports an error that the program left pending before the launch: CUDA stores only one.
void cuda_backend::check_launch(native_stream s, std::string_view kernel) {
  if (const cudaError_t e = cudaGetLastError(); e != cudaSuccess) [[unlikely]]
    fail_on(e, concat("launch of kernel '", kernel, "'"), raw(s));
}

}  // namespace ferry::inline FERRY_ABI::detail::cuda
