/// @file
/// Arrays whose cells are distributed over the members of a team, with halos: copies of the neighbours' cells.
#pragma once
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "ferry/core/array.hpp"
#include "ferry/core/detail/support/concat.hpp"
#include "ferry/multigpu/detail/shards/shard_store.hpp"
#include "ferry/multigpu/shard_layout.hpp"
#include "ferry/unified/migration.hpp"
#include "ferry/version.hpp"

namespace ferry::inline FERRY_ABI {

/// @addtogroup sharded_arrays
/// @{

namespace detail {
// One allocation for the shards of a unified array, of `bytes[i]` bytes each. Each shard has its own pages (of 2 MiB),
// preferred by its device.
struct shared_allocation {
  allocation_ref owner;
  std::vector<std::byte*> begin;
};
shared_allocation allocate_shards(const team& t, std::span<const std::size_t> bytes);
// Returns the bytes of shards with these numbers of elements, of an array with `whole` elements. Throws
// invalid_argument with the shape if they are more than 2^63.
std::vector<std::size_t> checked_shard_bytes(std::span<const std::size_t> counts, std::size_t whole,
                                             std::size_t element_bytes, const std::string& shape);
}  // namespace detail

/// An array of Rank dimensions that is cut along one or several axes into boxes, the shards, one for each member of a
/// team. Each shard is in the memory of its device. With kind unified, all are in one allocation, and each device
/// prefers its part. Every shard has room for the requested halos on all sides, also at the ends of the array;
/// exchange_halos fills those that mirror cells of the array. Movable, not copyable. The destructor never blocks. Work
/// on the array runs on the streams of the team. Copies from and to memory of the CPU are exceptions: only conflicting
/// work waits for them.
/// @tparam T element type
/// @tparam Rank number of dimensions
/// @tparam Kind memory kind
template <class T, std::size_t Rank, memory_kind Kind = memory_kind::device>
class sharded_array {
 public:
  using element_type = T;
  using value_type = T;
  using view = array_view<T, Rank, Kind>;
  using const_view = array_view<const T, Rank, Kind>;
  static constexpr std::size_t rank = Rank;
  static constexpr memory_kind kind = Kind;

  sharded_array() = default;
  /// Makes an array with undefined contents, including halos. May block if pools have to grow.
  /// @param t the team
  /// @param e the shape
  /// @param o the distribution
  /// @throws invalid_argument as shard_layout does
  /// @throws out_of_memory if the shards do not fit
  sharded_array(const ferry::team& t, const ferry::extents<Rank>& e, const shard_options& o = {})
      : sharded_array(std::make_shared<shard_layout<Rank>>(t, e, o)) {}
  /// Makes an array and fills every cell, including halos, with a value.
  sharded_array(const ferry::team& t, const ferry::extents<Rank>& e, const shard_options& o, T value)
      : sharded_array(t, e, o) {
    for (std::size_t m = 0; m < store_->shards.size(); ++m)
      fill(team().stream(first() + m), store_->shards[m], value, source_line{});
    store_->note_filled();
  }
  sharded_array(sharded_array&&) noexcept = default;
  sharded_array& operator=(sharded_array&&) noexcept = default;
  sharded_array(const sharded_array&) = delete;
  sharded_array& operator=(const sharded_array&) = delete;  // arrays are copied only when asked: use assign(a, b)

  /// Sets the cells that members own to the elements of an expression, see docs/sharded_arrays.md. Each member computes
  /// its own cells on its stream. Does not block, except as exchange_halos does. Defined in sharded_expression.hpp.
  /// @throws invalid_argument if shapes, distributions or teams do not fit
  template <class U, std::size_t R>
  sharded_array& operator=(const sharded_expression<U, R>& e);
  /// @overload
  template <class U, std::size_t R>
  sharded_array& operator=(const expression<U, R>& e);
  /// Sets the cells that members own to the result of a reduction along axes. Defined in sharded_reduced.hpp.
  /// @throws invalid_argument if shapes or distributions do not fit
  template <class U, std::size_t R>
  sharded_array& operator=(const sharded_reduced<U, R>& r);
  /// Sets the cells that members own to the result of a scan. Defined in sharded_scanned.hpp.
  /// @throws invalid_argument if shapes or distributions do not fit
  template <class U, std::size_t R>
  sharded_array& operator=(const sharded_scanned<U, R>& r);
  template <class N>
  requires std::is_arithmetic_v<N> sharded_array& operator=(N) = delete;  // a number is set by ferry::assign(u, 0.0)

  /// Returns the distribution.
  /// @throws invalid_argument for a default-constructed or moved-from array
  const shard_layout<Rank>& layout() const {
    if (!store_) throw invalid_argument("a sharded array is used that was default-constructed, or moved from");
    return *store_->layout;
  }
  /// Returns the distribution as a shared object.
  const std::shared_ptr<const shard_layout<Rank>>& shared_layout() const {
    (void)layout();
    return store_->layout;
  }
  /// Returns the team.
  const ferry::team& team() const { return layout().team(); }
  /// Returns the shape of the whole array.
  const ferry::extents<Rank>& extents() const { return layout().extents(); }
  /// Returns the extent of the whole array along dimension d.
  std::size_t extent(std::size_t d) const { return extents()[d]; }
  /// Returns the number of cells of the whole array, without halos.
  std::size_t size() const { return extents().count(); }

  /// Returns the cells that a local member owns, as a view of an ordinary array. Ferry does not track writes through a
  /// view: they make no halo out of date, but from then on each statement with shift() of the array exchanges its
  /// halos. Halo cells that a writable view reaches count as up to date from then on.
  /// @param member the rank of the member
  /// @return the view
  /// @throws invalid_argument for a member of another process
  view shard(std::size_t member) {
    view v = part_of<view>(member, layout().own(member));
    store_->currency->handed_out();
    return v;
  }
  /// @overload
  const_view shard(std::size_t member) const { return part_of<const_view>(member, layout().own(member)); }
  /// Returns the cells that a local member owns and its halos. See shard() for writes and errors.
  view shard_with_halo(std::size_t member) { return cells(member, layout().local(member)); }
  /// @overload
  const_view shard_with_halo(std::size_t member) const { return local(member); }
  /// Returns a part of the cells that a local member sees. See shard() for writes.
  /// @param member the rank of the member
  /// @param ranges one range [begin, end) for each dimension, in indices of the whole array. Halo cells have negative
  ///   indices or those after the last one. Omitted dimensions and all_of are all that the member sees.
  /// @return the view
  /// @throws invalid_argument for a member of another process, and for cells that the member does not see
  view cells(std::size_t member, std::initializer_list<ferry::slice> ranges) {
    return cells(member, box_of(member, ranges));
  }
  /// @overload
  const_view cells(std::size_t member, std::initializer_list<ferry::slice> ranges) const {
    return part_of<const_view>(member, box_of(member, ranges));
  }
  /// @overload
  view cells(std::size_t member, const ferry::slice& first_dimension) {
    return cells(member, std::initializer_list<ferry::slice>{first_dimension});
  }
  /// @overload
  const_view cells(std::size_t member, const ferry::slice& first_dimension) const {
    return cells(member, std::initializer_list<ferry::slice>{first_dimension});
  }
  /// @overload
  view cells(std::size_t member, const box<Rank>& b) {
    view v = part_of<view>(member, b);
    if (!(layout().own(member) & b).empty()) store_->currency->handed_out();
    if (store_->validity && !layout().own(member).contains(b)) store_->validity->handed_out(member, b);
    return v;
  }
  /// @overload
  const_view cells(std::size_t member, const box<Rank>& b) const { return part_of<const_view>(member, b); }

  template <class... Ranges>
  void slice(Ranges...) const = delete;  // members have parts of the array: use u.cells(member, {{begin, end}})
  void slice(std::initializer_list<ferry::slice>) const = delete;  // use u.cells(member, {{begin, end}, {begin, end}})
  /// Returns a copy with the same distribution, halos included. Each member copies its part on its stream. May allocate
  /// and block for that. Defined in shard_copy.hpp.
  /// @throws out_of_memory if the shards do not fit
  sharded_array clone() const;

  /// Returns an element by its indices in the whole array, for the CPU. Blocks until conflicting device work is
  /// complete. For unified arrays only. For many elements, use host(a.shard(m)).
  template <class... Index>
  requires(sizeof...(Index) == Rank) T& operator()(Index... index) {
    T& found = element<T>(*this, static_cast<std::ptrdiff_t>(index)...);
    store_->currency->handed_out();
    return found;
  }
  /// @overload
  template <class... Index>
  requires(sizeof...(Index) == Rank) const T& operator()(Index... index) const {
    return element<const T>(*this, static_cast<std::ptrdiff_t>(index)...);
  }

  /// Returns the allocation of a local member's cells; null if it has none.
  const detail::allocation_ref& shard_owner(std::size_t member) const { return local(member).owner(); }

  /// Returns the plan of the halo exchange; the first call makes it by make().
  template <class Make>
  detail::halo_plan& halos(Make make) const {
    (void)layout();
    if (!store_->halos) store_->halos = make();
    return *store_->halos;
  }

  /// Returns which halos are up to date; null if that is not tracked.
  detail::halo_validity<Rank>* validity() const { return store_ ? store_->validity.get() : nullptr; }
  /// Records that all cells were written, or the owned ones of a region. Used by calls that write cells.
  void note_changed() const { store_->note_changed(); }
  /// @overload
  template <class Region>
  void note_changed(const Region& r) const {
    store_->currency->changed();
    if (store_->validity) [[unlikely]]
      store_->validity->changed(r);
  }
  /// Returns what records that cells are written, and how often they were.
  std::shared_ptr<const detail::halo_currency> currency() const {
    (void)layout();
    return store_->currency;
  }
  /// Records that all halos were filled. Used by calls that fill them.
  void note_filled() const { store_->note_filled(); }

  /// What the array is to expressions. Used by them, as the next members.
  static constexpr detail::operand_kind expression_kind{detail::operand_role::array, detail::scalar_type_of<T>(), Rank,
                                                        true};
  detail::expression_program program() const {
    const std::shared_ptr<const detail::sharded_operand> cells = team_operand();
    return detail::placeholder_program(*cells, cells->distribution().extents, expression_kind.type, Kind);
  }
  std::shared_ptr<const detail::sharded_operand> team_operand() const {
    (void)layout();
    return store_;
  }

  /// Returns the name of the array.
  const std::string& name() const {
    static const std::string none;
    return store_ ? store_->name : none;
  }
  /// Returns the description of the array for error texts.
  detail::array_look look() const {
    detail::array_look l{nullptr, Kind, detail::type_name<T>(), Rank, {}, name()};
    for (std::size_t d = 0; store_ && d != Rank; ++d) l.extent[d] = extent(d);
    return l;
  }
  /// Names the array and its shards.
  sharded_array& name(std::string text) & {
    if (!store_) return *this;
    auto& shards = store_->shards;
    for (std::size_t m = 0; m < shards.size(); ++m)
      if (shards[m].owner())
        shards[m].owner().get().name =
            Kind == memory_kind::unified ? text : detail::concat(text, "[", first() + m, "]");
    store_->name = std::move(text);
    return *this;
  }
  /// @overload
  sharded_array&& name(std::string text) && { return std::move(name(std::move(text))); }
  /// Swaps two arrays.
  friend void swap(sharded_array& a, sharded_array& b) noexcept { std::swap(a.store_, b.store_); }

 private:
  explicit sharded_array(std::shared_ptr<const shard_layout<Rank>> l) : store_(std::make_shared<store>(std::move(l))) {
    allocate();
    store_->validity = detail::halo_validity<Rank>::of_new_array(*store_->layout);
  }
  std::size_t first() const { return team().first_local(); }
  const view& local(std::size_t member) const {
    (void)team().stream(member);  // throws for members of other processes
    return store_->shards[member - first()];
  }
  box<Rank> box_of(std::size_t member, std::initializer_list<ferry::slice> ranges) const {
    detail::check_ranges(std::span<const ferry::slice>(ranges.begin(), ranges.size()), Rank);
    box<Rank> b = layout().local(member);
    std::size_t d = 0;
    for (const ferry::slice& s : ranges) {
      const bool to_the_end = s.end == ferry::slice().end;
      if (!to_the_end || s.begin != 0) {
        const std::ptrdiff_t end = to_the_end ? b.end[d] : s.end;
        if (s.begin > end)
          throw invalid_argument(detail::concat("the range [", s.begin, ", ", end, ") in dimension ", d,
                                                " of cells of ", detail::array_text(look()),
                                                " ends before it begins: give begin and end of each dimension"));
        b = b.with(d, s.begin, end);
      }
      ++d;
    }
    return b;
  }
  template <class View>
  View part_of(std::size_t member, const box<Rank>& b) const {
    const view& all = local(member);
    const box<Rank> seen = layout().local(member);
    if (!seen.contains(b))
      throw invalid_argument(detail::concat("the cells ", b.text(), " of ", detail::array_text(look()),
                                            " are not among those that member ", member,
                                            " of the team has: ", seen.text()));
    if (b.empty()) return View(all.owner(), all.unsynchronized_data(), b.extents(), all.strides());
    T* data = all.unsynchronized_data();
    for (std::size_t d = 0; d != Rank; ++d) data += (b.begin[d] - seen.begin[d]) * all.strides()[d];
    return View(all.owner(), data, b.extents(), all.strides());
  }
  void allocate() {
    const std::size_t n = team().local_size();
    std::vector<std::size_t> counts(n);
    for (std::size_t i = 0; i < n; ++i) counts[i] = layout().local(first() + i).extents().count();
    const auto bytes = detail::checked_shard_bytes(counts, size(), sizeof(T), extents().text());
    if constexpr (Kind == memory_kind::unified) {
      const auto memory = detail::allocate_shards(team(), bytes);
      for (std::size_t i = 0; i < n; ++i) {
        const auto e = layout().local(first() + i).extents();
        store_->shards.emplace_back(bytes[i] ? memory.owner : detail::allocation_ref(),
                                    reinterpret_cast<T*>(memory.begin[i]), e, row_major(e));
      }
    } else {
      for (std::size_t i = 0; i < n; ++i)
        store_->shards.push_back(
            basic_array<T, Rank, Kind>(layout().local(first() + i).extents(), team().device(first() + i)));
    }
  }
  template <class U, class Self, class... Index>
  static U& element(Self& a, Index... index) {
    detail::need_host_access<Kind>();
    const box<Rank> all = a.layout().whole();
    const std::array<std::ptrdiff_t, Rank> at{index...};
    for (std::size_t d = 0; d != Rank; ++d)
      if (at[d] < 0 || at[d] >= all.end[d])
        detail::throw_out_of_range(static_cast<std::size_t>(at[d]), a.extent(d), d, a.look(), {});
    const std::size_t member = a.layout().member_of(at);
    const box<Rank> seen = a.layout().local(member);
    auto& v = const_cast<std::conditional_t<std::is_const_v<U>, const view, view>&>(a.local(member));
    return [&]<std::size_t... D>(std::index_sequence<D...>)->U& {
      return v(static_cast<std::size_t>(at[D] - seen.begin[D])...);
    }
    (std::make_index_sequence<Rank>());
  }

  using store = detail::shard_store<T, Rank, Kind>;
  std::shared_ptr<store> store_;
};

namespace detail {
// Returns a writable view of cells, or of those that the member owns, for calls that record their effect on halos
// themselves.
template <class T, std::size_t Rank, memory_kind Kind>
array_view<T, Rank, Kind> cells_for_call(const sharded_array<T, Rank, Kind>& a, std::size_t member,
                                         const box<Rank>& b) {
  const auto v = a.cells(member, b);  // const: records no view
  return {v.owner(), const_cast<T*>(v.unsynchronized_data()), v.extents(), v.strides()};
}
template <class T, std::size_t Rank, memory_kind Kind>
array_view<T, Rank, Kind> cells_for_call(const sharded_array<T, Rank, Kind>& a, std::size_t member) {
  return cells_for_call(a, member, a.layout().own(member));
}
}  // namespace detail

/// A sharded array in unified memory.
template <class T, std::size_t Rank = 1>
using unified_sharded_array = sharded_array<T, Rank, memory_kind::unified>;

/// @}

}  // namespace ferry::inline FERRY_ABI
