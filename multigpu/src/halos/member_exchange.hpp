// What one member of this process enqueues in the halo exchange of one array.
#pragma once
#include <span>
#include <vector>

#include "ferry/core/array.hpp"
#include "ferry/multigpu/detail/halos/halo_box.hpp"
#include "ferry/multigpu/team.hpp"
#include "halos/halo_kernel.hpp"
#include "halos/packed_boxes.hpp"

namespace ferry::inline FERRY_ABI::detail {

// Cells in contiguous memory of a device.
using packed_cells = array_view<std::byte, 1, memory_kind::device>;

class member_exchange {
 public:
  // Each adds a box that the member owns: its kernel stores the cells, or the driver copies them.
  void store(const halo_box& b);
  void copy(const halo_box& b);
  // Adds boxes that the member owns and packs for another member. If it `stores`, its own stream packs them directly
  // into the memory where they arrive, and a side stream copies them there.
  void send(const box_list& boxes, const packed_cells& packed, const packed_cells& arrived, bool stores);
  // Adds boxes that the member owns and packs: to `on_own` in exchanges on its own stream, else to `beside`.
  void pack(const box_list& boxes, const packed_cells& on_own, const packed_cells& beside);
  // Adds boxes that the member mirrors, and that arrive packed.
  void unpack(const box_list& boxes, const packed_cells& from);
  // Returns a new buffer, which lives as long as this object.
  packed_cells add_buffer(std::size_t bytes, device on);
  // Call it once, after all boxes are added.
  void merge_uses();
  bool unpacks() const { return !unpack_.empty(); }

  // The member's part of halo_plan::start and finish, for several arrays.
  static void start(std::span<member_exchange* const> arrays, const team& t, std::size_t member, halo_streams where);
  static void finish(std::span<member_exchange* const> arrays, stream_ref on);

 private:
  // A contiguous copy by the driver.
  struct planned_copy {
    array_view<const std::byte, 1, memory_kind::device> from;
    packed_cells to;
  };
  static void run(std::span<member_exchange* const> arrays, halo_kernel member_exchange::*which, stream_ref on);
  halo_kernel stores_, unpack_;
  std::vector<planned_copy> copies_;
  // The same exchange on side streams, concurrent with other work of the member. The access history records strided
  // cells as the range from their first to their last byte. The next work that writes between them would wait for
  // readers of the range. So they are packed on the member's own stream, and the packed copy travels.
  halo_kernel pack_first_, stores_beside_;
  std::vector<planned_copy> copies_beside_;
  std::vector<device_array<std::byte>> buffers_;
};

}  // namespace ferry::inline FERRY_ABI::detail
