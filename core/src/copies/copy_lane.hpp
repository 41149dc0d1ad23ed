// What copies go through beside the stream they are given: internal streams, with a ring of chunks between two of them.
#pragma once
#include <memory>
#include <mutex>
#include <vector>

#include "ferry/core/detail/backend/backend.hpp"

namespace ferry {

// Memory of the chunks, the devices of the two streams, and sizes. Lanes of equal keys can stand in for each other.
struct lane_key {
  memory_kind kind = memory_kind::host;
  int home = 0;         // whose memory, or near to which device
  int in = 0, out = 0;  // devices of the streams that fill and empty the chunks
  std::size_t chunk_bytes = 0, chunks = 0;
  bool operator==(const lane_key&) const = default;
};

// Used by one operation at a time; what it still has to do is over before its chunks are used again, by their events.
class copy_lane {
 public:
  struct chunk {
    std::byte* data = nullptr;
    native_event filled, emptied;  // of the devices of in and out
  };
  copy_lane(ferry::backend& backend, const lane_key& key);
  // The work of its streams must be over.
  ~copy_lane();
  copy_lane(const copy_lane&) = delete;
  copy_lane& operator=(const copy_lane&) = delete;

  const lane_key& key() const { return key_; }
  native_stream in() const { return in_; }
  native_stream out() const { return out_; }
  // The chunks in turn. Each operation begins with the same ones: those may still be in the CPU's cache.
  chunk& next() { return chunks_[turn_++ % chunks_.size()]; }
  void restart() { turn_ = 0; }
  // Makes an event for fork() from streams of a device; all that can throw comes before a submission.
  void reserve_fork_event(int device);
  // Both streams come after all that was given to s, a stream of that device.
  void fork(native_stream s, int device);
  // The stream that it was last forked from; of no handle before.
  native_stream last_forked_from() const { return last_forked_from_; }
  // What is given to s from now on comes after all that the lane was given.
  void join(native_stream s);
  // Whether all is over. Never blocks.
  bool is_idle();

 private:
  void make();
  void unmake() noexcept;
  ferry::backend& backend_;
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
// A lane for one operation; goes back when its submission is over.
using lane_lease = std::unique_ptr<copy_lane, lane_return>;

class lane_stock {
 public:
  // Lanes of one key beyond which one that is still busy is used again.
  static constexpr std::size_t most = 4;
  explicit lane_stock(ferry::backend& backend) : backend_(backend) {}
  // The idle lane of that key that was given back last, whose chunks may still be in the CPU's cache; else a new one, or
  // the one that was given back first. A new one may block. in_turn: the one stream whose operations come one after the other;
  // a lane that it used last is taken though it be busy, so that two are enough for pieces of one source. (From memory of the CPU into chunks, beside
  // copies to an H200, 8 threads brought 57.5 GB/s where the chunks were 64 MiB in all, 39.7 with 128 MiB, 32.5 with 256 MiB.)
  lane_lease take(const lane_key& key, int forked_from, native_stream in_turn = {});
  // Gives the memory of such a kind, of or near a device, back to the system: that of all lanes which nobody uses, after
  // waiting for their work. Returns the bytes.
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
  ferry::backend& backend_;
  std::mutex mutex_;
  std::vector<entry> all_;
  std::uint64_t returns_ = 0;
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

}  // namespace ferry
