/// @file
/// Processes data larger than a device in pieces: while the loop works on one piece, the next ones are uploaded.
#pragma once
#include <cstddef>
#include <iterator>
#include <optional>
#include <utility>
#include <vector>

#include "ferry/core/detail/memory/thread_scopes.hpp"
#include "ferry/core/detail/support/concat.hpp"
#include "ferry/core/stream.hpp"
#include "ferry/unified/batch_source.hpp"
#include "ferry/unified/detail/batches/batch_pipeline.hpp"
#include "ferry/version.hpp"

namespace ferry::inline FERRY_ABI {

/// @addtogroup unified
/// @{

/// Options of batches().
struct batch_options {
  /// Rows of the first axis (elements of a vector) in a piece. 0: as many as make pieces of about 32 MiB. Generators
  /// determine the lengths of their pieces themselves.
  std::size_t size = 0;
  /// Number of pieces on the device at the same time, 1 to 4096: one in the loop, the others in transfer.
  std::size_t depth = 3;
  /// Device of the pieces. Empty: the default device of the thread.
  std::optional<device> on = {};
  /// none: the loop's thread reads sources and writes results itself, when it takes a piece. Copies from pageable
  /// memory then overlap nothing. For programs that must run in one thread.
  detail::batch_threads threads = detail::batch_threads::background;
};

/// The range that a range-based for iterates over; see batches(). Its destructor blocks until its threads have ended,
/// and until the device has read all sources.
template <class Source>
class batch_range : private detail::batch_work {
 public:
  /// Input iterator over the pieces.
  class iterator {
   public:
    using iterator_concept = std::input_iterator_tag;
    using reference = decltype(std::declval<typename Source::slot&>().view());
    using value_type = std::remove_cvref_t<reference>;
    using difference_type = std::ptrdiff_t;
    /// Blocks until the first piece is loaded.
    explicit iterator(batch_range& of) : of_(&of), slot_(of.pipeline_.next()) {}
    /// Returns the views of the current piece, or the piece of a list.
    reference operator*() const { return of_->slots_[*slot_].view(); }
    /// Ends the work on the current piece, and blocks until the next one is loaded.
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

  /// Starts the threads. See batches() for errors.
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

  /// Returns an iterator to the first piece. Call it once: the pieces come in order, and only once.
  iterator begin() { return iterator(*this); }
  std::default_sentinel_t end() const { return {}; }

 private:
  static constexpr std::size_t usual_bytes = std::size_t{32} << 20;
  static constexpr std::size_t most_depth = 4096;
  static std::size_t size_of_pieces(const Source& source, const batch_options& o) {
    if constexpr (requires { Source::need_size(o.size); }) {
      Source::need_size(o.size);
      return 1;
    }
    (void)source.rows();  // throws if the lengths differ
    if (o.size != 0) return o.size;
    return std::max<std::size_t>(1, usual_bytes / std::max<std::size_t>(1, source.row_bytes()));
  }
  static std::size_t checked_depth(std::size_t depth) {
    if (depth == 0 || depth > most_depth)
      throw invalid_argument(detail::concat("batches: a depth of ", depth, ": allowed are 1 to ", most_depth,
                                            " pieces on the device at once"));
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
  const detail::thread_scopes scopes_;
  const stream up_, down_;
  std::vector<typename Source::slot> slots_;
  std::vector<detail::batch_rows> rows_;
  detail::batch_pipeline pipeline_;  // last: its threads use the other members
};

/// Returns a range of pieces of the sources in the memory of a device. Example:
/// @code
/// for (auto&& [x, y] : batches(host_x, ferry::out(host_y), {.size = 1 << 20})) parallel_for(...);
/// @endcode
///
/// @par Sources
/// A source is a contiguous range of trivially copyable elements, or an array or view of ferry, which is cut along its
/// first axis. It may also be a dense Eigen object, a ferry::npy_map, ferry::generate(function), or a std::tuple of
/// sources. One source yields views; several yield tuples of views (device memory, contiguous). Files are read into
/// pinned memory, depth pieces at a time; a file that shrinks is an error. A struct template over the template of its
/// arrays, which lists its members by FERRY_MEMBERS, has each array cut, and yields the struct of `device_view`.
///
/// @par Lists of pieces
/// Elements of a list that are no plain numbers, such as tuples of vectors, structs of arrays or matrices, are the
/// pieces: each is uploaded by adapt(), whose types the loop gets as a reference. A generator may return such pieces.
///
/// @par Results
/// ferry::out(range) and ferry::inout(range), also of Eigen objects, are destinations: when the loop continues, ferry
/// copies the results of the piece back, in order. They are complete when the loop has ended. After break or an
/// exception, they hold the pieces that the loop had completed before.
///
/// @par Ordering
/// Sources must not change until the loop has ended: later pieces are read ahead. Pinned memory in a span is read when
/// the device reaches the copy. One thread reads pieces and another uploads them, ahead of the loop, on a separate
/// stream. Work that the loop enqueues on any stream runs after the upload. The memory of a piece is reused after that
/// work. The device is never blocked. A view is valid during its iteration of the loop. The loop's thread blocks until
/// its piece is enqueued.
///
/// @par Scopes
/// The scopes in which batches() is called (pool_scope, memory_tag_scope) also hold for the memory of the pieces and of
/// staging buffers. Generators run in these scopes, too, and in that of the device.
/// @param a the source
/// @param o size and number of pieces, device, and threads
/// @return the range; its iterators throw the exceptions of the sources
/// @throws invalid_argument for different lengths, or a depth that is not allowed
/// @throws out_of_memory if the pieces do not fit
template <class A>
auto batches(A&& a, const batch_options& o = {}) {
  return batch_range<decltype(detail::source_of(std::forward<A>(a)))>(detail::source_of(std::forward<A>(a)), o);
}
/// @overload
template <class A, class B>
requires(!std::is_same_v<std::remove_cvref_t<B>, batch_options>) auto batches(A&& a, B&& b,
                                                                              const batch_options& o = {}) {
  return batches(std::forward_as_tuple(std::forward<A>(a), std::forward<B>(b)), o);
}
/// @overload
template <class A, class B, class C>
requires(!std::is_same_v<std::remove_cvref_t<C>, batch_options>) auto batches(A&& a, B&& b, C&& c,
                                                                              const batch_options& o = {}) {
  return batches(std::forward_as_tuple(std::forward<A>(a), std::forward<B>(b), std::forward<C>(c)), o);
}
/// @overload
template <class A, class B, class C, class D>
requires(!std::is_same_v<std::remove_cvref_t<D>, batch_options>) auto batches(A&& a, B&& b, C&& c, D&& d,
                                                                              const batch_options& o = {}) {
  return batches(std::forward_as_tuple(std::forward<A>(a), std::forward<B>(b), std::forward<C>(c), std::forward<D>(d)),
                 o);
}

/// @}

}  // namespace ferry::inline FERRY_ABI
