// How the bytes of one contiguous copy are given to streams, for each kind of route.
#pragma once
#include <memory>
#include <vector>

#include "copies/copy_engine.hpp"

namespace ferry {

// One end of a contiguous copy. device: the owner of device memory, or -1 for memory of the CPU and unified memory.
struct copy_address {
  std::byte* data = nullptr;
  int device = -1;
};

// A contiguous copy with all that its route needs: found before the submission, given inside of it.
class contiguous_copy {
 public:
  // Takes what the route needs; may block, and throws what can be thrown. The lanes are of the set. Waits in its destructor
  // for threads that still copy for it.
  // near: the device whose threads and pinned memory serve a copy from or to memory of the CPU.
  contiguous_copy(copy_engine& engine, lane_set& lanes, const route_choice& way, copy_address to, copy_address from,
                  std::size_t bytes, int stream_device, int near);
  // Lets threads begin to fill the chunks of a ring from pageable memory: nothing of that concerns a device. For the first
  // copy over its lane only, as the next one would take chunks that this one comes back to. May block until chunks of
  // earlier operations are free.
  void begin_reading();
  // Gives the work to s and to internal streams that fork from it and join it. For route `parallel` the CPU waits until
  // the pageable memory was read or written.
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
  // Over the chunk of a lane; or past it, where the lane has none.
  void relay(copy_lane& lane, part p);

  ferry::backend& backend_;
  route_choice way_;
  copy_address to_, from_;
  std::size_t bytes_, chunk_ = 0;
  int stream_device_;
  std::vector<copy_lane*> lanes_;
  // Chunks in use, with the jobs that fill or empty them: none is left behind, whatever happens.
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
    std::size_t filled = 0;  // parts whose filling has begun, in all
  };
  std::unique_ptr<ring> ring_;
};

}  // namespace ferry
