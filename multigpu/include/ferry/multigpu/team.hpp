/// @file
/// Teams: several devices with an order, and the distribution of ranges over them.
#pragma once
#include <cstddef>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "ferry/core/detail/assembly/settings.hpp"
#include "ferry/core/detail/support/function_ref.hpp"
#include "ferry/core/route.hpp"
#include "ferry/core/stream.hpp"
#include "ferry/version.hpp"

namespace ferry::inline FERRY_ABI {

/// @addtogroup teams
/// @{

namespace detail {
class transport;   // carries bytes between the processes of a team
struct team_link;  // state of collectives on a team
class submitters;
}  // namespace detail

/// Rows [begin, end) that a member of a team owns.
struct part {
  std::size_t begin = 0, end = 0;
  std::size_t size() const { return end - begin; }
  bool operator==(const part&) const = default;
};

/// The threads that submit work to the devices of a team.
enum class submission : std::uint8_t {
  by_caller,   ///< the calling thread, one device after the other
  by_threads,  ///< a thread for each device, concurrently: for short steps on several devices
};

namespace detail {
// Environment variables about teams and collectives are checked when a runtime is made, in programs of one process,
// too.
void check_team_settings();
inline const bool team_settings_are_checked = (add_settings_check(check_team_settings), true);
}  // namespace detail

/// Members in order; each is a device with one stream of its own. A team may span processes. Each process then has some
/// consecutive members, its local ones, and must make the same calls on the team in the same order. A team is a handle:
/// copies refer to the same team. The streams are released when the last copy is destroyed.
class team {
 public:
  /// Makes a team of which all members are local.
  /// @param members the devices
  /// @throws invalid_argument for no device, one that does not exist, or one that is named twice
  explicit team(std::span<const ferry::device> members);
  /// Makes a team that spans processes.
  /// @param local the devices of the members first, first + 1, ...
  /// @param first the rank of the first local member
  /// @param size the number of members in all processes
  /// @param wire the transport to the other members
  team(std::span<const ferry::device> local, std::size_t first, std::size_t size,
       std::shared_ptr<detail::transport> wire);
  /// Returns a team of all devices of the current runtime.
  static team all();
  /// Returns a team of all devices of all processes that mpirun started, in the order of processes; all() for a program
  /// without mpirun. The devices of a machine are distributed over its processes in order, unless the launcher has
  /// assigned devices to each. All processes must call it, and each waits for the others.
  /// @return the team
  /// @throws not_supported without MPI or NCCL
  /// @throws invalid_argument for more processes than GPUs
  /// @throws process_error if another process fails
  static team world();

  /// Returns the number of members in all processes.
  std::size_t size() const { return held().size; }
  /// Returns the number of local members.
  std::size_t local_size() const { return held().members.size(); }
  /// Returns the rank of the first local member.
  std::size_t first_local() const { return held().first; }
  /// True if the member is one of this process.
  bool is_local(std::size_t member) const { return member - first_local() < local_size(); }
  /// Returns the transport to other processes; null if all members are local.
  const std::shared_ptr<detail::transport>& wire() const { return held().wire; }

  /// Returns the device of a local member.
  /// @param member the rank of the member
  /// @return the device
  /// @throws invalid_argument for a member of another process
  ferry::device device(std::size_t member) const { return stream(member).where(); }
  /// Returns the stream of a local member. Throws as device() does.
  stream_ref stream(std::size_t member) const { return local(member).own; }
  /// Returns a second stream of a local member, of higher priority, for work concurrent with that of the first. Throws
  /// as device() does.
  stream_ref side_stream(std::size_t member) const { return local(member).side; }
  /// As stream().
  stream_ref operator[](std::size_t member) const { return stream(member); }

  /// Returns the part of `count` elements that a member owns. Parts are contiguous and in order, and their sizes differ
  /// by at most one. Some are empty if there are fewer elements than members.
  part part_of(std::size_t member, std::size_t count) const;
  /// Returns the member whose part contains element `index` of `count`.
  /// @throws invalid_argument if there is no such element
  std::size_t member_of(std::size_t index, std::size_t count) const;

  /// Sets which threads call the functions of for_each. Starting threads may block. Each thread stays on the cores near
  /// its device. The caller itself acts for the first member and stays on its cores. The caller's scopes of pools, tags
  /// and devices hold for all threads; a workspace_scope holds for the caller only.
  /// @param how the threads
  /// @throws invalid_argument inside a loop over the team whose calls are made by threads
  void submit(submission how);
  /// Returns the setting of submit().
  submission how_submitted() const;
  /// Calls f(member) for every local member, in the caller or in one thread for each. Returns when all calls have
  /// returned. Work of different members must not conflict, unless submissions are by_caller. Rethrows the first
  /// exception of f.
  /// @param f the function
  void for_each(detail::function_ref<void(std::size_t member)> f) const;

  /// Blocks until the streams of all local members are idle.
  /// @throws process_error if collectives were ended because another process failed; their results are undefined then
  void synchronize() const;

  /// True if both are the same team.
  bool operator==(const team&) const = default;

  /// Returns the state of collectives, which is made at first use.
  detail::team_link& link() const;
  /// Returns one thread for each local member, near its device, for waits of single members. Made at first use, which
  /// may block.
  detail::submitters& waiting_threads() const;

 private:
  struct local_member {
    ferry::stream own, side;
  };
  struct state {
    std::vector<local_member> members;
    shared_links links;  // large copies from and to the CPU use the links of all members
    std::size_t first = 0, size = 0;
    std::shared_ptr<detail::transport> wire;
    std::shared_ptr<detail::submitters> threads;  // null: by the caller
    std::once_flag linking, starting;
    std::shared_ptr<detail::team_link> link;
    std::shared_ptr<detail::submitters> waiting_threads;
  };
  state& held() const {
    if (!state_) [[unlikely]]
      detail::throw_moved_from("the team");
    return *state_;
  }
  const local_member& local(std::size_t member) const;
  std::shared_ptr<state> state_;
};

/// @}

}  // namespace ferry::inline FERRY_ABI
