// Data larger than a device, piece by piece: while the loop works on one, the next are on their way.
#pragma once
#include <cstddef>
#include <iterator>
#include <optional>
#include <utility>
#include <vector>

#include "ferry/core/detail/memory/thread_scopes.hpp"
#include "ferry/core/stream.hpp"
#include "ferry/unified/batch_source.hpp"
#include "ferry/unified/detail/batches/batch_pipeline.hpp"

namespace ferry {

struct batch_options {
  // Rows of the first axis (elements of a vector) in a piece; 0: as many as make pieces of some 32 MiB. Pieces of
  // generators are as long as they come.
  std::size_t size = 0;
  // Pieces that lie on the device at once: one in the loop, the others on their way. 1 to 4096.
  std::size_t depth = 3;
  // Where the pieces go; the default device of the thread when empty.
  std::optional<device> on = {};
  // none: sources are read and results written by the loop's own thread when it takes a piece, so that copies from
  // pageable memory overlap nothing; for programs that must run in one thread.
  batch_threads threads = batch_threads::background;
};

// What a range-based for over batches() walks. Its destructor waits for its threads, and for the device where that still reads a
// source.
template <class Source>
class batch_range : private detail::batch_work {
 public:
  class iterator {
   public:
    using iterator_concept = std::input_iterator_tag;
    using value_type = decltype(std::declval<typename Source::slot&>().view());
    using difference_type = std::ptrdiff_t;
    explicit iterator(batch_range& of) : of_(&of), slot_(of.pipeline_.next()) {}
    value_type operator*() const { return of_->slots_[*slot_].view(); }
    iterator& operator++() {
      of_->pipeline_.done();
      slot_ = of_->pipeline_.next();
      return *this;
    }
    void operator++(int) { ++*this; }
    bool operator==(std::default_sentinel_t) const { return !slot_; }

   private:
    batch_range* of_;
    std::optional<std::size_t> slot_;
  };

  batch_range(Source source, const batch_options& o)
      : source_(std::move(source)),
        size_(size_of_pieces(source_, o)),
        on_(o.on ? *o.on : default_device()),
        up_(on_),
        down_(on_),
        slots_(checked_depth(o.depth)),
        rows_(o.depth),
        pipeline_(*this, o.depth, source_.stores(), o.threads, scopes_) {}
  batch_range(const batch_range&) = delete;
  batch_range& operator=(const batch_range&) = delete;

  // Once: the pieces come in order, and only once.
  iterator begin() { return iterator(*this); }
  std::default_sentinel_t end() const { return {}; }

 private:
  static constexpr std::size_t usual_bytes = std::size_t{32} << 20;
  static constexpr std::size_t most_depth = 4096;
  static std::size_t size_of_pieces(const Source& source, const batch_options& o) {
    (void)source.rows();  // throws when the lengths differ
    if (o.size != 0) return o.size;
    return std::max<std::size_t>(1, usual_bytes / std::max<std::size_t>(1, source.row_bytes()));
  }
  static std::size_t checked_depth(std::size_t depth) {
    if (depth == 0 || depth > most_depth)
      throw invalid_argument("batches: a depth of " + std::to_string(depth) + ": allowed are 1 to " +
                             std::to_string(most_depth) + " pieces on the device at once");
    return depth;
  }
  bool load(std::size_t slot, std::size_t piece) override {
    const std::optional<std::size_t> all = source_.rows();
    detail::batch_rows& r = rows_[slot];
    r.first = piece * size_;
    r.count = all && r.first < *all ? std::min(size_, *all - r.first) : 0;
    return source_.load(slots_[slot], r, {on_, up_, down_, pipeline_});
  }
  void store(std::size_t slot) override { source_.store(slots_[slot], rows_[slot], {on_, up_, down_, pipeline_}); }

  Source source_;
  const std::size_t size_;
  const device on_;
  const thread_scopes scopes_;
  const stream up_, down_;
  std::vector<typename Source::slot> slots_;
  std::vector<detail::batch_rows> rows_;
  detail::batch_pipeline pipeline_;  // last: its threads use the others
};

// A loop over pieces of the sources in the memory of a device:
//     for (auto&& [x, y] : batches(host_x, ferry::out(host_y), {.size = 1 << 20})) parallel_for(...);
// A source is a contiguous range of trivially copyable elements, an array or view of ferry (cut along its first axis), a
// dense object of Eigen, a ferry::npy_map, ferry::generate(function), or a std::tuple of sources; one source gives views,
// several give tuples of views (device memory, contiguous). A file is read into pinned memory, depth pieces of it; when it
// shrinks, that is an error. ferry::out(range) and ferry::inout(range), also of objects of Eigen, are written: what the
// loop has left in a piece is copied back, in order, when the loop goes on; they are complete when the loop has ended, and
// hold the pieces that it went on from when it was left by break or an exception.
// What is read must stay as it is until the loop has ended: later pieces are read ahead, and pinned memory that is given as
// a span when the device comes to it.
// Pieces are read by one thread of their own and uploaded by another, ahead of the loop, on a stream of their own; work that
// the loop gives to any stream is ordered behind that, and the memory of a piece is used again behind that work. Nothing
// blocks the device.
// The memory of the pieces comes from the pool, and counts under the tag, of the scopes (pool_scope, memory_tag_scope) in which
// batches() is called, as does what copies take beside. Generators run as if in these scopes, too, and in that of the device.
// A view is good for its turn of the loop. The loop's thread blocks until its piece has been given to the stream.
// Throws invalid_argument for lengths that differ and a depth that is not allowed, out_of_memory, and in the loop what a source throws.
template <class A>
auto batches(A&& a, const batch_options& o = {}) {
  return batch_range<decltype(detail::source_of(std::forward<A>(a)))>(detail::source_of(std::forward<A>(a)), o);
}
template <class A, class B>
requires(!std::is_same_v<std::remove_cvref_t<B>, batch_options>) auto batches(A&& a, B&& b,
                                                                              const batch_options& o = {}) {
  return batches(std::forward_as_tuple(std::forward<A>(a), std::forward<B>(b)), o);
}
template <class A, class B, class C>
requires(!std::is_same_v<std::remove_cvref_t<C>, batch_options>) auto batches(A&& a, B&& b, C&& c,
                                                                              const batch_options& o = {}) {
  return batches(std::forward_as_tuple(std::forward<A>(a), std::forward<B>(b), std::forward<C>(c)), o);
}
template <class A, class B, class C, class D>
requires(!std::is_same_v<std::remove_cvref_t<D>, batch_options>) auto batches(A&& a, B&& b, C&& c, D&& d,
                                                                              const batch_options& o = {}) {
  return batches(std::forward_as_tuple(std::forward<A>(a), std::forward<B>(b), std::forward<C>(c), std::forward<D>(d)),
                 o);
}

}  // namespace ferry
