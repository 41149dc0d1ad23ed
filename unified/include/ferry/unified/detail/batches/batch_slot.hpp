// Device memory of pieces, and the streams and threads that fill it.
#pragma once
#include <functional>
#include <memory>
#include <span>

#include "ferry/core/array.hpp"
#include "ferry/core/copy.hpp"
#include "ferry/core/detail/copies/begun_upload.hpp"
#include "ferry/core/detail/support/internal.hpp"
#include "ferry/core/stream.hpp"
#include "ferry/unified/detail/batches/batch_pipeline.hpp"

namespace ferry::inline FERRY_ABI::detail {

// Device memory for the pieces of one source. It grows as needed, and every depth-th piece reuses it.
template <class T, std::size_t Rank>
class batch_slot {
 public:
  using piece = array_view<T, Rank, memory_kind::device>;
  piece view() const { return view_; }
  // Returns a view of memory for a piece of this shape. The previous piece becomes invalid.
  piece make(const extents<Rank>& e, device on) {
    const std::size_t n = e.count();
    if (buffer_.size() < n) {
      view_ = {}, buffer_ = {};  // first: there may be no room for both
      buffer_ = device_array<T, 1>(extents<1>(n), on);
    }
    view_ = piece(buffer_.owner(), buffer_.unsynchronized_data(), e, row_major(e));
    return view_;
  }

 private:
  device_array<T, 1> buffer_;
  piece view_;
};

// Rows [first, first + count) of the first axis.
struct batch_rows {
  std::size_t first = 0, count = 0;
};

// The streams and the pipeline of one loop over batches.
struct batch_streams {
  device on;
  stream_ref up, down;
  batch_pipeline& pipeline;
  // Uploads a piece. Threads start to read pageable memory immediately, so that reading overlaps earlier uploads.
  // owner: released when the elements have been read.
  template <class T, class Piece>
  void upload(std::span<const T> from, const Piece& to, std::shared_ptr<const void> owner = {}) const {
    if (to.empty()) return;
    struct reading {
      std::shared_ptr<const void> elements;  // declared first: destroyed after `upload`, whose threads read it
      begun_upload upload;
    };
    const auto begun = std::make_shared<reading>(reading{
        std::move(owner), {up, side_of(to), pageable_side(from.data(), to.extents()), shape_of<T>(to.extents())}});
    std::function<void()> settle;
    if (begun->upload.is_read_later()) settle = [begun] { begun->upload.wait_until_read(); };
    pipeline.give([begun] { begun->upload.enqueue(); }, std::move(settle));
  }
};

template <std::size_t Rank>
extents<Rank> rows_of(extents<Rank> e, std::size_t rows) {
  e[0] = rows;
  return e;
}
template <std::size_t Rank>
std::size_t row_size(const extents<Rank>& e) {
  std::size_t n = 1;
  for (std::size_t d = 1; d < Rank; ++d) n *= e[d];
  return n;
}

}  // namespace ferry::inline FERRY_ABI::detail
