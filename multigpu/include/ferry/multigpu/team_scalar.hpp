/// @file
/// Results that the members of a team compute together.
#pragma once
#include <list>

#include "ferry/core/parallel_reduce.hpp"
#include "ferry/multigpu/across_processes.hpp"
#include "ferry/version.hpp"

namespace ferry::inline FERRY_ABI {

/// @addtogroup teams
/// @{

/// A scalar in parts, one for each member, in pinned memory. Every member writes its own part without waiting for the
/// others. A reader joins the parts in the order of the members. So the CPU can read the result several steps later
/// without stalling the devices. Kernels take it as ferry::mdspan<const T, 1> and join its elements: the parts of all
/// members. For a team that spans processes, it contains the joined result only; all processes then wait for each
/// other, as in value().
/// @tparam T type of the value
template <class T>
class team_scalar {
 public:
  using join = T (*)(const T&, const T&);
  /// Makes a scalar whose parts are undefined until work writes them.
  team_scalar(ferry::team t, T identity, join op)
      : team_(std::move(t)),
        parts_({team_.local_size()}, team_.device(team_.first_local())),
        identity_(identity),
        join_(op) {}
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
  mutable std::list<host_array<T, 1>> joined_;
  T identity_;
  join join_;
};

/// @}

}  // namespace ferry::inline FERRY_ABI
