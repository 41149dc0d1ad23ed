// Staging streams of copies: a pair of internal streams with a ring of chunks between them.
#pragma once
#include <memory>
#include <vector>

#include "ferry/core/detail/backend/backend.hpp"
#include "ferry/core/detail/support/mutex.hpp"

namespace ferry::inline FERRY_ABI::detail {

// Memory of the chunks, devices of the two streams, and sizes. Lanes of equal keys are interchangeable.
struct lane_key {
  memory_kind kind = memory_kind::host;
  int home = 0;         // the device that owns the memory, or that it is near to
  int in = 0, out = 0;  // devices of the streams that fill and empty the chunks
  std::size_t chunk_bytes = 0, chunks = 0;
  bool operator==(const lane_key&) const = default;
};

// Used by one operation at a time. Events of the chunks order reuse behind earlier work on them.
class copy_lane {
 public:
  struct chunk {
    std::byte* data = nullptr;
    native_event filled, emptied;  // recorded on the devices of in and out
  };
  copy_lane(detail::backend& backend, const lane_key& key);
  // The work of its streams must be complete.
  ~copy_lane();
  copy_lane(const copy_lane&) = delete;
  copy_lane& operator=(const copy_lane&) = delete;

  const lane_key& key() const { return key_; }
  native_stream in() const { return in_; }
  native_stream out() const { return out_; }
  // Returns the chunks in a cycle. Each operation begins with the same ones, which may still be in the CPU's cache.
  chunk& next() { return chunks_[turn_++ % chunks_.size()]; }
  void restart() { turn_ = 0; }
  // Creates an event for fork() from streams of a device. Call before a submission, because it may throw.
  void reserve_fork_event(int device);
  // Orders both streams behind all work enqueued on s, a stream of that device.
  void fork(native_stream s, int device);
  // The stream of the last fork(); a null handle before the first one.
  native_stream last_forked_from() const { return last_forked_from_; }
  // Orders later work on s behind all work of the lane.
  void join(native_stream s);
  // True if all work is complete. Never blocks.
  bool is_idle();

 private:
  void make();
  void unmake() noexcept;
  detail::backend& backend_;
  const lane_key key_;
  native_stream in_, out_, last_forked_from_;
  std::vector<chunk> chunks_;
  std::size_t turn_ = 0;
  native_event in_done_, out_done_;
  std::vector<native_event> forks_;  // by device of the forking stream
};

class lane_stock;
struct lane_return {
  lane_stock* stock = nullptr;
  void operator()(copy_lane* lane) const;
};
// A lane checked out for one operation; returned to the stock after its submission.
using lane_lease = std::unique_ptr<copy_lane, lane_return>;

class lane_stock {
 public:
  // If so many lanes of a key exist, a busy one is reused instead of creating another.
  static constexpr std::size_t most = 4;
  explicit lane_stock(detail::backend& backend) : backend_(backend) {}
  // Returns the idle lane of that key that was returned last, whose chunks may still be in the CPU's cache. Otherwise
  // creates one, or reuses the one that was returned first. Creating one may block. in_turn: the stream whose
  // operations run one after the other. A lane that it used last is taken even if busy, so that two are enough for
  // pieces of one source. Measured from memory of the CPU into chunks, beside copies to an H200, with 8 threads: 57.5
  // GB/s for chunks of 64 MiB in total, 39.7 for 128 MiB, 32.5 for 256 MiB.
  lane_lease take(const lane_key& key, int forked_from, native_stream in_turn = {});
  // Releases the memory of a kind, of or near a device, of all unused lanes. Blocks until their work is complete.
  // Returns the bytes.
  std::size_t trim(memory_kind kind, int device);

 private:
  friend lane_return;
  struct entry {
    std::unique_ptr<copy_lane> lane;
    bool taken = true;
    std::uint64_t returned = 0;
  };
  copy_lane* find(const lane_key& key, native_stream in_turn);
  void give_back(copy_lane& lane);
  detail::backend& backend_;
  mutex mutex_;
  std::vector<entry> all_ FERRY_GUARDED_BY(mutex_);
  std::uint64_t returns_ FERRY_GUARDED_BY(mutex_) = 0;
};

// The lanes of one operation, whose steps use them one after the other.
class lane_set {
 public:
  lane_set(lane_stock& stock, int forked_from, native_stream in_turn = {})
      : stock_(stock),
        forked_from_(forked_from),
        in_turn_(in_turn) {}
  copy_lane& get(const lane_key& key);
  bool is_in_turn() const { return in_turn_.handle != nullptr; }
  // Calls f(device) for each device that the lanes have streams on.
  template <class F>
  void each_device(F f) const {
    for (const lane_lease& l : leases_) f(l->key().in), f(l->key().out);
  }

 private:
  lane_stock& stock_;
  const int forked_from_;
  const native_stream in_turn_;
  std::vector<lane_lease> leases_;
};

}  // namespace ferry::inline FERRY_ABI::detail
