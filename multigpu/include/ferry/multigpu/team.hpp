// Several devices as one: which they are, in which order, and how a range is dealt out to them.
#pragma once
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "ferry/core/detail/assembly/settings.hpp"
#include "ferry/core/route.hpp"
#include "ferry/core/stream.hpp"

namespace ferry {

class transport;  // what carries bytes between the processes of a team
namespace detail {
struct team_link;  // what collectives keep with a team
class submitters;
}  // namespace detail

// Rows [begin, end) that a member of a team owns.
struct part {
  std::size_t begin = 0, end = 0;
  std::size_t size() const { return end - begin; }
  bool operator==(const part&) const = default;
};

// Who gives work to the devices of a team.
enum class submission : std::uint8_t {
  by_caller,   // the calling thread, one device after the other
  by_threads,  // a thread a device, all at once: for short steps on several devices
};

namespace detail {
// The environment's words about teams and collectives are checked when a machine is made, in programs of one process too.
void check_team_settings();
inline const bool team_settings_are_checked = (add_settings_check(check_team_settings), true);
}  // namespace detail

// Members in order, each a device with one stream of its own. A team may span processes: each holds some consecutive
// members, its local ones, and every process says the same things to the team in the same order. A handle: copies name
// the same team. The streams go back when the last of them is destroyed.
class team {
 public:
  // All members are local. Throws invalid_argument for no device, one that is not there, or one named twice.
  explicit team(std::span<const ferry::device> members);
  // `local` are the members first, first + 1, ... of a team of `size`; the others are reached over `wire`.
  team(std::span<const ferry::device> local, std::size_t first, std::size_t size, std::shared_ptr<transport> wire);
  // All devices of this machine.
  static team all();
  // All devices of all processes that mpirun started, in the order of processes; for a program that was started alone,
  // all(). The devices of a machine are dealt out to its processes in order, unless the launcher gave each its own. Every
  // process makes this call, and waits for the others. Throws not_supported (no MPI, no NCCL), invalid_argument (more
  // processes than GPUs), process_error.
  static team world();

  // Members in all processes; how many of them are local, and which is the first of these.
  std::size_t size() const { return held().size; }
  std::size_t local_size() const { return held().members.size(); }
  std::size_t first_local() const { return held().first; }
  bool is_local(std::size_t member) const { return member - first_local() < local_size(); }
  // Null when all members are local.
  const std::shared_ptr<transport>& wire() const { return held().wire; }

  // Of a local member, by its place in the team: its device; its stream; a second, more urgent stream for what should
  // happen beside the work of the first. Throws invalid_argument.
  ferry::device device(std::size_t member) const { return stream(member).where(); }
  stream_ref stream(std::size_t member) const { return local(member).own; }
  stream_ref side_stream(std::size_t member) const { return local(member).side; }
  stream_ref operator[](std::size_t member) const { return stream(member); }

  // How `count` elements are dealt out: contiguous parts in order, sizes differing by at most one; some are empty when
  // there are fewer elements than members.
  part part_of(std::size_t member, std::size_t count) const;
  // The member whose part holds element `index` of `count`. Throws invalid_argument.
  std::size_t member_of(std::size_t index, std::size_t count) const;

  // From now on: who calls the functions that for_each is given. Starting threads may block; each stays on the cores near
  // its device, but the first member's: that is the caller, who stays where he is. The caller's scopes of pools, tags and
  // devices hold for all of them; a workspace_scope is for the caller alone. Throws invalid_argument inside a loop over the
  // team whose calls are made by threads.
  void submit(submission how);
  submission how_submitted() const;
  // Calls f(member) for every local member, by the caller or by a thread each; returns when all calls have. What
  // different members submit must not conflict, unless submissions are by_caller. Throws what the first of them threw.
  void for_each(const std::function<void(std::size_t member)>& f) const;

  // Blocks until the streams of all local members are idle. Throws process_error when collectives among them were ended
  // because another process failed; what they wrote is undefined then.
  void synchronize() const;

  bool operator==(const team&) const = default;

  // For collectives: made at first use.
  detail::team_link& link() const;
  // One thread a local member, near its device, for what each member waits for by itself. Made at first use, which may
  // block.
  detail::submitters& waiting_threads() const;

 private:
  struct local_member {
    ferry::stream own, side;
  };
  struct state {
    std::vector<local_member> members;
    shared_links links;  // large copies from and to the CPU go over the links of all members
    std::size_t first = 0, size = 0;
    std::shared_ptr<transport> wire;
    std::shared_ptr<detail::submitters> threads;  // null: by the caller
    std::once_flag linking, starting;
    std::shared_ptr<detail::team_link> link;
    std::shared_ptr<detail::submitters> waiting_threads;
  };
  state& held() const {
    if (!state_) [[unlikely]]
      throw_moved_from("the team");
    return *state_;
  }
  const local_member& local(std::size_t member) const;
  std::shared_ptr<state> state_;
};

}  // namespace ferry
