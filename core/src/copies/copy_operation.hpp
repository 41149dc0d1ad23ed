// One copy of any shape between any two places: its steps, and the scratch memory between them.
#pragma once
#include <deque>
#include <optional>
#include <vector>

#include "copies/contiguous_copy.hpp"
#include "ferry/core/copy.hpp"

namespace ferry::inline FERRY_ABI::detail {

// The parameters of a copy. element_bytes is that of the source; the types tell if numbers are converted.
struct copy_request {
  copy_side to, from;
  strided_shape shape;
  number_type to_type = number_type::none, from_type = number_type::none;
  bool converts() const { return to_type != from_type; }
};

class copy_operation {
 public:
  // Plans the copy and acquires its resources; may block, and throws all errors that can occur. Threads begin to read
  // pageable memory; only accesses to device memory wait for the guard. in_turn: the copy runs behind the last one of
  // that stream anyway, and may share its chunks.
  copy_operation(stream_ref s, const copy_request& what, bool in_turn = false);
  copy_operation(const copy_operation&) = delete;
  copy_operation& operator=(const copy_operation&) = delete;

  // Adds the accesses of the whole operation, including scratch memory.
  void add_uses(std::vector<access>& uses) const;
  // Call inside a guard for these uses.
  void enqueue(native_stream s);
  // Inside a capture: submits each step separately, and the capture orders them.
  void submit_captured();
  // True if the CPU must wait for the stream afterwards, because the driver uses memory that ferry does not track.
  bool needs_wait() const { return needs_wait_; }

 private:
  struct step {
    copy_request what;
    std::optional<contiguous_copy> move;                // else a kernel
    int on = 0;                                         // the device whose stream it is enqueued on
    std::optional<host_array<std::byte>> between = {};  // staging memory of a graph, which owns it instead of a ring
    copy_lane* beside = nullptr;  // the lane of another device, if it is not enqueued on the given stream
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
  // Enqueues the step on a stream of that device, which forks from the given one if that is another device's.
  void enqueue_beside(step& st, int on);
  // Returns a side of scratch memory with the shape of a request; all its parts use the same memory.
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

// Inside a capture, copies between devices that are not peers: two submissions, through memory that the graph owns.
void stage_in_capture(host_array<std::byte>& between, const access& to, const access& from);

// Returns the kind of memory of a side. If it is no array: pageable, pinned or unified, as the backend reports.
copy_end end_of(const copy_side& s);
copy_end end_of(const allocation& a);
std::size_t bytes_of(const strided_shape& shape);
// Sets the strides of contiguous elements with that shape.
void row_major_strides(copy_side& side, const strided_shape& shape, std::size_t element_bytes);
// True if a stream of the device may copy the memory of that side. Requests a grant if one is needed.
bool may_copy_on(int device, const copy_side& side);

// The route of contiguous bytes between two sides, which must outlive it.
class planned_route {
 public:
  // Chooses the route for a stream of device `here`. Grants both devices of a peer copy access to memory of the
  // driver's pools: without it, their peer copies go through the CPU.
  planned_route(copy_engine& engine, int here, const copy_side& to, const copy_side& from, std::size_t bytes);
  // True if one call of the driver copies the bytes on a stream of `on`. Requests grants if it needs some.
  bool is_one_call() const;
  const copy_end to, from;
  route_choice way;
  const int on;  // device whose stream runs a copy by one call: inside a capture, one that reaches the memory

 private:
  const copy_side &to_side_, &from_side_;
};

}  // namespace ferry::inline FERRY_ABI::detail
