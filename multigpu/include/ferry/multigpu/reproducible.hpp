/// @file
/// Reductions whose results do not depend on the number of devices, to the last bit.
#pragma once
#include <algorithm>
#include <cstring>
#include <type_traits>
#include <vector>

#include "ferry/multigpu/shard_reduce.hpp"
#include "ferry/version.hpp"

namespace ferry::inline FERRY_ABI {

/// @addtogroup sharded_arrays
/// @{

/// The operation of a reproducible reduction. See reproducible().
template <class Op>
struct reproducible_op {
  Op op;
};
/// Marks the operation of a parallel_reduce over shards as reproducible: fr::reproducible(fr::plus{}).
template <class Op>
reproducible_op<Op> reproducible(const Op& op) {
  return {op};
}

namespace detail {

// Number of consecutive elements in a chunk. Chunks are those of the whole array, so that its distribution does not
// change them.
inline constexpr std::size_t reproducible_chunk = 256;

[[noreturn]] void throw_partial_reproducible();
// Appends the bytes at an address to a list.
void append_bytes(std::vector<std::byte>& to, const void* from, std::size_t bytes);
// Throws invalid_argument if an array is cut along several axes. text: the array, or its distribution.
void need_one_cut(const member_grid& grid, const std::string& text);
template <class A>
void need_one_cut(const A&) {}
template <class T, std::size_t Rank, memory_kind Kind>
void need_one_cut(const sharded_argument<T, Rank, Kind>& a) {
  need_one_cut(a.what->layout().grid(), a.what->team_operand()->described());
}

// Calls f with the indices of the array for index a along the axis of distribution and index k of all other dimensions.
template <std::size_t Rank>
struct axis_and_rest {
  std::size_t axis, extent[Rank];
  template <class F, class... P>
  FERRY_HOST_DEVICE auto call(const F& f, std::size_t a, std::size_t k, const P&... p) const {
    std::size_t i[Rank] = {};
    for (std::size_t d = Rank; d-- > 0;) {
      if (d == axis) {
        i[d] = a;
      } else {
        i[d] = k % extent[d];
        k /= extent[d];
      }
    }
    if constexpr (Rank == 1)
      return f(i[0], p...);
    else if constexpr (Rank == 2)
      return f(i[0], i[1], p...);
    else
      return f(i[0], i[1], i[2], p...);
  }
};

// Reduces one chunk of the cells that share an index along the axis, sequentially.
template <class T, std::size_t Rank, class F, class Op>
struct chunk_of_cells {
  F f;
  Op op;
  T identity;  // of op; device code cannot compute it
  axis_and_rest<Rank> where;
  std::size_t first, rest;  // first index along the axis; number of cells that share an index
  template <class Leaves, class... P>
  FERRY_HOST_DEVICE void operator()(std::size_t a, std::size_t c, const Leaves& leaves, const P&... p) const {
    T sum = identity;
    const std::size_t end = at_most(rest, (c + 1) * reproducible_chunk);
    for (std::size_t k = c * reproducible_chunk; k < end; ++k)
      sum = op(sum, static_cast<T>(where.call(f, first + a, k, p...)));
    leaves(a, c) = sum;
  }
};
// Reduces whole chunks of neighbouring indices along the axis from the results in memory, sequentially.
template <class T, class Op>
struct chunk_of_leaves {
  Op op;
  T identity;
  std::size_t first_chunk, first_leaf;
  FERRY_HOST_DEVICE void operator()(std::size_t c, mdspan<const T, 2> leaves, mdspan<T, 1> chunks) const {
    T sum = identity;
    for (std::size_t i = 0; i < reproducible_chunk; ++i)
      for (std::size_t k = 0; k < leaves.extent(1); ++k)
        sum = op(sum, leaves((first_chunk + c) * reproducible_chunk - first_leaf + i, k));
    chunks(c) = sum;
  }
};

}  // namespace detail

/// The result of a reproducible reduction: chunks of all members. The CPU joins them in the order of the array when it
/// reads the result.
template <class T>
class reproducible_scalar {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  using join = T (*)(const T&, const T&);
  /// Returns the result. Blocks until the work that writes the parts is complete. For a team that spans processes, all
  /// of them must call it, and each waits for the others.
  /// @throws process_error
  operator T() const { return value(); }
  /// As the conversion to T.
  T value() const {
    if (pieces_.empty()) detail::throw_moved_from("the reproducible result");
    std::vector<std::byte> mine;
    for (const piece& p : pieces_) pack(p, mine);
    if (!detail::spans_processes(team_)) return joined({mine.data(), mine.size()});
    constexpr const char* what = "reading a reproducible result of all members";
    std::size_t bytes = 0;
    detail::for_each_process(team_, mine.size(), what, [&](std::size_t n) { bytes += n; });
    std::vector<std::byte> all(bytes);
    detail::join_processes(team_, {mine.data(), mine.size()}, {all.data(), all.size()}, what);
    return joined({all.data(), all.size()});
  }
  /// True if the parts of this process are complete. Never blocks.
  bool is_ready() const {
    return std::all_of(pieces_.begin(), pieces_.end(),
                       [](const piece& p) { return p.head.is_ready() && p.chunks.is_ready() && p.tail.is_ready(); });
  }

  /// The part of one member: results along the axis from `first` to the next edge of a chunk, whole chunks, and the
  /// remaining results.
  struct piece {
    std::size_t first = 0, tail_first = 0;
    host_array<T, 2> head, tail;
    host_array<T, 1> chunks;
  };
  /// Makes a result without parts, for the reduction.
  reproducible_scalar(const team& t, T identity, join op)
      : team_(t),
        pieces_(t.local_size()),
        identity_(identity),
        join_(op) {}
  // Declared explicitly, because containers otherwise try to copy.
  reproducible_scalar(reproducible_scalar&&) noexcept = default;
  reproducible_scalar& operator=(reproducible_scalar&&) noexcept = default;
  /// Returns the part of a local member.
  piece& of(std::size_t local) { return pieces_[local]; }

 private:
  // Number of elements that follow in each list, and their first index along the axis.
  struct header {
    std::uint64_t first, head_rows, chunks, tail_first, tail_rows, columns;
  };
  static void pack(const piece& p, std::vector<std::byte>& to) {
    const header h{p.first,      p.head.extent(0), p.chunks.size(),
                   p.tail_first, p.tail.extent(0), std::max(p.head.extent(1), p.tail.extent(1))};
    detail::append_bytes(to, &h, sizeof h);
    for (const T& x : p.head) detail::append_bytes(to, &x, sizeof x);
    for (const T& x : p.chunks) detail::append_bytes(to, &x, sizeof x);
    for (const T& x : p.tail) detail::append_bytes(to, &x, sizeof x);
  }
  T joined(std::span<const std::byte> pieces) const {
    std::size_t at = 0;
    const auto take = [&](auto value) {
      std::memcpy(&value, pieces.data() + at, sizeof value);
      at += sizeof value;
      return value;
    };
    T all = identity_, open = identity_;  // of whole chunks; of a chunk that several members share
    const auto add_leaves = [&](std::size_t first, std::size_t rows, std::size_t columns) {
      for (std::size_t i = 0; i < rows; ++i) {
        for (std::size_t k = 0; k < columns; ++k) open = join_(open, take(identity_));
        if ((first + i + 1) % detail::reproducible_chunk == 0) all = join_(all, std::exchange(open, identity_));
      }
    };
    while (at < pieces.size()) {
      const header h = take(header{});
      add_leaves(h.first, h.head_rows, h.columns);
      for (std::size_t c = 0; c < h.chunks; ++c) all = join_(all, take(identity_));
      add_leaves(h.tail_first, h.tail_rows, h.columns);
    }
    return join_(all, open);
  }

  team team_;
  std::vector<piece> pieces_;
  T identity_;
  join join_;
};

namespace detail {
inline namespace FERRY_UNIT {

template <class T, std::size_t Rank, class F, class Op, class... A>
void reduce_reproducibly(std::size_t member, const shard_region<Rank>& region, const F& f, const Op& op,
                         typename reproducible_scalar<T>::piece& piece, const A&... a) {
  const auto& l = region.layout();
  const box<Rank> own = l.own(member);
  if (own.empty()) return;
  const auto parts = region.parts(member);
  if (parts.count != 1 || !(parts.begin()->bounding_box == own)) detail::throw_partial_reproducible();
  const stream_ref s = l.team().stream(member);
  const std::size_t first = static_cast<std::size_t>(own.begin[l.axis()]), n = own.length(l.axis());
  detail::chunk_of_cells<T, Rank, F, Op> cells{
      f, op, Op::template identity<T>(), {l.axis(), {}}, first, l.extents().count() / l.extents()[l.axis()]};
  for (std::size_t d = 0; d != Rank; ++d) cells.where.extent[d] = l.extents()[d];
  device_array<T, 2> leaves({n, detail::ceil_div(cells.rest, detail::reproducible_chunk)}, s.where());
  run_on_shard(s, detail::space_of(leaves.extents()), cells,
               detail::make_argument<T>(leaves, detail::access_mode::out, source_line{}),
               detail::argument_of(member, l, *parts.begin(), a)...);

  constexpr std::size_t chunk = detail::reproducible_chunk;
  const std::size_t end = first + n, first_chunk = detail::ceil_div(first, chunk), end_chunk = end / chunk;
  const bool has_chunks = end_chunk > first_chunk;
  const std::size_t head = has_chunks ? first_chunk * chunk - first : n,
                    tail = has_chunks ? end - end_chunk * chunk : 0;
  piece.first = first, piece.tail_first = end - tail;
  const auto keep = [&](host_array<T, 2>& to, std::size_t from, std::size_t count) {
    to = host_array<T, 2>({count, leaves.extent(1)}, s.where());
    if (count > 0) copy(s, std::as_const(leaves).slice({from, from + count}), to, source_line{});
  };
  keep(piece.head, 0, head);
  keep(piece.tail, n - tail, tail);
  piece.chunks = host_array<T, 1>({has_chunks ? end_chunk - first_chunk : 0}, s.where());
  if (has_chunks)
    parallel_for(s, end_chunk - first_chunk,
                 detail::chunk_of_leaves<T, Op>{op, Op::template identity<T>(), first_chunk, first},
                 in(leaves, source_line{}), out(piece.chunks, source_line{}));
}

template <std::size_t Rank, class F, class Op, class... A>
auto reduce_reproducibly_on_team(const shard_region<Rank>& region, const F& f, const Op& op, const A&... a) {
  using T = typename shard_result<shard_region<Rank>, F, Op, A...>::type;
  need_op_without_state<Op>();
  (need_one_cut(a), ...);
  need_one_cut(region.layout().grid(), "arrays of " + region.layout().text());
  const team& t = region.layout().team();
  reproducible_scalar<T> result(t, Op::template identity<T>(), [](const T& x, const T& y) -> T { return Op()(x, y); });
  t.for_each([&](std::size_t m) { reduce_reproducibly<T>(m, region, f, op, result.of(m - t.first_local()), a...); });
  (detail::note_written(region, a), ...);
  return result;
}

template <class... P, std::size_t Rank, class F, class Op, class... A>
auto call_reproducibly(detail::accepted_call<P...>, const shard_region<Rank>& region, const F& f, const Op& op,
                       A&&... a) {
  return reduce_reproducibly_on_team(region, f, op, detail::as_shard_argument<P>(a)...);
}
template <class... Any>
scalar<double> call_reproducibly(detail::refused_call, const Any&...) {
  return scalar<double>();
}

}  // namespace FERRY_UNIT
}  // namespace detail

inline namespace FERRY_UNIT {

/// As parallel_reduce over all cells of an array, owned(a), with reproducible results. The bits are the same on any
/// number of devices of one kind, in any number of processes. Cells are joined sequentially in chunks of 256, which do
/// not depend on the distribution of the array. When the CPU reads the result, it joins the chunks in order. Slower
/// than the default order, which each device chooses: here one thread computes a chunk.
/// @param region owned(a)
/// @param f returns the value of a cell, from its indices and the arguments
/// @param op reproducible(operation)
/// @param arguments arrays and values for f
/// @return a reproducible_scalar
template <std::size_t Rank, class F, class Op, class... Arguments>
auto parallel_reduce(const shard_region<Rank>& region, const F& f, const reproducible_op<Op>& op,
                     Arguments&&... arguments) {
  return detail::call_reproducibly(
      detail::checked<detail::shard_reduction_check<shard_region<Rank>, F, Arguments...>>(), region, f, op.op,
      std::forward<Arguments>(arguments)...);
}

}  // namespace FERRY_UNIT

/// @}

}  // namespace ferry::inline FERRY_ABI
