// How much memory is used, by whom, and how much it was at most.
#pragma once
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <memory>
#include <string>
#include <vector>

#include "ferry/core/detail/accounting/allocation_observer.hpp"
#include "ferry/core/detail/accounting/memory_counters.hpp"
#include "ferry/core/detail/accounting/memory_source.hpp"
#include "ferry/core/memory_limits.hpp"

namespace ferry {

// All bytes are those of blocks: what was asked for, rounded up by the pool.
struct memory_usage {
  struct of_kind {
    memory_kind kind = memory_kind::device;
    std::size_t current_bytes = 0, peak_bytes = 0, total_bytes = 0;  // held by arrays: now, at most, ever
    std::size_t arrays = 0, total_arrays = 0;
    std::size_t reserved_bytes = 0;  // that pools hold of the driver's, with what they cache
    std::size_t largest_free_bytes = 0;
    std::size_t retained_bytes = 0;  // in no array and in no pool: kept by workspaces, or in quarantine (memory checks)
    std::size_t quarantined_bytes = 0;  // of these, in quarantine
  };
  struct of_device {
    int device = 0;
    std::string name;
    std::size_t free_bytes = 0, total_bytes = 0;  // as the driver sees it, whoever uses it
    std::array<of_kind, 3> kinds;                 // device, unified, host
    std::vector<std::string> limits;
  };
  struct of_label {  // a tag, or the name of arrays
    std::string label;
    bool is_tag = false;
    std::size_t current_bytes = 0, peak_bytes = 0, arrays = 0;
    std::size_t total_bytes = 0;  // ever
    struct place {
      memory_kind kind = memory_kind::device;
      int device = 0;
      std::size_t current_bytes = 0, arrays = 0;
    };
    std::vector<place> places;  // where the label holds something now; by device, then by kind
  };
  std::vector<of_device> devices;
  std::vector<of_label> labels;  // those that hold most first
  std::size_t pinned_bytes = 0;  // of the program's own memory, by fr::pin
  // In lines: effective use of each device, use of the pools, what is reserved, limits, tags.
  std::string text() const;
  // One object with the same fields.
  std::string json() const;
};

// Of the current machine. Exact while no other thread allocates or frees, but for peaks of several threads (see
// memory_counters::step). Never blocks on devices.
memory_usage memory_use();
// Prints memory_use().text().
void memory_status(std::ostream& out);
// What the calling thread allocated and freed of a kind on a device. Exact always.
memory_counts memory_counts_of_this_thread(memory_kind kind, device d);

// Bytes that arrays of a scope hold at most between its construction and now, exactly. Allocations everywhere cost some
// 20 ns more while there is one.
class memory_peak_meter : private allocation_observer {
 public:
  explicit memory_peak_meter(memory_scope scope);
  explicit memory_peak_meter(device d) : memory_peak_meter(memory_scope{d, {}, {}}) {}
  ~memory_peak_meter() override;
  memory_peak_meter(const memory_peak_meter&) = delete;
  memory_peak_meter& operator=(const memory_peak_meter&) = delete;

  std::size_t current_bytes() const { return now_.load(); }
  std::size_t peak_bytes() const { return peak_.load(); }
  // How much more than at the beginning.
  std::size_t growth_bytes() const { return peak_.load() - begin_; }
  void reset() { peak_.store(begin_ = now_.load()); }

 private:
  void on_allocate(allocation& a) noexcept override;
  void on_free(allocation& a) noexcept override;
  bool covers(const allocation& a) const noexcept;
  memory_scope scope_;
  memory_label tag_;
  std::uint64_t runtime_;
  std::atomic<std::size_t> now_{0}, peak_{0};
  std::size_t begin_ = 0;
};

// Would this fit? Answers for now, without allocating: other threads and processes may be faster.
class memory_budget {
 public:
  // The scope must name a device. Throws invalid_argument.
  explicit memory_budget(memory_scope scope);
  explicit memory_budget(device d) : memory_budget(memory_scope{d, memory_kind::device, {}}) {}

  // The most bytes that new arrays of the scope may hold together; device memory unless .kind says otherwise. Pools that
  // round sizes, or keep free bytes in pieces, may have room for less, and so have several arrays with red zones each. What a
  // workspace keeps is not free, but within a scope of it (see workspace_scope), and what is in quarantine is not.
  std::size_t available_bytes() const;
  // Whether one array of so many bytes can be had without freeing another: by limits, what the driver has, and the rules of
  // the pool that new arrays of this thread come from (see pool_scope and workspace_scope), whose caches and those of others
  // are given back when that helps; before it says no, the quarantine ends and cached unified memory goes back, which may block. It
  // sees no room that needs arrays moved, evicted or freed (by callbacks), nor that the driver's pools lack pages to give all.
  bool would_fit(std::size_t bytes) const;

 private:
  struct room {
    request_cost cost;
    std::size_t from_driver = 0, trimmable = 0, pieces = 0;
    std::size_t zones = 0;                                 // around each array, see memory_checks
    std::size_t kept = 0, kept_block = 0;                  // by the workspace of the thread's scope; for this array
    std::size_t by_limits = SIZE_MAX, by_tags = SIZE_MAX;  // what they leave
  };
  room look(std::size_t bytes) const;
  memory_scope scope_;
};

}  // namespace ferry
