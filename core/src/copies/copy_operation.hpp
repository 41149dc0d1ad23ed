// One copy of any shape between any two places: its steps, and the scratch memory between them.
#pragma once
#include <deque>
#include <optional>
#include <vector>

#include "copies/contiguous_copy.hpp"
#include "ferry/core/copy.hpp"

namespace ferry::detail {

// What is copied: element_bytes are those of the source; types say whether numbers are converted.
struct copy_request {
  copy_side to, from;
  strided_shape shape;
  number_type to_type = number_type::none, from_type = number_type::none;
  bool converts() const { return to_type != from_type; }
};

class copy_operation {
 public:
  // Plans everything and takes what is needed; may block, and throws what can be thrown. Threads begin to read pageable
  // memory: only what touches the device's memory has its turn inside a guard.
  // in_turn: it comes after the last one of that stream anyway, and may share its chunks.
  copy_operation(stream_ref s, const copy_request& what, bool in_turn = false);
  copy_operation(const copy_operation&) = delete;
  copy_operation& operator=(const copy_operation&) = delete;

  // What the whole operation touches, scratch memory too.
  void add_uses(std::vector<access>& uses) const;
  // Inside a guard over these uses.
  void enqueue(native_stream s);
  // The same inside a capture: each step is a submission of its own, and the capture orders them.
  void submit_captured();
  // Whether the CPU must wait for the stream afterwards: memory that ferry does not know was used by the driver.
  bool needs_wait() const { return needs_wait_; }

 private:
  struct step {
    copy_request what;
    std::optional<contiguous_copy> move;                // else a kernel
    int on = 0;                                         // the device whose stream it is given to
    std::optional<host_array<std::byte>> between = {};  // staged in a graph, which keeps it: no ring could
    copy_lane* beside = nullptr;                        // where that is not the given stream's
  };
  // Contiguous scratch in the memory of a device.
  struct scratch {
    basic_array<std::byte, 1, memory_kind::device> bytes;
    explicit scratch(std::size_t size, int device) : bytes(extents<1>{size}, ferry::device(device)) {}
  };
  void plan(const copy_request& w);
  void plan_through(const copy_request& w, bool pack, int pack_on, bool unpack, int unpack_on);
  void move(const copy_request& w);
  void kernel(const copy_request& w, int on);
  // On a stream of that device, forked from the given one where that is another's.
  void enqueue_beside(step& st, int on);
  // One side of scratch memory with the shape of a request; the same memory for all its parts.
  static copy_side in_scratch(scratch& memory, const strided_shape& shape, std::size_t element_bytes);
  bool reaches(int device, const copy_side& side);
  void enqueue(step& st, native_stream s);

  copy_engine& engine_;
  stream_ref s_;
  const int here_;
  copy_request whole_;
  lane_set lanes_;
  std::optional<scratch> packed_, arrived_;
  std::deque<step> steps_;
  bool needs_wait_ = false;
};

// Inside a capture, bytes between devices that are no peers: two submissions, through memory that the graph keeps.
void stage_in_capture(host_array<std::byte>& between, const access& to, const access& from);

// The kind of place that a side is in. Null for one of no allocation: pageable or pinned, as the backend says.
copy_end end_of(const copy_side& s);
copy_end end_of(const allocation& a);
std::size_t bytes_of(const strided_shape& shape);
// Of contiguous elements with that shape.
void row_major_strides(copy_side& side, const strided_shape& shape, std::size_t element_bytes);
// The device whose stream a direct copy is given to: inside a capture, one that reaches the memory.
int device_to_copy_on(int here, const copy_end& to, const copy_end& from);
// Whether a stream of the device may copy what is on that side; grants it where that takes a grant.
bool may_copy_on(int device, const copy_side& side);
// Peer copies of memory of the driver's pools go through the CPU until both devices were granted access.
void grant_pools(copy_engine& engine, const copy_side& to, const copy_side& from);

}  // namespace ferry::detail
