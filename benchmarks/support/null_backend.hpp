// A backend whose calls do nothing: measures ferry's own cost, without a driver.
#pragma once
#include <atomic>
#include <cstdlib>
#include <utility>

#include <ferry/core/detail/backend/backend.hpp>

namespace benchmarks {

class null_backend : public ferry::detail::backend {
 public:
  explicit null_backend(int devices = 2) : devices_(devices) {}

  std::string_view name() const override { return "null"; }
  bool is_simulated() const override { return true; }
  const ferry::detail::driver_quirks& quirks() const override { return quirks_; }
  ferry::check_level level() const override { return ferry::check_level::none; }  // as on CUDA in release builds
  int device_count() const override { return devices_; }
  ferry::detail::device_properties properties(int) const override {
    return {"null", std::size_t{1} << 40, 1, 0, 0, true};
  }
  ferry::detail::device_memory memory(int) const override { return {std::size_t{1} << 40, std::size_t{1} << 40}; }
  bool can_access_peer(int, int) const override { return true; }
  void enable_peer_access(int, int) override {}
  void disable_peer_access(int, int) override {}
  ferry::detail::peer_properties peer(int, int) const override { return {true, true, 0}; }
  int exchange_current_device(int device) override { return std::exchange(current_device, device); }

  void* allocate(ferry::memory_kind, int, std::size_t bytes) override {
    return std::aligned_alloc(4096, (bytes + 4095) / 4096 * 4096);
  }
  void release(ferry::memory_kind, int, void* p, std::size_t) override { std::free(p); }
  ferry::detail::pointer_attributes attributes(const void*) override { return {}; }
  void pin(void*, std::size_t) override {}
  void unpin(void*, std::size_t) override {}

  ferry::native_stream create_stream(int, int) override { return {handle()}; }
  void destroy_stream(ferry::native_stream) override {}
  std::uint64_t stream_id(ferry::native_stream s) override { return reinterpret_cast<std::uint64_t>(s.handle); }
  std::optional<int> device_of(ferry::native_stream) override { return std::nullopt; }
  bool is_done(ferry::native_stream) override { return true; }
  void synchronize(ferry::native_stream) override {}
  ferry::native_event create_event(int, bool) override { return {handle()}; }
  void destroy_event(ferry::native_event) override {}
  void record(ferry::native_event, ferry::native_stream) override {}
  void wait(ferry::native_stream, ferry::native_event) override {}
  bool is_done(ferry::native_event) override { return true; }
  void synchronize(ferry::native_event) override {}
  double elapsed_milliseconds(ferry::native_event, ferry::native_event) override { return 0; }

  void copy(ferry::native_stream, void*, const void*, std::size_t) override {}
  void copy_peer(ferry::native_stream, void*, int, const void*, int, std::size_t) override {}
  void copy_batch(ferry::native_stream, std::span<const ferry::detail::copy_part>) override {}
  void convert_strided(ferry::native_stream, const ferry::detail::strided_bytes&, ferry::detail::number_type,
                       const ferry::detail::strided_bytes&, ferry::detail::number_type,
                       const ferry::detail::strided_shape&) override {}
  void copy_strided(ferry::native_stream, const ferry::detail::strided_bytes&, const ferry::detail::strided_bytes&,
                    const ferry::detail::strided_shape&) override {}
  void fill_strided(ferry::native_stream, const ferry::detail::strided_bytes&, const ferry::detail::strided_shape&,
                    const void*) override {}
  void run_on_host(ferry::native_stream, std::function<void()>) override {}
  void launch(ferry::native_stream, const ferry::detail::host_kernel&) override {}
  void check_launch(ferry::native_stream, std::string_view) override {}
  void prefetch(ferry::native_stream, void*, std::size_t, ferry::memory_location) override {}
  void prefetch_many(ferry::native_stream, std::span<const ferry::detail::page_move>, bool) override {}
  void discard(ferry::native_stream, void*, std::size_t) override {}
  std::optional<ferry::memory_location> prefetched_to(const void*, std::size_t) const override { return {}; }
  void advise(void*, std::size_t, ferry::memory_advice, ferry::memory_location) override {}

  void begin_capture(ferry::native_stream) override {}
  ferry::native_graph end_capture(ferry::native_stream) override { return {handle()}; }
  bool is_capturing(ferry::native_stream) override { return false; }
  void launch_graph(ferry::native_graph, ferry::native_stream) override {}
  void destroy_graph(ferry::native_graph) override {}

 private:
  void* handle() { return reinterpret_cast<void*>(++handles_); }
  static inline thread_local int current_device = 0;
  const int devices_;
  const ferry::detail::driver_quirks quirks_;  // all of them: the workarounds are part of ferry's own cost
  std::atomic<std::uintptr_t> handles_{0};
};

}  // namespace benchmarks
