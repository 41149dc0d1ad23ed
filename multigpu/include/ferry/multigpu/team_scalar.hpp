// One value that the members of a team work out together.
#pragma once
#include <list>

#include "ferry/core/parallel_reduce.hpp"
#include "ferry/multigpu/across_processes.hpp"

namespace ferry {

// A scalar in parts, one of each member, in pinned memory: every member writes its own without waiting for the others, and
// whoever reads joins them, in the order of the members. So the CPU can read it steps later without stalling anybody.
// Kernels take it as ferry::mdspan<const T, 1> and join what it holds: the parts of all members; for a team that spans
// processes the result alone, which all processes wait for then, as in value().
template <class T>
class team_scalar {
 public:
  using join = T (*)(const T&, const T&);
  // The parts are undefined until work writes them.
  team_scalar(ferry::team t, T identity, join op)
      : team_(std::move(t)),
        parts_({team_.local_size()}, team_.device(team_.first_local())),
        identity_(identity),
        join_(op) {}
  // Declared, as containers otherwise try to copy.
  team_scalar(team_scalar&&) noexcept = default;
  team_scalar& operator=(team_scalar&&) noexcept = default;

  // Blocks until the work that writes the parts is over; not again until other work writes them.
  // For a team that spans processes all of them ask, and wait for each other.
  operator T() const { return value(); }
  T value() const {
    T here = identity_;
    (void)team();
    for (const T& part : parts_) here = join_(here, part);
    T all = identity_;
    detail::for_each_process(team_, here, "reading a result of all members",
                             [&](const T& theirs) { all = join_(all, theirs); });
    return all;
  }
  // Whether value() would return at once. Never blocks.
  bool is_ready() const { return parts_.is_ready(); }
  void name(std::string text) { parts_.name(std::move(text)); }

  const ferry::team& team() const {
    if (parts_.empty()) throw_moved_from("the result of a team");
    return team_;
  }
  const host_array<T, 1>& parts() const { return parts_; }
  host_array<T, 1>& parts() { return parts_; }
  // Not from several threads at once, as all that a team is told.
  auto as_kernel_argument(source_line at) const {
    if (!detail::spans_processes(team())) return in(parts_, at);
    if (joined_.size() == most_arguments) joined_.pop_front();
    joined_.emplace_back(extents<1>{1}, value(), team_.device(team_.first_local()));
    return in(std::as_const(joined_.back()), at);
  }

 private:
  ferry::team team_;
  host_array<T, 1> parts_;
  // Of all processes, for kernels: new each time, as earlier ones may still be read, and live within the call.
  static constexpr std::size_t most_arguments = 16;
  mutable std::list<host_array<T, 1>> joined_;
  T identity_;
  join join_;
};

}  // namespace ferry
