/// @file
/// Current and peak use of memory, by device, kind, tag and name.
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
#include "ferry/version.hpp"

namespace ferry::inline FERRY_ABI {

/// @addtogroup memory
/// @{

/// Memory use of a runtime. All bytes are block sizes: the requested size, rounded up by the pool.
struct memory_usage {
  /// Memory use of one kind on one device.
  struct of_kind {
    memory_kind kind = memory_kind::device;
    std::size_t current_bytes = 0, peak_bytes = 0, total_bytes = 0;  ///< in arrays: now, at most, in total
    std::size_t arrays = 0, total_arrays = 0;
    std::size_t reserved_bytes = 0;  ///< bytes that pools hold, including cached ones
    std::size_t largest_free_bytes = 0;
    std::size_t retained_bytes = 0;     ///< in no array and in no pool: retained by workspaces, or in quarantine
    std::size_t quarantined_bytes = 0;  ///< part of retained_bytes that is in quarantine
  };
  /// Memory use of one device.
  struct of_device {
    int device = 0;
    std::string name;
    std::size_t free_bytes = 0, total_bytes = 0;  ///< as the driver reports them, for all processes
    std::array<of_kind, 3> kinds;                 ///< device, unified, host
    std::vector<std::string> limits;
  };
  /// Memory use of a tag, or of arrays of the same name.
  struct of_label {
    std::string label;
    bool is_tag = false;
    std::size_t current_bytes = 0, peak_bytes = 0, arrays = 0;
    std::size_t total_bytes = 0;  ///< of all allocations so far
    struct place {
      memory_kind kind = memory_kind::device;
      int device = 0;
      std::size_t current_bytes = 0, arrays = 0;
    };
    std::vector<place> places;  ///< places where the label holds bytes now; by device, then by kind
  };
  std::vector<of_device> devices;
  std::vector<of_label> labels;  ///< largest first
  std::size_t pinned_bytes = 0;  ///< host memory of the program that is pinned by ferry::pin
  /// Lines of text: use of each device and of the pools, retained bytes, limits, tags.
  std::string text() const;
  /// One JSON object with the same fields.
  std::string json() const;
};

/// Memory use of the current runtime. Never blocks on devices. Exact while no other thread allocates or frees, except
/// for peaks of several threads (see memory_counters::step).
memory_usage memory_use();
/// Prints memory_use().text().
void memory_status(std::ostream& out);
/// Allocations and frees of the calling thread, of one kind on one device. Always exact.
detail::memory_counts memory_counts_of_this_thread(memory_kind kind, device d);

/// Measures the exact peak of the bytes that arrays of a scope hold, from construction to now. While one exists, each
/// allocation costs about 20 ns more.
class memory_peak_meter : private detail::allocation_observer {
 public:
  explicit memory_peak_meter(memory_scope scope);
  explicit memory_peak_meter(device d) : memory_peak_meter(memory_scope{d, {}, {}}) {}
  ~memory_peak_meter() override;
  memory_peak_meter(const memory_peak_meter&) = delete;
  memory_peak_meter& operator=(const memory_peak_meter&) = delete;

  /// Bytes that arrays of the scope hold now.
  std::size_t current_bytes() const { return now_.load(); }
  /// Peak of those bytes.
  std::size_t peak_bytes() const { return peak_.load(); }
  /// Peak minus the bytes at construction or the last reset().
  std::size_t growth_bytes() const { return peak_.load() - begin_; }
  /// Restarts the measurement: the current bytes become both the peak and the start.
  void reset() { peak_.store(begin_ = now_.load()); }

 private:
  void on_allocate(detail::allocation& a) noexcept override;
  void on_free(detail::allocation& a) noexcept override;
  bool covers(const detail::allocation& a) const noexcept;
  memory_scope scope_;
  detail::memory_label tag_;
  std::uint64_t runtime_;
  std::atomic<std::size_t> now_{0}, peak_{0};
  std::size_t begin_ = 0;
};

/// Predicts whether allocations fit, without allocating. The answer is for the current state: other threads and
/// processes may allocate first.
class memory_budget {
 public:
  /// @param scope must name a device
  /// @throws invalid_argument if it names none
  explicit memory_budget(memory_scope scope);
  /// Budget for device memory of one device.
  explicit memory_budget(device d) : memory_budget(memory_scope{d, memory_kind::device, {}}) {}

  /// The most bytes that new arrays of the scope may hold together; of device memory if .kind is empty. Pools that
  /// round sizes or have fragmented free bytes may hold less, and so may several arrays with red zones. Blocks that a
  /// workspace retains count as free only within a scope of it (see workspace_scope). Blocks in quarantine do not count
  /// as free.
  std::size_t available_bytes() const;
  /// True if one array of this size fits without freeing another one.
  ///
  /// Considers limits, the driver's free memory, and the rules of the pool of this thread's new arrays (see pool_scope
  /// and workspace_scope). Caches of all pools count as free if releasing them helps. Before it returns false, it
  /// empties the quarantine and releases cached unified memory, which may block. It does not count room that requires
  /// moving or evicting arrays, or callbacks that free them. It also does not detect that the driver's pools lack pages
  /// to release everything.
  bool would_fit(std::size_t bytes) const;

 private:
  struct room {
    detail::request_cost cost;
    std::size_t from_driver = 0, trimmable = 0, pieces = 0;
    std::size_t zones = 0;                         // around each array; see memory_checks
    std::size_t retained = 0, retained_block = 0;  // retained by the workspace of the thread's scope; for this array
    std::size_t by_limits = SIZE_MAX, by_tags = SIZE_MAX;  // what limits and limits of tags leave
  };
  room look(std::size_t bytes) const;
  memory_scope scope_;
};

/// @}

}  // namespace ferry::inline FERRY_ABI
