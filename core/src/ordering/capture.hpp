// Ordering inside a capture: arrays get logs local to it; outer logs and clocks are neither read nor written (R18).
#pragma once
#include <atomic>
#include <functional>
#include <map>
#include <set>
#include <span>
#include <string_view>
#include <vector>

#include "ferry/core/detail/ordering/access_guard.hpp"

namespace ferry {

// What a captured graph needs to be launched: the graph, the bytes that it touches, and what keeps them alive.
struct captured_graph {
  native_graph graph;
  std::vector<access> uses;  // reads and writes apart, ranges merged
  std::vector<allocation_ref> keep;
  std::vector<std::function<void(timeline&)>> listeners;  // of its launches
  std::vector<std::function<void()>> effects;             // on what the library itself knows of arrays
  std::set<int> page_users;                               // devices whose links for pages are not tested yet
  std::set<int> devices;                                  // that do the work
};

// Throws when no work may be given to the stream: it was released, or it is being captured by somebody else.
void refuse_special(timeline& on);

class capture_session {
 public:
  explicit capture_session(timeline& origin);
  // Ends a capture that was not finished, dropping what it holds.
  ~capture_session();
  capture_session(const capture_session&) = delete;
  capture_session& operator=(const capture_session&) = delete;

  // Of any thread. A capture that begins later makes the CPU ask again for what it uses.
  static bool is_any_under_way() { return under_way_.load() != 0; }

  // Makes the next submission to `on` come after what it conflicts with inside the capture.
  void order(timeline& on, std::span<access> uses);
  void submitted(timeline& on, std::span<access> uses) noexcept;
  // The same for one operation of several streams, whose parts do not conflict.
  void order(std::span<joint_guard::part> parts);
  void submitted(std::span<joint_guard::part> parts) noexcept;
  [[noreturn]] void refuse(std::string_view what, std::span<const access> uses) const;
  void when_launched(std::function<void(timeline&)> f) { listeners_.push_back(std::move(f)); }
  void at_each_launch(std::function<void()> f) { effects_.push_back(std::move(f)); }
  std::uint64_t serial() const { return serial_; }
  // The next submission is a launch of that graph. It comes after the last one of the same graph in this capture, as it would
  // outside: what the graph calls (NCCL, functions of the CPU) may not stand two at once, and no log knows of that. Launches inside
  // of other graphs are not looked at.
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
  ferry::backend& backend_;
  const std::uint64_t serial_ = ++last_serial_;
  bool active_ = false;
  native_event fork_;
  std::vector<step> steps_;
  std::vector<timeline*> joined_;
  std::map<std::pair<timeline*, timeline*>, std::size_t> waited_;  // how many steps of the second the first comes after
  std::vector<native_event> events_;
  std::map<allocation*, std::vector<local_use>> logs_;
  std::vector<allocation_ref> keep_;
  std::vector<std::function<void(timeline&)>> listeners_;
  std::vector<std::function<void()>> effects_;
  std::set<int> page_users_, devices_;
  const void* launching_ = nullptr;
  std::map<const void*, std::size_t> launched_;  // the last step of each graph
};

}  // namespace ferry
