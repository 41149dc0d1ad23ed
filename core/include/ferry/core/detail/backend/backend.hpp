// Device backend interface. Two implementations: src/cuda and src/sim.
//
// All functions are thread-safe, leave the calling thread's current device unchanged, and throw ferry::error. Functions
// that enqueue work (copy, fill, launch, ...) are asynchronous on their stream unless stated otherwise.
#pragma once
#include <array>
#include <atomic>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ferry/core/checks.hpp"
#include "ferry/core/detail/backend/driver_quirks.hpp"
#include "ferry/core/detail/support/array_label.hpp"
#include "ferry/core/detail/support/internal.hpp"
#include "ferry/core/detail/support/number_type.hpp"
#include "ferry/core/extents.hpp"
#include "ferry/core/memory_kind.hpp"
#include "ferry/core/native_handles.hpp"
#include "ferry/core/source_line.hpp"

namespace ferry::inline FERRY_ABI::detail {

// How device memory was allocated, as far as it determines peer access.
enum class peer_memory : std::uint8_t {
  plain,   // by backend::allocate: accessible from all devices with access to this device's memory
  pooled,  // by a driver pool: accessible from devices with access to this pool
  unified  // managed pages, which move between devices
};

struct device_properties {
  std::string name;
  std::size_t memory_bytes = 0;  // total
  int multiprocessors = 0;
  int compute_major = 0, compute_minor = 0;
  bool concurrent_managed_access = false;  // the CPU may touch managed memory while the device works
  bool pageable_memory_access = false;     // kernels may use any memory of the CPU (HMM, ATS)
  std::string pci_bus_id = {};             // "0000:1b:00.0", lower case; empty where there is none
};

// The driver's properties of access by kernels of one device to memory of another.
struct peer_properties {
  bool access = false;   // kernels can load and store
  bool atomics = false;  // kernels can do atomic operations
  int rank = 0;          // the driver's rank: lower is faster
};

struct device_memory {
  std::size_t free_bytes = 0, total_bytes = 0;
};

// What the backend reports about an address.
struct pointer_attributes {
  bool is_known = false;  // false: host memory that is not registered with the backend
  memory_kind kind = memory_kind::host;
  int device = 0;
};

// Pages of unified memory to move to a location.
struct page_move {
  std::byte* begin = nullptr;
  std::size_t bytes = 0;
  memory_location to;
};

// Elements of `element_bytes` at base + sum(index[d] * stride_bytes[d]).
struct strided_bytes {
  std::byte* base = nullptr;
  std::array<std::ptrdiff_t, max_rank> stride_bytes{};
};

// The elements of a strided operation: `rank` extents, slowest first.
struct strided_shape {
  std::size_t element_bytes = 1;
  std::size_t rank = 0;
  std::array<std::size_t, max_rank> extent{};
};

// One of several copies that are enqueued together.
struct copy_part {
  void* to = nullptr;
  const void* from = nullptr;
  std::size_t bytes = 0;
};

// Bytes that a kernel declares to access.
struct kernel_use {
  const std::byte* begin = nullptr;
  std::size_t bytes = 0;
  bool reads = false, writes = false;
  array_label array = {};
  source_line at = {};  // source line of the call
};

// Location of the declared bytes during a simulated kernel: the simulator may run it on copies of them.
class relocation {
 public:
  struct piece {
    const std::byte* begin;
    std::size_t bytes;
    std::byte* now;
  };
  relocation() = default;
  explicit relocation(std::span<const piece> pieces) : pieces_(pieces) {}
  // The address during the kernel for the program's address p.
  template <class T>
  T* operator()(T* p) const {
    const auto* at = reinterpret_cast<const std::byte*>(p);
    for (const piece& q : pieces_)
      if (at >= q.begin && at < q.begin + q.bytes) return reinterpret_cast<T*>(q.now + (at - q.begin));
    return p;
  }

 private:
  std::span<const piece> pieces_;
};

// A function that runs work on the CPU. Copies share it. Compilers generate less code for it than for std::function: a
// program has one type of functions for each loop.
class host_work {
 public:
  host_work() = default;
  template <class F>
  requires std::invocable<const F&, const relocation&> host_work(F f)
      : work_(static_cast<base*>(new of<F>(std::move(f)))) {}
  explicit operator bool() const noexcept { return work_ != nullptr; }
  void operator()(const relocation& move) const { work_->run(move); }

 private:
  struct base {
    virtual ~base() = default;
    virtual void run(const relocation& move) const = 0;
  };
  template <class F>
  struct of final : base {
    explicit of(F&& g) : f(std::move(g)) {}
    void run(const relocation& move) const override { f(move); }
    F f;
  };
  std::shared_ptr<const base> work_;
};

// A kernel for the simulator: the whole grid, as one CPU function.
struct host_kernel {
  std::string_view name;             // must outlive the launch (a literal or a type's name)
  std::span<const kernel_use> uses;  // read during the call only
  host_work body;
  bool has_pointers = false;  // it may also access memory through raw pointers that were taken for its stream
};

// Handles of a __global__ function, one for each device. The first launch on a device looks it up.
struct compiled_kernel {
  static constexpr int most_devices = 16;  // on later devices every launch looks it up
  std::array<std::atomic<void*>, most_devices> of_device{};
};

// One launch of a __global__ function.
struct compiled_launch {
  std::string_view name;  // for errors
  const void* function;   // host-side address that nvcc generates
  compiled_kernel& handles;
  std::array<unsigned, 3> blocks, threads;
  void** parameters;       // their addresses; read during the call only
  void* loaded = nullptr;  // by compile_functor(): function and handles are unused then
};

class pool_backend;
struct evaluation;            // detail/operations/evaluation.hpp
struct reduction_evaluation;  // detail/operations/reduction_evaluation.hpp
struct sorting_task;          // detail/operations/sorting_task.hpp
struct scatter_task;          // detail/operations/scatter_task.hpp
struct kernel_text;           // detail/operations/functor_definition.hpp

// A joint operation of several streams, such as a collective. Each stream blocks at its part; the body runs once, when
// all streams have reached it. Streams that join several rendezvous in different orders deadlock.
struct rendezvous {
  std::string name;
  std::size_t streams = 0;     // number of participating streams
  std::function<void()> body;  // must not call ferry or the driver
  std::string broken = {};     // set by the backend: why it can never complete
};

class backend {
 public:
  virtual ~backend() = default;

  // The computer.
  virtual std::string_view name() const = 0;  // for texts: "cuda" or "sim"
  // True if kernels are CPU functions: launch() and join_rendezvous(). Otherwise nvcc-compiled code launches them.
  virtual bool is_simulated() const = 0;
  virtual const driver_quirks& quirks() const = 0;
  // Level of checks that the backend's options request.
  virtual check_level level() const { return check_level::usual; }
  virtual int device_count() const = 0;
  virtual device_properties properties(int device) const = 0;
  virtual device_memory memory(int device) const = 0;
  virtual bool can_access_peer(int device, int peer) const = 0;
  // Lets kernels and copies of `device` access memory that `peer` allocated. Repeated calls are allowed.
  virtual void enable_peer_access(int device, int peer) = 0;
  // Reverts enable_peer_access(): copies between the two go through the CPU again.
  virtual void disable_peer_access(int device, int peer) = 0;
  virtual peer_properties peer(int device, int peer) const = 0;
  // Makes `device` the calling thread's current device and returns the previous one.
  virtual int exchange_current_device(int device) = 0;

  // Allocates memory. For memory_kind::host, `device` is the GPU that the memory should be near. Throws out_of_memory.
  // May block.
  virtual void* allocate(memory_kind kind, int device, std::size_t bytes) = 0;
  // Releases memory that is no longer in use.
  virtual void release(memory_kind kind, int device, void* p, std::size_t bytes) = 0;
  // The driver's own pools; null if it has none.
  virtual pool_backend* pools() { return nullptr; }

  // Attributes of any memory, from ferry or not.
  virtual pointer_attributes attributes(const void* p) = 0;
  // Pins pageable host memory, so that copies are asynchronous and every device can access it. The bytes must not
  // overlap pinned ones. May block. Throws invalid_argument, not_supported, out_of_memory.
  virtual void pin(void* p, std::size_t bytes) = 0;
  // Unpins memory from pin() that is no longer in use.
  virtual void unpin(void* p, std::size_t bytes) = 0;

  // Streams and events. A lower priority number is more urgent; 0 is the default, -1 is high.
  virtual native_stream create_stream(int device, int priority) = 0;
  virtual void destroy_stream(native_stream s) = 0;
  virtual std::uint64_t stream_id(native_stream s) = 0;  // unique for the life of the process
  // The device of a stream, including default streams (as the calling thread means them). Empty if it cannot be
  // determined, as for streams in a capture.
  virtual std::optional<int> device_of(native_stream s) = 0;
  virtual bool is_done(native_stream s) = 0;
  virtual void synchronize(native_stream s) = 0;  // blocks
  virtual native_event create_event(int device, bool timing) = 0;
  virtual void destroy_event(native_event e) = 0;
  virtual void record(native_event e, native_stream s) = 0;
  virtual void wait(native_stream s, native_event e) = 0;  // waits for the record at the time of the call
  virtual bool is_done(native_event e) = 0;                // refers to the record at the time of the call
  // Blocks by polling is_done() with back-off. If the event is re-recorded meanwhile, it waits for the new record;
  // callers must not re-record an event with waiters. cudaEventSynchronize waits for the record at the time of the
  // call, but it spins or slows down each kernel; see the CUDA backend. Both waits report completion to the driver's
  // pools; queries do not.
  virtual void synchronize(native_event e) = 0;
  virtual double elapsed_milliseconds(native_event from, native_event to) = 0;

  // Work. Addresses may be of any kind and device. For pageable memory, blocks until it has been read or written.
  virtual void copy(native_stream s, void* to, const void* from, std::size_t bytes) = 0;
  // Copies between two devices' own memory, with or without peer access.
  virtual void copy_peer(native_stream s, void* to, int to_device, const void* from, int from_device,
                         std::size_t bytes) = 0;
  // Several copies in any order. None may access what another writes, and none may use pageable memory.
  virtual void copy_batch(native_stream s, std::span<const copy_part> parts) = 0;
  // The stream's device must be able to access both sides.
  virtual void copy_strided(native_stream s, const strided_bytes& to, const strided_bytes& from,
                            const strided_shape& shape) = 0;
  // As copy_strided, but converts each number; shape.element_bytes is ignored.
  virtual void convert_strided(native_stream s, const strided_bytes& to, number_type to_type, const strided_bytes& from,
                               number_type from_type, const strided_shape& shape) = 0;
  // Writes the bytes of one element (at most 16) to every element.
  virtual void fill_strided(native_stream s, const strided_bytes& to, const strided_shape& shape,
                            const void* element) = 0;
  // Runs a CPU function in stream order. It must not call ferry or the driver.
  virtual void run_on_host(native_stream s, std::function<void()> task) = 0;
  // As run_on_host, for a task that accesses device bytes. `uses` are read during the call only, and checked for races.
  virtual void run_on_host_using(native_stream s, std::function<void()> task, std::span<const kernel_use> uses);
  // True if the backend checks for races. Constant.
  virtual bool finds_races() const { return false; }
  // With finds_races(): reports a CPU access to these bytes, after its waits. Throws device_error if work that uses the
  // bytes is not known to be complete. Called with the history of the bytes locked.
  virtual void host_access(const kernel_use&) {}
  // Simulator only.
  virtual void launch(native_stream s, const host_kernel& kernel) = 0;
  // CUDA only; device: that of s.
  virtual void launch_compiled(native_stream s, int device, const compiled_launch& kernel);
  // True if compile_functor() comes before a loop with a functor that has a text: on CUDA, and on simulated devices
  // that check these texts.
  virtual bool compiles_functors() const { return false; }
  // Returns the driver's function of a kernel on a device, for launch_compiled(); null if simulated. Blocks until it is
  // compiled. s: where it will be launched. Throws not_supported if the kernel cannot be compiled, and if it is not
  // compiled and s is being captured.
  virtual void* compile_functor(native_stream s, int device, const kernel_text& kernel);
  // Runs a program over memory. Simulated devices interpret it, CUDA devices run a kernel. device: that of s. `what`
  // and `uses`, the bytes that it accesses, are read during the call only.
  virtual void evaluate(native_stream s, int device, const evaluation& what, std::span<const kernel_use> uses);
  // Compiles what evaluate() runs for programs of this shape, and blocks until that is done. Returns false if nothing
  // can be compiled, so that evaluate() interprets them.
  virtual bool prepare_evaluation(int device, const evaluation& what);
  // Runs a reduction, a scan or a count of a program's values; the rest is as in evaluate().
  virtual void reduce(native_stream s, int device, const reduction_evaluation& what, std::span<const kernel_use> uses);
  // As prepare_evaluation() and explain_evaluation(), for what reduce() runs.
  virtual bool prepare_reduction(int device, const reduction_evaluation& what);
  virtual std::string explain_reduction(int device, const reduction_evaluation& what);
  // Bytes of device memory that reduce() needs besides, as reduction_evaluation::scratch. 0 on simulated devices.
  virtual std::size_t scratch_bytes(const reduction_evaluation& what);
  // Sorts, searches or selects; the rest is as in evaluate().
  virtual void sort(native_stream s, int device, const sorting_task& what, std::span<const kernel_use> uses);
  // Bytes of device memory that sort() needs besides, as sorting_task::scratch. 0 on simulated devices.
  virtual std::size_t sorting_scratch(int device, const sorting_task& what);
  // Stores elements at indices; the rest is as in evaluate().
  virtual void scatter(native_stream s, int device, const scatter_task& what, std::span<const kernel_use> uses);
  // How evaluate() runs this program on the device: state and source of its kernel, for explain(). "" if there is
  // nothing to tell.
  virtual std::string explain_evaluation(int device, const evaluation& what);
  // Called after a launch that nvcc-compiled code made directly: throws its error.
  virtual void check_launch(native_stream s, std::string_view kernel) = 0;
  // Simulator only: the stream's part in a rendezvous. It accesses `uses`, which are read during the call only.
  virtual void join_rendezvous(native_stream s, std::shared_ptr<rendezvous> m, std::span<const kernel_use> uses);

  // Unified memory.
  virtual void prefetch(native_stream s, void* p, std::size_t bytes, memory_location to) = 0;
  // Prefetches several ranges. discard: their old contents are lost and are not transferred.
  virtual void prefetch_many(native_stream s, std::span<const page_move> moves, bool discard) = 0;
  // From this point of the stream, the contents are undefined until they are written.
  virtual void discard(native_stream s, void* p, std::size_t bytes) = 0;
  // The last prefetch destination of the pages, if it is the same for all; they may have moved since then. The
  // simulator returns their real location.
  virtual std::optional<memory_location> prefetched_to(const void* p, std::size_t bytes) const = 0;
  virtual void advise(void* p, std::size_t bytes, memory_advice advice, memory_location where) = 0;

  // Capture: all work enqueued to s, and to streams that wait for events of s, becomes one graph.
  virtual void begin_capture(native_stream s) = 0;
  virtual native_graph end_capture(native_stream s) = 0;  // instantiated, ready to launch
  virtual bool is_capturing(native_stream s) = 0;
  virtual void launch_graph(native_graph g, native_stream s) = 0;
  virtual void destroy_graph(native_graph g) = 0;
};

}  // namespace ferry::inline FERRY_ABI::detail
