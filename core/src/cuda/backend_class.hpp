// The class behind make_backend(). Its backend calls are in machine.cpp, memory.cpp, advice.cpp, streams.cpp, work.cpp,
// launch.cpp, functors.cpp, evaluate.cpp, reduce.cpp, sort.cpp, scatter.cpp, capture.cpp.
#pragma once
#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include <ferry/core/detail/backend/backend.hpp>
#include <ferry/core/detail/support/mutex.hpp>
#include <ferry/core/error.hpp>

#include "cuda/jit/expression_kernels.hpp"
#include "cuda_backend.hpp"
#include "driver_pools.hpp"
#include "errors.hpp"
#include "ferry/version.hpp"
#include "generator/reduction_kernel.hpp"
#include "placed_pages.hpp"
#include "scopes.hpp"
#include "shims.hpp"
#include "stream_table.hpp"

namespace ferry::inline FERRY_ABI::detail::cuda {

inline cudaStream_t raw(native_stream s) { return static_cast<cudaStream_t>(s.handle); }
inline cudaEvent_t raw(native_event e) { return static_cast<cudaEvent_t>(e.handle); }

// A launch uses the instantiated graph; a capture includes the captured one as a child graph.
struct recorded_graph {
  cudaGraph_t captured = nullptr;
  cudaGraphExec_t ready = nullptr;
};
inline recorded_graph* raw(native_graph g) { return static_cast<recorded_graph*>(g.handle); }

// Errors of functions passed to run_on_host: CUDA's callback thread cannot throw, so the next synchronize does.
class host_faults {
 public:
  void add(std::string text);
  // Throws device_error with the first text after the last call, if there is one.
  void raise();

 private:
  std::atomic<bool> any_{false};
  mutex mutex_;
  std::string text_ FERRY_GUARDED_BY(mutex_);
};

class cuda_backend final : public detail::backend {
 public:
  explicit cuda_backend(int devices);

  std::string_view name() const override { return "cuda"; }
  bool is_simulated() const override { return false; }
  const driver_quirks& quirks() const override { return quirks_; }
  int device_count() const override { return static_cast<int>(devices_.size()); }
  device_properties properties(int device) const override;
  device_memory memory(int device) const override;
  bool can_access_peer(int device, int peer) const override;
  void enable_peer_access(int device, int peer) override;
  void disable_peer_access(int device, int peer) override;
  peer_properties peer(int device, int peer) const override;
  int exchange_current_device(int device) override;

  void* allocate(memory_kind kind, int device, std::size_t bytes) override;
  void release(memory_kind kind, int device, void* p, std::size_t bytes) override;
  pointer_attributes attributes(const void* p) override;
  void pin(void* p, std::size_t bytes) override;
  void unpin(void* p, std::size_t bytes) override;
  pool_backend* pools() override { return pools_.get(); }
  void prefetch(native_stream s, void* p, std::size_t bytes, memory_location to) override;
  void prefetch_many(native_stream s, std::span<const page_move> moves, bool discard) override;
  void discard(native_stream s, void* p, std::size_t bytes) override;
  std::optional<memory_location> prefetched_to(const void* p, std::size_t bytes) const override;
  void advise(void* p, std::size_t bytes, memory_advice advice, memory_location where) override;

  native_stream create_stream(int device, int priority) override;
  void destroy_stream(native_stream s) override;
  std::uint64_t stream_id(native_stream s) override;
  std::optional<int> device_of(native_stream s) override;
  bool is_done(native_stream s) override;
  void synchronize(native_stream s) override;
  native_event create_event(int device, bool timing) override;
  void destroy_event(native_event e) override;
  void record(native_event e, native_stream s) override;
  void wait(native_stream s, native_event e) override;
  bool is_done(native_event e) override;
  void synchronize(native_event e) override;
  double elapsed_milliseconds(native_event from, native_event to) override;

  void copy(native_stream s, void* to, const void* from, std::size_t bytes) override;
  void copy_peer(native_stream s, void* to, int to_device, const void* from, int from_device,
                 std::size_t bytes) override;
  void copy_batch(native_stream s, std::span<const copy_part> parts) override;
  void convert_strided(native_stream s, const strided_bytes& to, number_type to_type, const strided_bytes& from,
                       number_type from_type, const strided_shape& shape) override;
  void copy_strided(native_stream s, const strided_bytes& to, const strided_bytes& from,
                    const strided_shape& shape) override;
  void fill_strided(native_stream s, const strided_bytes& to, const strided_shape& shape, const void* element) override;
  void run_on_host(native_stream s, std::function<void()> task) override;
  void launch(native_stream s, const host_kernel& kernel) override;
  void launch_compiled(native_stream s, int device, const compiled_launch& kernel) override;
  bool compiles_functors() const override { return true; }
  void* compile_functor(native_stream s, int device, const kernel_text& kernel) override;
  void evaluate(native_stream s, int device, const evaluation& what, std::span<const kernel_use> uses) override;
  void reduce(native_stream s, int device, const reduction_evaluation& what, std::span<const kernel_use> uses) override;
  std::size_t scratch_bytes(const reduction_evaluation& what) override;
  bool prepare_reduction(int device, const reduction_evaluation& what) override;
  std::string explain_reduction(int device, const reduction_evaluation& what) override;
  void sort(native_stream s, int device, const sorting_task& what, std::span<const kernel_use> uses) override;
  void scatter(native_stream s, int device, const scatter_task& what, std::span<const kernel_use> uses) override;
  std::size_t sorting_scratch(int device, const sorting_task& what) override;
  bool prepare_evaluation(int device, const evaluation& what) override;
  std::string explain_evaluation(int device, const evaluation& what) override;
  void check_launch(native_stream s, std::string_view kernel) override;

  void begin_capture(native_stream s) override;
  native_graph end_capture(native_stream s) override;
  bool is_capturing(native_stream s) override;
  void launch_graph(native_graph g, native_stream s) override;
  void destroy_graph(native_graph g) override;

 private:
  struct device_entry {
    device_properties properties;
    std::size_t most_pitch = 0;  // of 2-D copies
    unsigned most_blocks = 0;    // blocks of a grid that fill the device several times
  };
  const device_entry& at(int device, std::string_view verb) const;
  // A foreign stream that is being captured cannot be queried; it is assumed to be of the current device.
  int device_of(cudaStream_t s, std::string_view verb) const;
  void check_on(cudaError_t e, std::string_view verb, cudaStream_t s) const {
    if (e != cudaSuccess) [[unlikely]]
      fail_on(e, verb, s);
  }
  [[noreturn]] void fail_on(cudaError_t e, std::string_view verb, cudaStream_t s) const;
  void duplicate(void* p, std::size_t bytes) FERRY_LOCKED(advice_mutex_);
  void enqueue_to_graph(cudaStream_t s, cudaGraph_t graph, std::function<void()> task);
  void* finish_needed(int device, const evaluation& e, const generator::kernel_plan& p);
  void interpret(native_stream s, int device, const evaluation& e, const generator::kernel_plan& p);
  void launch_generated(cudaStream_t s, void* function, const evaluation& e, const generator::kernel_plan& p);
  void* finish_reduction(int device, const generator::reduction_kernel& k);
  void launch_reduction(cudaStream_t s, void* function, const reduction_evaluation& r,
                        const generator::reduction_kernel& k);
  // parameters: the structure that is the function's only parameter.
  void launch_function(cudaStream_t s, void* function, std::size_t blocks, unsigned threads, const void* parameters,
                       std::string_view verb);

  const driver_quirks quirks_;
  std::vector<device_entry> devices_;
  // True if the CPU may access managed memory while kernels run, on every device. Otherwise unified memory is pinned
  // and mapped.
  bool managed_ = true;
  mutex advice_mutex_;
  placed_pages placed_ FERRY_GUARDED_BY(advice_mutex_);
  cudaStream_t leaving_ FERRY_GUARDED_BY(advice_mutex_) = nullptr;  // created on first use, never destroyed
  stream_table streams_;
  std::unique_ptr<driver_pools> pools_;
  std::unique_ptr<expression_kernels> kernels_;
  host_faults faults_;
};

}  // namespace ferry::inline FERRY_ABI::detail::cuda
