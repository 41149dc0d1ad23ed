// Reductions on CUDA devices: one generated kernel each.
#include "backend_class.hpp"
#include "cuda/jit/expression_kernels.hpp"
#include "generator/reduction_text.hpp"

namespace ferry::inline FERRY_ABI::detail::cuda {
namespace {

constexpr std::string_view reducing = "reduction of an expression";

// Bytes for one kernel, in stream order. Also in captures.
class scratch_memory {
 public:
  scratch_memory(cudaMemPool_t pool, std::size_t bytes, cudaStream_t s) : stream_(s) {
    if (bytes != 0) check(cudaMallocFromPoolAsync(&p_, bytes, pool, s), reducing);
  }
  ~scratch_memory() {
    if (p_ && cudaFreeAsync(p_, stream_) != cudaSuccess) clear_pending();
  }
  scratch_memory(const scratch_memory&) = delete;
  scratch_memory& operator=(const scratch_memory&) = delete;
  void* get() const { return p_; }

 private:
  void* p_ = nullptr;
  cudaStream_t stream_;
};

// Keeps what it has: kernels need the same bytes again and again.
cudaMemPool_t make_pool(int device) {
  cudaMemPoolProps how{};
  how.allocType = cudaMemAllocationTypePinned;
  how.location.type = cudaMemLocationTypeDevice;
  how.location.id = device;
  cudaMemPool_t pool = nullptr;
  check(cudaMemPoolCreate(&pool, &how), reducing, device);
  std::uint64_t most = std::uint64_t{64} << 20;
  check(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &most), reducing, device);
  return pool;
}

}  // namespace

cudaMemPool_t cuda_backend::scratch_pool(int device) {
  std::lock_guard lock(scratch_mutex_);
  if (scratch_pools_.empty()) scratch_pools_.resize(devices_.size());
  cudaMemPool_t& pool = scratch_pools_.at(static_cast<std::size_t>(device));
  if (!pool) pool = make_pool(device);
  return pool;
}

// There is no interpreter for reductions: the first one of a shape blocks until its kernel is compiled.
void cuda_backend::reduce(native_stream s, int device, const reduction_evaluation& r, std::span<const kernel_use>) {
  if (r.kind != reduction_kind::reduce)
    throw not_supported(std::string(r.kind == reduction_kind::scan ? "scans" : "counts") +
                        " of expressions run on simulated devices only: use CUB (fr::submit), or FERRY_BACKEND=sim");
  const generator::reduction_plan plan(r);
  const std::string shape = plan.shape();
  void* function = kernels_->find(device, shape);
  if (!function) [[unlikely]]
    function = kernels_->finish(device, shape, [&] { return generator::reduction_source_for(r, plan); });
  if (!function) [[unlikely]]
    throw not_supported(std::string(reducing) + ": its kernel is not compiled: " + kernels_->why_not(device, shape));
  const cudaStream_t stream = raw(s);
  const device_scope current(device, reducing);
  const scratch_memory scratch(plan.parts == 1 ? nullptr : scratch_pool(device), plan.scratch_bytes(), stream);
  if (scratch.get()) check_on(cudaMemsetAsync(scratch.get(), 0, plan.counter_bytes(), stream), reducing, stream);
  const std::vector<program_constant> arguments = generator::reduction_arguments(r, plan, scratch.get());
  launch_function(stream, function, plan.blocks(), generator::reduction_plan::threads, arguments.data(), reducing);
}

}  // namespace ferry::inline FERRY_ABI::detail::cuda
