// Forwards to another backend and counts the calls, for tests of claims such as "no call to the driver".
#pragma once
#include <atomic>
#include <functional>
#include <utility>

#include <ferry/core/detail/backend/backend.hpp>

namespace support {

// Numbers of calls so far: all calls, and those that order work.
struct call_counts {
  std::atomic<long> all{0}, records{0}, stream_waits{0}, cpu_waits{0};
  std::function<void()> after_record;  // if set: called once, after the next record(), by the same thread
};

class counting_backend : public ferry::detail::backend {
 public:
  // `below` must outlive this object.
  counting_backend(ferry::detail::backend& below, call_counts& calls) : below_(below), calls_(calls) {}

  std::string_view name() const override { return below_.name(); }
  bool is_simulated() const override { return below_.is_simulated(); }
  const ferry::detail::driver_quirks& quirks() const override { return below_.quirks(); }
  ferry::check_level level() const override { return below_.level(); }
  int device_count() const override { return below_.device_count(); }
  ferry::detail::device_properties properties(int d) const override { return counted().properties(d); }
  ferry::detail::device_memory memory(int d) const override { return counted().memory(d); }
  bool can_access_peer(int d, int peer) const override { return counted().can_access_peer(d, peer); }
  void enable_peer_access(int d, int peer) override { counted().enable_peer_access(d, peer); }
  void disable_peer_access(int d, int peer) override { counted().disable_peer_access(d, peer); }
  ferry::detail::peer_properties peer(int d, int other) const override { return counted().peer(d, other); }
  int exchange_current_device(int d) override { return counted().exchange_current_device(d); }
  void* allocate(ferry::memory_kind k, int d, std::size_t bytes) override { return counted().allocate(k, d, bytes); }
  void release(ferry::memory_kind k, int d, void* p, std::size_t n) override { counted().release(k, d, p, n); }
  ferry::detail::pool_backend* pools() override { return counted().pools(); }

  ferry::detail::pointer_attributes attributes(const void* p) override { return counted().attributes(p); }
  void pin(void* p, std::size_t n) override { counted().pin(p, n); }
  void unpin(void* p, std::size_t n) override { counted().unpin(p, n); }

  ferry::native_stream create_stream(int d, int priority) override { return counted().create_stream(d, priority); }
  void destroy_stream(ferry::native_stream s) override { counted().destroy_stream(s); }
  std::uint64_t stream_id(ferry::native_stream s) override { return counted().stream_id(s); }
  std::optional<int> device_of(ferry::native_stream s) override { return counted().device_of(s); }
  bool is_done(ferry::native_stream s) override { return counted().is_done(s); }
  void synchronize(ferry::native_stream s) override { counted(calls_.cpu_waits).synchronize(s); }
  ferry::native_event create_event(int d, bool timing) override { return counted().create_event(d, timing); }
  void destroy_event(ferry::native_event e) override { counted().destroy_event(e); }
  void record(ferry::native_event e, ferry::native_stream s) override {
    counted(calls_.records).record(e, s);
    if (calls_.after_record) std::exchange(calls_.after_record, nullptr)();
  }
  void wait(ferry::native_stream s, ferry::native_event e) override { counted(calls_.stream_waits).wait(s, e); }
  bool is_done(ferry::native_event e) override { return counted().is_done(e); }
  void synchronize(ferry::native_event e) override { counted(calls_.cpu_waits).synchronize(e); }
  double elapsed_milliseconds(ferry::native_event a, ferry::native_event b) override {
    return counted().elapsed_milliseconds(a, b);
  }

  void copy(ferry::native_stream s, void* to, const void* from, std::size_t n) override {
    counted().copy(s, to, from, n);
  }
  void copy_peer(ferry::native_stream s, void* to, int td, const void* from, int fd, std::size_t n) override {
    counted().copy_peer(s, to, td, from, fd, n);
  }
  void copy_batch(ferry::native_stream s, std::span<const ferry::detail::copy_part> parts) override {
    counted().copy_batch(s, parts);
  }
  void convert_strided(ferry::native_stream s, const ferry::detail::strided_bytes& to, ferry::detail::number_type tt,
                       const ferry::detail::strided_bytes& from, ferry::detail::number_type ft,
                       const ferry::detail::strided_shape& shape) override {
    counted().convert_strided(s, to, tt, from, ft, shape);
  }
  void copy_strided(ferry::native_stream s, const ferry::detail::strided_bytes& to,
                    const ferry::detail::strided_bytes& from, const ferry::detail::strided_shape& shape) override {
    counted().copy_strided(s, to, from, shape);
  }
  void fill_strided(ferry::native_stream s, const ferry::detail::strided_bytes& to,
                    const ferry::detail::strided_shape& shape, const void* element) override {
    counted().fill_strided(s, to, shape, element);
  }
  void run_on_host(ferry::native_stream s, std::function<void()> f) override { counted().run_on_host(s, std::move(f)); }
  void run_on_host_using(ferry::native_stream s, std::function<void()> f,
                         std::span<const ferry::detail::kernel_use> uses) override {
    counted().run_on_host_using(s, std::move(f), uses);
  }
  bool finds_races() const override { return below_.finds_races(); }
  void host_access(const ferry::detail::kernel_use& use) override { below_.host_access(use); }  // not a driver call
  void launch(ferry::native_stream s, const ferry::detail::host_kernel& k) override { counted().launch(s, k); }
  void evaluate(ferry::native_stream s, int d, const ferry::detail::evaluation& e,
                std::span<const ferry::detail::kernel_use> uses) override {
    counted().evaluate(s, d, e, uses);
  }
  bool prepare_evaluation(int d, const ferry::detail::evaluation& e) override {
    return counted().prepare_evaluation(d, e);
  }
  void reduce(ferry::native_stream s, int d, const ferry::detail::reduction_evaluation& r,
              std::span<const ferry::detail::kernel_use> uses) override {
    counted().reduce(s, d, r, uses);
  }
  bool prepare_reduction(int d, const ferry::detail::reduction_evaluation& r) override {
    return counted().prepare_reduction(d, r);
  }
  std::string explain_reduction(int d, const ferry::detail::reduction_evaluation& r) override {
    return below_.explain_reduction(d, r);
  }
  std::size_t scratch_bytes(const ferry::detail::reduction_evaluation& r) override { return below_.scratch_bytes(r); }
  void sort(ferry::native_stream s, int d, const ferry::detail::sorting_task& t,
            std::span<const ferry::detail::kernel_use> uses) override {
    counted().sort(s, d, t, uses);
  }
  std::size_t sorting_scratch(int d, const ferry::detail::sorting_task& t) override {
    return below_.sorting_scratch(d, t);
  }
  void scatter(ferry::native_stream s, int d, const ferry::detail::scatter_task& t,
               std::span<const ferry::detail::kernel_use> uses) override {
    counted().scatter(s, d, t, uses);
  }
  std::string explain_evaluation(int d, const ferry::detail::evaluation& e) override {
    return below_.explain_evaluation(d, e);
  }
  bool compiles_functors() const override { return below_.compiles_functors(); }
  void* compile_functor(ferry::native_stream s, int device, const ferry::detail::kernel_text& k) override {
    return below_.compile_functor(s, device, k);
  }
  void launch_compiled(ferry::native_stream s, int device, const ferry::detail::compiled_launch& k) override {
    counted().launch_compiled(s, device, k);
  }
  void check_launch(ferry::native_stream s, std::string_view kernel) override { counted().check_launch(s, kernel); }
  void join_rendezvous(ferry::native_stream s, std::shared_ptr<ferry::detail::rendezvous> m,
                       std::span<const ferry::detail::kernel_use> uses) override {
    counted().join_rendezvous(s, std::move(m), uses);
  }
  void prefetch(ferry::native_stream s, void* p, std::size_t n, ferry::memory_location to) override {
    counted().prefetch(s, p, n, to);
  }
  void prefetch_many(ferry::native_stream s, std::span<const ferry::detail::page_move> moves, bool discard) override {
    counted().prefetch_many(s, moves, discard);
  }
  void discard(ferry::native_stream s, void* p, std::size_t n) override { counted().discard(s, p, n); }
  std::optional<ferry::memory_location> prefetched_to(const void* p, std::size_t n) const override {
    return counted().prefetched_to(p, n);
  }
  void advise(void* p, std::size_t n, ferry::memory_advice a, ferry::memory_location at) override {
    counted().advise(p, n, a, at);
  }

  void begin_capture(ferry::native_stream s) override { counted().begin_capture(s); }
  ferry::native_graph end_capture(ferry::native_stream s) override { return counted().end_capture(s); }
  bool is_capturing(ferry::native_stream s) override { return counted().is_capturing(s); }
  void launch_graph(ferry::native_graph g, ferry::native_stream s) override { counted().launch_graph(g, s); }
  void destroy_graph(ferry::native_graph g) override { counted().destroy_graph(g); }

 private:
  ferry::detail::backend& counted() const {
    ++calls_.all;
    return below_;
  }
  ferry::detail::backend& counted(std::atomic<long>& kind) const {
    ++kind;
    return counted();
  }
  ferry::detail::backend& below_;
  call_counts& calls_;
};

}  // namespace support
