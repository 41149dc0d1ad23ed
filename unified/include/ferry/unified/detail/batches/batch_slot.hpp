// Where pieces lie in a device's memory, and the streams and threads that fill them.
#pragma once
#include <functional>
#include <memory>
#include <span>

#include "ferry/core/array.hpp"
#include "ferry/core/copy.hpp"
#include "ferry/core/stream.hpp"
#include "ferry/unified/detail/batches/batch_pipeline.hpp"

namespace ferry {
namespace detail {

// Where one source has its piece in the device's memory. Grows, and is used again by every depth-th piece.
template <class T, std::size_t Rank>
class batch_slot {
 public:
  using piece = array_view<T, Rank, memory_kind::device>;
  piece view() const { return view_; }
  // Room for a piece; the old one is gone.
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

// Streams of one loop over batches, and who uploads.
struct batch_streams {
  device on;
  stream_ref up, down;
  batch_pipeline& pipeline;
  // Fills a piece. Threads begin to read at once, which hides behind the uploads before this one. owner: what goes when the
  // elements were read.
  template <class T, class Piece>
  void upload(std::span<const T> from, const Piece& to, std::shared_ptr<const void> owner = {}) const {
    if (to.empty()) return;
    struct reading {
      std::shared_ptr<const void> elements;  // first: the upload's threads end before
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

}  // namespace detail
}  // namespace ferry
