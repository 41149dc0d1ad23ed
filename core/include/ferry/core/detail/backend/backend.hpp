// The seam: the verbs that ferry needs of a machine with devices. Two implementations: src/cuda and src/sim.
//
// Every verb may be called from any thread, leaves the caller's current device as it was, and throws a ferry::error.
// Work verbs (copy, fill, launch, ...) are asynchronous on the stream they are given unless said otherwise.
#pragma once
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ferry/core/checks.hpp"
#include "ferry/core/detail/support/array_label.hpp"
#include "ferry/core/detail/support/number_type.hpp"
#include "ferry/core/detail/support/source_line.hpp"
#include "ferry/core/extents.hpp"

namespace ferry {

// Where bytes live. device: memory of one GPU. unified: managed memory, reachable from the CPU and every device.
// host: pinned memory of the CPU, reachable from every device.
enum class memory_kind : std::uint8_t { device, unified, host };
const char* kind_name(memory_kind k);

// How memory of a device was allocated, as far as it decides whether other devices reach it.
enum class peer_memory : std::uint8_t {
  plain,   // by backend::allocate: reached by all devices that were granted this one's memory
  pooled,  // by a pool of the driver: reached by those that this pool was granted to
  unified  // managed pages, which move between devices
};

// Handles of the backend's own objects (cudaStream_t, cudaEvent_t, cudaGraphExec_t, or the simulator's).
struct native_stream {
  void* handle = nullptr;
  bool operator==(const native_stream&) const = default;
};
struct native_event {
  void* handle = nullptr;
};
struct native_graph {
  void* handle = nullptr;
};

struct device_properties {
  std::string name;
  std::size_t memory_bytes = 0;  // in all
  int multiprocessors = 0;
  int compute_major = 0, compute_minor = 0;
  bool concurrent_managed_access = false;  // the CPU may touch managed memory while the device works
  bool pageable_memory_access = false;     // kernels may use any memory of the CPU (HMM, ATS)
  std::string pci_bus_id = {};             // "0000:1b:00.0", lower case; empty where there is none
};

// What the driver says of the way from kernels of one device to the memory of another.
struct peer_properties {
  bool access = false;   // kernels can load and store
  bool atomics = false;  // and do atomic operations
  int rank = 0;          // the driver's rank of the way: the lower, the faster
};

struct device_memory {
  std::size_t free_bytes = 0, total_bytes = 0;
};

// What an address is, as far as the backend knows.
struct pointer_attributes {
  bool is_known = false;  // else memory of the CPU that the backend was never told of
  memory_kind kind = memory_kind::host;
  int device = 0;
};

// A place that unified memory can be moved to or advised about.
struct memory_location {
  int device = -1;     // -1: the CPU
  int numa_node = -1;  // of the CPU's memory; -1: any
  bool is_host() const { return device < 0; }
  bool operator==(const memory_location&) const = default;
};

// Pages of unified memory that go to a place.
struct page_move {
  std::byte* begin = nullptr;
  std::size_t bytes = 0;
  memory_location to;
};

// Hints for unified memory, as cudaMemAdvise has them; each has its undoing.
enum class memory_advice : std::uint8_t {
  read_mostly,
  unset_read_mostly,
  preferred_location,
  unset_preferred_location,
  accessed_by,
  unset_accessed_by
};

// Elements of `element_bytes` at base + sum(index[d] * stride_bytes[d]).
struct strided_bytes {
  std::byte* base = nullptr;
  std::array<std::ptrdiff_t, max_rank> stride_bytes{};
};

// Which elements a strided operation covers: `rank` extents, slowest first.
struct strided_shape {
  std::size_t element_bytes = 1;
  std::size_t rank = 0;
  std::array<std::size_t, max_rank> extent{};
};

// One of several copies that are submitted together.
struct copy_part {
  void* to = nullptr;
  const void* from = nullptr;
  std::size_t bytes = 0;
};

// Bytes that a kernel was declared to touch.
struct kernel_use {
  const std::byte* begin = nullptr;
  std::size_t bytes = 0;
  bool reads = false, writes = false;
  array_label array = {};
  source_line at = {};  // where the work was asked for
};

// Where declared bytes lie while a simulated kernel runs: the simulator may run it on copies of them.
class relocation {
 public:
  struct piece {
    const std::byte* begin;
    std::size_t bytes;
    std::byte* now;
  };
  relocation() = default;
  explicit relocation(std::span<const piece> pieces) : pieces_(pieces) {}
  // The address at which the kernel finds what it knows as p.
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

// A kernel as the simulator runs it: the whole grid, as one function of the CPU.
struct host_kernel {
  std::string_view name;             // must outlive the launch (a literal or a type's name)
  std::span<const kernel_use> uses;  // read during the call only
  std::function<void(const relocation&)> body;
  bool has_pointers = false;  // it may use memory beside its uses, by raw pointers that its stream was given
};

// A __global__ function's handle on each device, found by the first launch there.
struct compiled_kernel {
  static constexpr int most_devices = 16;  // on later ones it is found anew by every launch
  std::array<std::atomic<void*>, most_devices> of_device{};
};

// One launch of such a function.
struct compiled_launch {
  std::string_view name;  // for errors
  const void* function;   // its address, as nvcc gives it to the CPU
  compiled_kernel& handles;
  std::array<unsigned, 3> blocks, threads;
  void** parameters;  // their addresses; read during the call only
};

class pool_backend;

// One operation of several streams, as collectives are: it waits in each of them, and runs once, when it is the first of
// all. Streams that come to several meetings in different orders wait for each other forever.
struct rendezvous {
  std::string name;
  std::size_t streams = 0;     // how many take part
  std::function<void()> body;  // must not call ferry or the driver
  std::string broken = {};     // the backend's own: why it can never be held
};

class backend {
 public:
  virtual ~backend() = default;

  // The machine
  virtual std::string_view name() const = 0;  // "cuda" or "sim"
  // How much the backend's options ask a machine to check.
  virtual check_level level() const { return check_level::usual; }
  virtual int device_count() const = 0;
  virtual device_properties properties(int device) const = 0;
  virtual device_memory memory(int device) const = 0;
  virtual bool can_access_peer(int device, int peer) const = 0;
  // Lets kernels and copies of `device` use memory that `peer` allocated. Calling it again is fine.
  virtual void enable_peer_access(int device, int peer) = 0;
  // Takes that back: copies between the two go through the CPU again.
  virtual void disable_peer_access(int device, int peer) = 0;
  virtual peer_properties peer(int device, int peer) const = 0;
  // Makes `device` the calling thread's current device and returns the one before.
  virtual int exchange_current_device(int device) = 0;

  // Memory. For memory_kind::host `device` names the GPU to be near to. Throws out_of_memory. May block.
  virtual void* allocate(memory_kind kind, int device, std::size_t bytes) = 0;
  // The bytes must not be in use any more.
  virtual void release(memory_kind kind, int device, void* p, std::size_t bytes) = 0;
  // The driver's own pools; null where it has none.
  virtual pool_backend* pools() { return nullptr; }

  // Of memory that anybody allocated, through ferry or not.
  virtual pointer_attributes attributes(const void* p) = 0;
  // Pins pageable memory of the CPU, so that copies are asynchronous and every device reaches it. The bytes overlap
  // none that are pinned. May block. Throws invalid_argument, not_supported, out_of_memory.
  virtual void pin(void* p, std::size_t bytes) = 0;
  // What pin() got; not in use any more.
  virtual void unpin(void* p, std::size_t bytes) = 0;

  // Streams and events. A lower priority number is more urgent; 0 is the default, -1 is high.
  virtual native_stream create_stream(int device, int priority) = 0;
  virtual void destroy_stream(native_stream s) = 0;
  virtual std::uint64_t stream_id(native_stream s) = 0;  // unique over the life of the process
  // The device of a stream, also of a default one (as the calling thread means it); none where that cannot be told, as of
  // streams that are being captured.
  virtual std::optional<int> device_of(native_stream s) = 0;
  virtual bool is_done(native_stream s) = 0;
  virtual void synchronize(native_stream s) = 0;  // blocks
  virtual native_event create_event(int device, bool timing) = 0;
  virtual void destroy_event(native_event e) = 0;
  virtual void record(native_event e, native_stream s) = 0;
  virtual void wait(native_stream s, native_event e) = 0;  // by the event's state at the time of the call
  virtual bool is_done(native_event e) = 0;                // by the event's state at the time of the call
  // Blocks; asks is_done() until it says yes, with naps once it takes long: an event that is recorded again meanwhile stands
  // for the later work. So whoever must not wait for that does not record an event that somebody waits for. (CUDA itself
  // keeps cudaEventSynchronize to the state at the time of the call, but spins or makes each kernel slower; see the
  // CUDA backend.) Both waits tell the driver's pools what is over, which questions do not.
  virtual void synchronize(native_event e) = 0;
  virtual double elapsed_milliseconds(native_event from, native_event to) = 0;

  // Work. Addresses may be of any kind and any device; pageable memory blocks the caller until it was read or written.
  virtual void copy(native_stream s, void* to, const void* from, std::size_t bytes) = 0;
  // Between two devices' own memory, whether or not they are peers.
  virtual void copy_peer(native_stream s, void* to, int to_device, const void* from, int from_device,
                         std::size_t bytes) = 0;
  // Several copies, none of which touches what another writes: they may run in any order. No pageable memory.
  virtual void copy_batch(native_stream s, std::span<const copy_part> parts) = 0;
  // Both sides reachable by the stream's device.
  virtual void copy_strided(native_stream s, const strided_bytes& to, const strided_bytes& from,
                            const strided_shape& shape) = 0;
  // The same with each number converted; shape.element_bytes does not count.
  virtual void convert_strided(native_stream s, const strided_bytes& to, number_type to_type, const strided_bytes& from,
                               number_type from_type, const strided_shape& shape) = 0;
  // Writes one element's bytes (at most 16) to every element.
  virtual void fill_strided(native_stream s, const strided_bytes& to, const strided_shape& shape,
                            const void* element) = 0;
  // Runs a function of the CPU in the order of the stream. It must not call ferry or the driver.
  virtual void run_on_host(native_stream s, std::function<void()> task) = 0;
  // The same for a task that touches bytes of the devices: `uses` are read during the call only, and looked for races.
  virtual void run_on_host_using(native_stream s, std::function<void()> task, std::span<const kernel_use> uses);
  // True if the backend checks for races. Constant.
  virtual bool finds_races() const { return false; }
  // Where finds_races(): the CPU was granted an access to these bytes, after its waits. Throws device_error when work that
  // uses the bytes is not known to be complete. Called with the log of the bytes locked.
  virtual void host_access(const kernel_use&) {}
  // Simulator only.
  virtual void launch(native_stream s, const host_kernel& kernel) = 0;
  // CUDA only; device: that of s.
  virtual void launch_compiled(native_stream s, int device, const compiled_launch& kernel);
  // Behind a launch that code which nvcc compiled made by itself: throws what went wrong with it.
  virtual void check_launch(native_stream s, std::string_view kernel) = 0;
  // Simulator only: the stream's part in a meeting, which touches `uses`, read during the call only.
  virtual void join_rendezvous(native_stream s, std::shared_ptr<rendezvous> m, std::span<const kernel_use> uses);

  // Unified memory
  virtual void prefetch(native_stream s, void* p, std::size_t bytes, memory_location to) = 0;
  // Several at once. discard: the old contents of all of them are lost, and need not travel.
  virtual void prefetch_many(native_stream s, std::span<const page_move> moves, bool discard) = 0;
  // From this point of the stream on the contents are undefined until they are written.
  virtual void discard(native_stream s, void* p, std::size_t bytes) = 0;
  // Where the pages were last prefetched to, if all to one place; they may have moved since. The simulator knows where
  // they are.
  virtual std::optional<memory_location> prefetched_to(const void* p, std::size_t bytes) const = 0;
  virtual void advise(void* p, std::size_t bytes, memory_advice advice, memory_location where) = 0;

  // Capture: everything given to s, and to streams that wait for events of s, becomes one graph.
  virtual void begin_capture(native_stream s) = 0;
  virtual native_graph end_capture(native_stream s) = 0;  // instantiated, ready to launch
  virtual bool is_capturing(native_stream s) = 0;
  virtual void launch_graph(native_graph g, native_stream s) = 0;
  virtual void destroy_graph(native_graph g) = 0;
};

}  // namespace ferry
