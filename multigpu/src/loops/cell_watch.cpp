#include "ferry/multigpu/detail/loops/cell_watch.hpp"

#include <cstring>

#include "ferry/core/detail/ordering/array_text.hpp"
#include "ferry/core/detail/support/concat.hpp"
#include "ferry/core/error.hpp"

namespace ferry::inline FERRY_ABI::detail {
namespace {

constexpr unsigned char poison = 0xFF;  // NaN, as in all memory that a kernel does not declare to read

// Calls f(address, index of the cell in the box) for each cell, in row-major order.
template <class F>
void for_each_cell(const watched_cells& w, std::byte* at, F f) {
  std::array<std::size_t, max_rank> index{};
  for (std::size_t d = 0; d < w.shape.rank; ++d)
    if (w.shape.extent[d] == 0) return;
  for (;;) {
    f(at, index);
    std::size_t d = w.shape.rank;
    while (d-- > 0) {
      at += w.stride_bytes[d];
      if (++index[d] < w.shape.extent[d]) break;
      at -= w.stride_bytes[d] * static_cast<std::ptrdiff_t>(w.shape.extent[d]);
      index[d] = 0;
      if (d == 0) return;
    }
  }
}

[[noreturn]] void throw_written(const watched_cells& w, const std::array<std::size_t, max_rank>& index) {
  std::string cell = "(";
  for (std::size_t d = 0; d < w.shape.rank; ++d)
    cell += concat(d ? ", " : "", w.first[d] + static_cast<std::ptrdiff_t>(index[d]));
  throw invalid_argument("cell " + cell + ") of " + quoted_name(w.array, "sharded array") +
                         " was written, and lies outside of the cells that this loop may write, " + w.region +
                         ": a loop writes no other cells than those of its region");
}

}  // namespace

cell_watch::cell_watch(const std::vector<watched_cells>& cells, const relocation& move) {
  for (const watched_cells& w : cells) {
    std::byte* const at = move(w.data);
    const bool on_copies = at != w.data;
    if ((w.stale || !w.is_declared) && !on_copies) continue;  // other work may be using them
    saved s{&w, at, {}, w.stale};
    const std::size_t n = w.shape.element_bytes;
    for_each_cell(w, at, [&](std::byte* cell, const auto&) {
      s.before.insert(s.before.end(), cell, cell + n);
      if (w.stale) std::memset(cell, poison, n);
    });
    saved_.push_back(std::move(s));
  }
}

// Arguments may share cells: the cells that were saved last are compared and restored first.
void cell_watch::check() {
  for (; !saved_.empty(); saved_.pop_back()) {
    const saved& s = saved_.back();
    const std::byte* before = s.before.data();
    const std::size_t n = s.what->shape.element_bytes;
    for_each_cell(*s.what, s.at, [&](std::byte* cell, const auto& index) {
      if (s.poisoned)
        std::memcpy(cell, before, n);
      else if (std::memcmp(cell, before, n) != 0)
        throw_written(*s.what, index);
      before += n;
    });
  }
}

}  // namespace ferry::inline FERRY_ABI::detail
