// Enqueues one contiguous copy, for each kind of route.
#pragma once
#include <memory>
#include <vector>

#include "copies/copy_engine.hpp"
#include "ferry/version.hpp"

namespace ferry::inline FERRY_ABI::detail {

// One end of a contiguous copy. device: the owner of device memory; -1 for memory of the CPU and unified memory.
struct copy_address {
  std::byte* data = nullptr;
  int device = -1;
};

// A planned contiguous copy: the constructor acquires its resources, enqueue() enqueues the work.
class contiguous_copy {
 public:
  // Acquires what the route needs; may block, and throws all errors that can occur. The lanes come from the set. The
  // destructor blocks until all threads that copy for it are done. near: the device whose threads and pinned memory
  // serve a copy from or to memory of the CPU.
  contiguous_copy(copy_engine& engine, lane_set& lanes, const route_choice& way, copy_address to, copy_address from,
                  std::size_t bytes, int stream_device, int near);
  // Starts threads that fill the chunks of a ring from pageable memory. Uses no device. Only for the first copy on its
  // lane: the next one would take chunks that this one uses again. May block until chunks of earlier operations are
  // free.
  void begin_reading();
  // Enqueues the work on s and on internal streams that fork from it and join it. For route `parallel`, blocks until
  // the pageable memory is read or written.
  void enqueue(native_stream s);

 private:
  void enqueue_direct(native_stream s);
  void enqueue_chunks();
  void enqueue_upload();
  void enqueue_download();
  void fill_next();
  struct part {
    std::size_t begin, bytes;
  };
  std::size_t count() const { return (bytes_ + chunk_ - 1) / chunk_; }
  part at(std::size_t i) const { return {i * chunk_, std::min(chunk_, bytes_ - i * chunk_)}; }
  // Copies a part through the lane's chunk, or directly if the lane has no chunks.
  void relay(copy_lane& lane, part p);

  backend& backend_;
  route_choice way_;
  copy_address to_, from_;
  std::size_t bytes_, chunk_ = 0;
  int stream_device_;
  std::vector<copy_lane*> lanes_;
  // Chunks in use, with the jobs that fill or empty them. The destructor waits for all jobs.
  struct ring {
    ring(copy_workers& w, std::size_t size) : workers(w), jobs(size), chunks(size) {}
    ~ring() { wait(); }
    ring(const ring&) = delete;
    ring& operator=(const ring&) = delete;
    void wait() {
      for (copy_workers::job& j : jobs) workers.wait(j);
    }
    copy_workers& workers;
    std::vector<copy_workers::job> jobs;
    std::vector<copy_lane::chunk*> chunks;
    std::size_t filled = 0;  // number of parts whose filling has begun
  };
  std::unique_ptr<ring> ring_;
};

}  // namespace ferry::inline FERRY_ABI::detail
