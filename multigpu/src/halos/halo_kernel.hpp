// A kernel of a halo exchange: copies of boxes, and the bytes that they access.
#pragma once
#include <span>
#include <vector>

#include "ferry/core/stream.hpp"
#include "ferry/multigpu/detail/halos/halo_box.hpp"
#include "halos/box_copies.hpp"

namespace ferry::inline FERRY_ABI::detail {

class halo_kernel {
 public:
  // Each adds a copy of a box: to its place, to contiguous memory at `at`, or from there to its place.
  void store(const halo_box& b);
  void pack(const halo_box& b, const allocation_ref& owner, std::byte* at);
  void unpack(const halo_box& b, const allocation_ref& owner, std::byte* at);
  // Merges ranges of one allocation that touch or overlap. Call it once, after all boxes are added.
  void merge_uses();
  bool empty() const { return boxes_.empty(); }
  // Submits several kernels as one; none if they are empty.
  static void run(std::span<const halo_kernel* const> kernels, stream_ref on);

 private:
  // Bytes that the kernel accesses. It holds a reference to their allocation.
  struct use {
    allocation_ref owner;
    byte_range where;
    bool write;
    bool whole = true;  // false: bytes in between are preserved
  };
  std::vector<box_copy> boxes_;
  std::vector<use> uses_;
};

}  // namespace ferry::inline FERRY_ABI::detail
