/// @file
/// Arrays of which every member of a team has a copy: tables, coefficients, and other data that all devices read.
#pragma once
#include <vector>

#include "ferry/core/arguments.hpp"
#include "ferry/core/copy.hpp"
#include "ferry/core/detail/expressions/expression_operand.hpp"
#include "ferry/core/parallel_for.hpp"
#include "ferry/multigpu/detail/collectives/replicated_operand.hpp"
#include "ferry/multigpu/team.hpp"
#include "ferry/version.hpp"

namespace ferry::inline FERRY_ABI {

/// @addtogroup teams
/// @{

template <class T, std::size_t Rank, memory_kind Kind>
class replicated_array;

/// A replicated array as an argument of a loop: each member's kernel receives the copy of that member.
template <class T, std::size_t Rank, memory_kind Kind>
struct replicated_argument {
  using array = replicated_array<std::remove_const_t<T>, Rank, Kind>;
  std::conditional_t<std::is_const_v<T>, const array, array>* what;
  detail::access_mode mode;
  /// Returns the copy of a member as an argument.
  array_argument<T, Rank> of_member(std::size_t member) const {
    auto& copy = what->copy_of(member);
    if constexpr (std::is_const_v<T>)
      return in(copy, source_line{});
    else
      return detail::make_argument<T>(copy, mode, source_line{});
  }
};

/// An array of which every member of a team has a copy. In expressions over sharded arrays each member reads its own
/// copy. Ferry does not keep the copies equal: the program does the same work on each, or calls copy() from memory of
/// the CPU. Movable, not copyable. The destructor never blocks.
/// @tparam T element type
/// @tparam Rank number of dimensions
/// @tparam Kind memory kind
template <class T, std::size_t Rank = 1, memory_kind Kind = memory_kind::device>
class replicated_array {
 public:
  using value_type = T;
  /// Makes the copies with undefined contents. May block if pools have to grow.
  /// @throws out_of_memory if a device has no room
  replicated_array(const ferry::team& t, const ferry::extents<Rank>& e) : team_(t), extents_(e) {
    for (std::size_t i = 0; i < t.local_size(); ++i) copies_.emplace_back(e, t.device(t.first_local() + i));
    operand_ = describe();
  }
  /// Makes the copies and fills every element with a value, ordered on the streams of the team.
  replicated_array(const ferry::team& t, const ferry::extents<Rank>& e, T value) : replicated_array(t, e) {
    for (std::size_t i = 0; i < copies_.size(); ++i)
      fill(t.stream(t.first_local() + i), copies_[i], value, source_line{});
  }
  /// Makes the copies of the result of a reduction along axes, on the team of its arrays. Defined in
  /// sharded_reduced.hpp, as the next member.
  template <class U>
  explicit replicated_array(const sharded_reduced<U, Rank>& r);
  /// Sets all copies to the result of a reduction of a sharded array along axes. Does not block, except as
  /// exchange_halos does and, between processes, as collectives do.
  /// @throws invalid_argument if shapes or teams differ, and if axes of distribution are kept
  template <class U, std::size_t R>
  replicated_array& operator=(const sharded_reduced<U, R>& r);

  /// Returns the team.
  const ferry::team& team() const {
    if (copies_.empty()) detail::throw_moved_from("the replicated array");
    return team_;
  }
  /// Returns the shape of each copy.
  const ferry::extents<Rank>& extents() const { return extents_; }
  /// Returns the number of elements of each copy.
  std::size_t size() const { return extents_.count(); }
  /// Returns the copy of a local member.
  /// @param member the rank of the member
  /// @return the copy
  /// @throws invalid_argument for a member of another process
  basic_array<T, Rank, Kind>& copy_of(std::size_t member) {
    (void)team().stream(member);
    return copies_[member - team_.first_local()];
  }
  /// @overload
  const basic_array<T, Rank, Kind>& copy_of(std::size_t member) const {
    (void)team().stream(member);
    return copies_[member - team_.first_local()];
  }
  /// Returns the copies of the local members in order, as collectives take them: all_reduce(t, table.copies(), plus{}).
  std::vector<basic_array<T, Rank, Kind>>& copies() { return copies_; }
  /// @overload
  const std::vector<basic_array<T, Rank, Kind>>& copies() const { return copies_; }
  /// Names all copies.
  replicated_array& name(const std::string& text) & {
    for (auto& c : copies_) c.name(text);
    return *this;
  }

  /// What the array is to expressions. Used by them, as the next members.
  static constexpr detail::operand_kind expression_kind{detail::operand_role::elements, detail::scalar_type_of<T>(),
                                                        Rank, true};
  detail::expression_program program() const {
    const detail::program_operand first = detail::operand_of(copies_.front());
    return detail::placeholder_program(*team_operand(), first.shape, expression_kind.type, Kind);
  }
  const std::shared_ptr<const detail::team_operand>& team_operand() const {
    (void)team();
    if (!detail::is_same_memory(*operand_, copies_)) operand_ = describe();
    return operand_;
  }

  /// Returns the array as an argument that kernels read.
  replicated_argument<const T, Rank, Kind> as_team_argument() const { return {this, detail::access_mode::in}; }
  /// Returns the array as an argument that kernels read and write.
  replicated_argument<T, Rank, Kind> as_team_argument() { return {this, detail::access_mode::inout}; }

 private:
  ferry::team team_;
  ferry::extents<Rank> extents_;
  std::vector<basic_array<T, Rank, Kind>> copies_;
  // Changes only if the program replaces arrays by copies().
  mutable std::shared_ptr<const detail::team_operand> operand_;
  std::shared_ptr<const detail::team_operand> describe() const {
    std::vector<detail::program_operand> all;
    for (const auto& c : copies_) all.push_back(detail::operand_of(c));
    return std::make_shared<detail::replicated_operand>(team_, std::move(all));
  }
};

/// Marks a replicated array that kernels read.
template <class T, std::size_t Rank, memory_kind Kind>
replicated_argument<const T, Rank, Kind> in(const replicated_array<T, Rank, Kind>& a) {
  return {&a, detail::access_mode::in};
}
/// Marks a replicated array that kernels read and write.
template <class T, std::size_t Rank, memory_kind Kind>
replicated_argument<T, Rank, Kind> inout(replicated_array<T, Rank, Kind>& a) {
  return {&a, detail::access_mode::inout};
}
/// Marks a replicated array that kernels overwrite completely.
template <class T, std::size_t Rank, memory_kind Kind>
out_argument<replicated_argument<T, Rank, Kind>> out(replicated_array<T, Rank, Kind>& a) {
  return {{&a, detail::access_mode::out}};
}

namespace detail {
template <class T, std::size_t Rank, memory_kind Kind>
void copy_to_the_others(replicated_array<T, Rank, Kind>& a) {
  const std::size_t first = a.team().first_local();
  for (std::size_t i = 1; i < a.team().local_size(); ++i)
    copy(a.team().stream(first + i), std::as_const(a).copy_of(first), a.copy_of(first + i), source_line{});
}
}  // namespace detail

/// Copies elements from memory of the CPU into every local copy: to the first member, and from there to the others.
/// Each process of a team that spans several must call it, with its own elements; broadcast(t, a.copies(), root) copies
/// those of one member to all. The first copy is ordered on the calling thread's stream of its device, the others on
/// the streams of the team. Blocks until the memory has been read.
/// @param from the elements in row-major order
/// @param to the array
/// @throws invalid_argument for different numbers of elements
template <class T, std::size_t Rank, memory_kind Kind>
void copy(std::span<const std::type_identity_t<T>> from, replicated_array<T, Rank, Kind>& to) {
  copy(from, to.copy_of(to.team().first_local()), source_line{});
  detail::copy_to_the_others(to);
}
/// Copies an array of any location into every local copy. Ordered on the streams of the team; blocks only if a copy
/// between arrays does.
/// @throws invalid_argument if the shapes differ
template <class T, class U, std::size_t Rank, memory_kind From, memory_kind Kind>
void copy(const array_view<U, Rank, From>& from, replicated_array<T, Rank, Kind>& to) {
  const std::size_t first = to.team().first_local();
  copy(to.team().stream(first), from, to.copy_of(first), source_line{});
  detail::copy_to_the_others(to);
}
/// Returns the elements of the first local member's copy. Blocks until it has been written.
template <class T, std::size_t Rank, memory_kind Kind>
std::vector<T> to_vector(const replicated_array<T, Rank, Kind>& a) {
  return to_vector(a.copy_of(a.team().first_local()), source_line{});
}

/// An index space for every member of a team: each executes all of it, on its own stream.
template <class Space>
struct on_each_member {
  ferry::team team;
  Space space;
};
/// Returns a space that every member of the team executes completely.
/// @param t the team
/// @param space an integer, extents, tiles, or one to six extents in braces
/// @throws invalid_argument if an extent in braces is negative; the loop checks integers
template <detail::index_space Space>
on_each_member<Space> each_member(const team& t, const Space& space) {
  return {t, space};
}
/// @overload
template <std::size_t Rank>
auto each_member(const team& t, const detail::braced_extent (&space)[Rank]) {
  if constexpr (Rank > max_rank) {
    return on_each_member<detail::space_beyond>{t, {}};
  } else {
    on_each_member<extents<Rank>> each{t, {}};
    for (std::size_t d = 0; d != Rank; ++d) each.space[d] = space[d].value;
    return each;
  }
}

/// @}

}  // namespace ferry::inline FERRY_ABI
