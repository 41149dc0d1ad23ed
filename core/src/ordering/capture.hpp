// Ordering inside a capture: arrays get access histories local to it. Outer histories and vector clocks are neither
// read nor written (R18).
#pragma once
#include <atomic>
#include <functional>
#include <map>
#include <set>
#include <span>
#include <string_view>
#include <vector>

#include "ferry/core/detail/ordering/access_guard.hpp"

namespace ferry::inline FERRY_ABI::detail {

// What launching a captured graph needs: the graph, the bytes that it uses, and references to their allocations.
struct captured_graph {
  native_graph graph;
  std::vector<access> uses;  // reads and writes separate, ranges merged
  std::vector<allocation_ref> keep;
  std::vector<std::function<void(timeline&)>> listeners;  // called at each launch
  std::vector<std::function<void()>> effects;  // called at each launch, to update ferry's own state of arrays
  std::set<int> page_users;                    // devices whose links for pages are not tested yet
  std::set<int> devices;                       // devices that do the work
};

// Throws if the stream cannot take work. invalid_argument: it is released, captured by another thread, or a default
// stream of a device that is not current. device_error: its device has failed, or a raw pointer on it may use lost
// data. not_supported: the program captures it outside ferry.
void refuse_special(timeline& on);

class capture_session {
 public:
  explicit capture_session(timeline& origin);
  // Ends and discards a capture that was not finished.
  ~capture_session();
  capture_session(const capture_session&) = delete;
  capture_session& operator=(const capture_session&) = delete;

  // True if any thread is capturing. A capture that begins later forces a new host access check for the arrays it uses.
  static bool is_any_under_way() { return under_way_.load() != 0; }

  // Orders the next submission to `on` behind conflicting submissions of this capture.
  void order(timeline& on, std::span<access> uses);
  void submitted(timeline& on, std::span<access> uses) noexcept;
  // Overloads for one operation of several streams, whose parts do not conflict.
  void order(std::span<joint_guard::part> parts);
  void submitted(std::span<joint_guard::part> parts) noexcept;
  [[noreturn]] void refuse(std::string_view what, std::span<const access> uses) const;
  void when_launched(std::function<void(timeline&)> f) { listeners_.push_back(std::move(f)); }
  void at_each_launch(std::function<void()> f) { effects_.push_back(std::move(f)); }
  std::uint64_t serial() const { return serial_; }
  // Marks the next submission as a launch of that graph. It is ordered behind the last launch of the same graph in this
  // capture, as outside of a capture. Launches of one graph are serialized, because access histories do not track its
  // NCCL calls and host functions. Launches inside other graphs are not considered.
  void launches(const void* graph) { launching_ = graph; }
  void uses_pages(int device) { page_users_.insert(device); }
  void uses_device(int device) { devices_.insert(device); }
  captured_graph finish();

 private:
  static inline std::atomic<int> under_way_{0};
  static inline std::atomic<std::uint64_t> last_serial_{0};
  struct step {  // one captured submission
    timeline* on;
    native_event done;
  };
  struct local_use {
    std::size_t step;
    byte_range where;
    bool write;
  };
  native_event fresh_event(int device);
  void join(timeline& on);
  native_graph end();
  void abandon() noexcept;
  void free_streams() noexcept;
  timeline& origin_;
  backend& backend_;
  const std::uint64_t serial_ = ++last_serial_;
  bool active_ = false;
  native_event fork_;
  std::vector<step> steps_;
  std::vector<timeline*> joined_;
  // number of steps of the second that the first is ordered behind
  std::map<std::pair<timeline*, timeline*>, std::size_t> waited_;
  std::vector<native_event> events_;
  std::map<allocation*, std::vector<local_use>> logs_;
  std::vector<allocation_ref> keep_;
  std::vector<std::function<void(timeline&)>> listeners_;
  std::vector<std::function<void()>> effects_;
  std::set<int> page_users_, devices_;
  const void* launching_ = nullptr;
  std::map<const void*, std::size_t> launched_;  // the last launch of each graph
};

}  // namespace ferry::inline FERRY_ABI::detail
