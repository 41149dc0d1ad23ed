/// @file
/// Results that the members of a team compute together.
#pragma once
#include <deque>
#include <optional>

#include "ferry/core/detail/expressions/expression_operand.hpp"
#include "ferry/core/parallel_reduce.hpp"
#include "ferry/multigpu/detail/teams/across_processes.hpp"
#include "ferry/version.hpp"

namespace ferry::inline FERRY_ABI {

/// @addtogroup teams
/// @{

/// A scalar in parts, one for each member, in pinned memory. Every member writes its own part without waiting for the
/// others. A reader joins the parts in the order of the members. So the CPU can read the result several steps later
/// without stalling the devices. Kernels take it as ferry::mdspan<const T, 1> and join its elements: the parts of all
/// members. For a team that spans processes, it contains the joined result only; all processes then wait for each
/// other, as in value(). Expressions take it as they take a scalar, and join the parts on their device. They wait for
/// the value if the team spans processes, and if an operation of the program's own joins the parts.
/// @tparam T type of the value
template <class T>
class team_scalar {
 public:
  using join = T (*)(const T&, const T&);
  /// Makes a scalar whose parts are undefined until work writes them.
  /// @param t the team
  /// @param identity the value that changes nothing
  /// @param op joins two values
  /// @param as the operation of expressions that joins as `op` does, if there is one
  team_scalar(ferry::team t, T identity, join op, std::optional<detail::operation> as = {})
      : team_(std::move(t)),
        parts_({team_.local_size()}, team_.device(team_.first_local())),
        identity_(identity),
        join_(op),
        joined_as_(as) {}
  // Declared explicitly, because containers otherwise try to copy.
  team_scalar(team_scalar&&) noexcept = default;
  team_scalar& operator=(team_scalar&&) noexcept = default;

  /// Returns the result. Blocks until the work that writes the parts is complete; later reads do not block until other
  /// work writes them. For a team that spans processes, all of them must call it, and each waits for the others.
  operator T() const { return value(); }
  /// As the conversion to T.
  T value() const {
    T here = identity_;
    (void)team();
    for (const T& part : parts_) here = join_(here, part);
    T all = identity_;
    detail::for_each_process(team_, here, "reading a result of all members",
                             [&](const T& theirs) { all = join_(all, theirs); });
    return all;
  }
  /// True if the parts of this process are complete. Never blocks.
  bool is_ready() const { return parts_.is_ready(); }
  /// Names the parts.
  void name(std::string text) { parts_.name(std::move(text)); }

  /// Returns the team.
  const ferry::team& team() const {
    if (parts_.empty()) detail::throw_moved_from("the result of a team");
    return team_;
  }
  /// Returns the parts of the local members.
  const host_array<T, 1>& parts() const { return parts_; }
  /// @overload
  host_array<T, 1>& parts() { return parts_; }
  /// What it is to expressions. Used by them, as program().
  static constexpr detail::operand_kind expression_kind{detail::operand_role::value, detail::scalar_type_of<T>(), 0};
  detail::expression_program program() const {
    constexpr detail::scalar_type type = expression_kind.type;
    if (!joined_as_ || detail::spans_processes(team())) {
      const T now = value();
      return detail::constant_program(&now, type);
    }
    const auto part = [&](std::size_t i) {
      const array_view<const T, 0, memory_kind::host> one(parts_.owner(), parts_.unsynchronized_data() + i, {}, {});
      return detail::array_program(detail::array_elements_of(one));
    };
    (void)team();
    detail::expression_program p = part(0);
    for (std::size_t i = 1; i != parts_.size(); ++i) p = detail::apply(*joined_as_, type, std::move(p), part(i));
    return p;
  }
  /// Returns the argument for a kernel. Not thread-safe, as all calls on a team.
  auto as_kernel_argument(source_line at) const {
    if (!detail::spans_processes(team())) return in(parts_, at);
    if (joined_.size() == most_arguments) joined_.pop_front();
    joined_.emplace_back(extents<1>{1}, value(), team_.device(team_.first_local()));
    return in(std::as_const(joined_.back()), at);
  }

 private:
  ferry::team team_;
  host_array<T, 1> parts_;
  // Results of all processes, for kernels. Each call makes a new one, because kernels may still read earlier ones.
  static constexpr std::size_t most_arguments = 16;
  mutable std::deque<host_array<T, 1>> joined_;
  T identity_;
  join join_;
  std::optional<detail::operation> joined_as_;
};

/// @}

}  // namespace ferry::inline FERRY_ABI
