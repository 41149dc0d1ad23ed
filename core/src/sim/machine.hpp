// The simulator's backend: handles, CUDA's rules, and the operations that each backend call enqueues.
#pragma once
#include <array>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <utility>

#include "address_space.hpp"
#include "capture.hpp"
#include "driver_pools.hpp"
#include "ferry/core/detail/support/cpu_workers.hpp"
#include "ferry/core/detail/support/mutex.hpp"
#include "ferry/version.hpp"
#include "scheduler.hpp"
#include "sim_backend.hpp"
#include "work.hpp"

namespace ferry::inline FERRY_ABI::detail::sim {

// Returns a number for a machine, stream, event or graph. Numbers are unique in a process, so that stale and foreign
// handles are detected.
std::uint64_t fresh_id();
template <class Handle>
Handle to_handle(std::uint64_t id) {
  return {reinterpret_cast<void*>(static_cast<std::uintptr_t>(id))};
}
inline std::uint64_t to_id(const void* handle) { return reinterpret_cast<std::uintptr_t>(handle); }

class machine final : public backend, public inspector, public page_event_source {
 public:
  machine(const options& how, std::function<void(const kernel_text&)> check);
  ~machine() override { schedule_.stop(); }
  machine(const machine&) = delete;
  machine& operator=(const machine&) = delete;

  std::string_view name() const override { return options_.are_cpus ? "cpu" : "sim"; }
  bool is_simulated() const override { return true; }
  const driver_quirks& quirks() const override { return quirks_; }
  check_level level() const override { return options_.check; }
  int device_count() const override { return options_.devices; }
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
  pool_backend* pools() override { return &pools_; }

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
  void run_on_host(native_stream s, std::function<void()> task) override { run_on_host_using(s, std::move(task), {}); }
  void run_on_host_using(native_stream s, std::function<void()> task, std::span<const kernel_use> uses) override;
  bool finds_races() const override { return schedule_.finds_races(); }
  void host_access(const kernel_use& use) override;
  void launch(native_stream s, const host_kernel& kernel) override;
  bool compiles_functors() const override { return options_.nvrtc; }
  void* compile_functor(native_stream s, int device, const kernel_text& kernel) override;
  void evaluate(native_stream s, int device, const evaluation& what, std::span<const kernel_use> uses) override;
  void reduce(native_stream s, int device, const reduction_evaluation& what, std::span<const kernel_use> uses) override;
  void scatter(native_stream s, int device, const scatter_task& what, std::span<const kernel_use> uses) override;
  void sort(native_stream s, int device, const sorting_task& what, std::span<const kernel_use> uses) override;
  void check_launch(native_stream s, std::string_view kernel) override;
  void join_rendezvous(native_stream s, std::shared_ptr<rendezvous> m, std::span<const kernel_use> uses) override;

  void prefetch(native_stream s, void* p, std::size_t bytes, memory_location to) override;
  void prefetch_many(native_stream s, std::span<const page_move> moves, bool discard) override;
  void discard(native_stream s, void* p, std::size_t bytes) override;
  std::optional<memory_location> prefetched_to(const void* p, std::size_t bytes) const override;
  void advise(void* p, std::size_t bytes, memory_advice advice, memory_location where) override;

  void begin_capture(native_stream s) override;
  native_graph end_capture(native_stream s) override;
  bool is_capturing(native_stream s) override;
  void launch_graph(native_graph g, native_stream s) override;
  void destroy_graph(native_graph g) override;

  std::size_t pending_operations() override;
  std::map<int, std::size_t> residency(const void* p, std::size_t bytes) const override;
  traffic moved() const override;
  usage held(memory_kind kind, int device) const override;
  place at(const void* p) const override;
  void reset_errors() override;

  void count_page_events(bool on) override { memory_.count_events(on); }
  std::uint64_t page_clock() const override { return address_space::clock(); }
  std::size_t waiting_page_events() const override { return memory_.waiting_events(); }
  void take_page_events(std::vector<page_event>& to, bool) override { memory_.take_events(to); }
  std::uint64_t lost_page_events() const override { return memory_.lost_events(); }

 private:
  friend class driver_pools;
  struct stream {
    std::uint64_t id = 0;
    int device = 0;
    std::shared_ptr<queue> line;
    std::shared_ptr<capture> in;  // null: not capturing
  };
  struct event {
    int device = 0;
    bool timing = false;
    std::shared_ptr<signal> state;  // of the latest record; null: never recorded
    std::shared_ptr<capture> in;    // set if that record was captured: at this position
    capture::position at;
  };
  // Scope of one backend call: holds the scheduler lock; injects a random delay before and after.
  class call {
   public:
    explicit call(machine& m) : schedule_(m.schedule_), lock((schedule_.inject_delay(), schedule_.enter())) {}
    ~call() {
      if (lock.owns_lock()) lock.unlock();
      schedule_.inject_delay();
    }
    call(const call&) = delete;
    call& operator=(const call&) = delete;

   private:
    scheduler& schedule_;

   public:
    scheduler::lock lock;
  };

  void check_device(int device) const;
  stream& find(native_stream s);
  event& find(native_event e);
  stream& find_working(native_stream s);  // throws device_error if its device has failed
  std::string describe(native_event e) const;
  void may_fail(failing_verb verb, const scheduler::lock& l, int device, std::size_t bytes = 0);
  [[noreturn]] void refuse_in_capture(capture& in, const std::string& what);
  static std::vector<std::vector<std::size_t>> order_of(const std::vector<graph_node>& nodes);
  void run_nodes(const std::vector<graph_node>& nodes, const std::vector<std::vector<std::size_t>>& order);
  void take_part(const work& w, int device);
  operation part_of(const std::shared_ptr<rendezvous>& m, const graph_node& n);
  void refuse_captured(event& e, const std::string& what);
  void enqueue(call& c, stream& s, work w);
  // The threads that run the kernels of a device; null: each runs on the thread that runs the operation.
  cpu_workers* workers_of(int device) const {
    return workers_[workers_.size() == 1 ? 0 : static_cast<std::size_t>(device)].get();
  }
  kernel_mode mode(int device) const { return {schedule_.overlaps(), workers_of(device), options_.indices}; }
  void refuse_in_use(call& c, const void* p, std::size_t bytes);
  static std::vector<std::size_t> lines_of(const std::vector<graph_node>& nodes);
  std::shared_ptr<const footprint> footprint_of(const work& w) const {
    return schedule_.finds_races() ? sim::footprint_of(w, memory_) : nullptr;
  }
  // True if bytes of a pair in broken= go over its peer link: then they are lost, and no error is reported.
  bool are_lost(int device, std::span<const kernel_use> uses) const;
  // True if the device has the grant that the memory of another device needs.
  bool may_reach(int device, const void* p, const place& here) const;
  void refuse_ungranted(const stream& on, std::span<const kernel_use> uses) const;
  void check_managed(const void* p, std::size_t bytes, memory_location where, bool needs_concurrent,
                     std::string_view verb) const;

  const options options_;
  const driver_quirks quirks_;
  const std::uint64_t id_ = fresh_id();
  address_space memory_;
  scheduler schedule_;
  const std::vector<std::unique_ptr<cpu_workers>> workers_;  // of all devices, or of each; may be null
  const std::function<void(const kernel_text&)> check_functor_;
  mutex functors_mutex_;
  std::set<std::pair<int, std::string>> functors_
      FERRY_GUARDED_BY(functors_mutex_);  // device, code: that were compiled
  std::map<std::uint64_t, stream> streams_;
  std::map<std::uint64_t, event> events_;
  std::map<std::uint64_t, graph> graphs_;
  driver_pools pools_{*this};
  std::array<std::uint64_t, 4> calls_{};  // by failing_verb
  mutex current_mutex_;
  std::map<std::thread::id, int> current_
      FERRY_GUARDED_BY(current_mutex_);  // CUDA's current device of each thread; initially 0
};

}  // namespace ferry::inline FERRY_ABI::detail::sim
