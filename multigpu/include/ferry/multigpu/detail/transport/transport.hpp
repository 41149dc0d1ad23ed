// Transport interface: what ferry needs from a library that moves data between the members of a team. Implementations:
// src/sim, src/nccl and src/mpi.
#pragma once
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ferry/core/detail/ordering/allocation.hpp"
#include "ferry/core/detail/support/internal.hpp"
#include "ferry/core/stream.hpp"
#include "ferry/multigpu/detail/transport/element_type.hpp"

namespace ferry::inline FERRY_ABI::detail {

enum class collective_kind : std::uint8_t {
  all_reduce,
  reduce,
  broadcast,
  all_gather,
  reduce_scatter,
  all_to_all,
  gather,
  scatter,
  send,
  receive
};
const char* name_of(collective_kind k);
// True for operations between two ranks only.
inline bool is_exchange(collective_kind k) { return k == collective_kind::send || k == collective_kind::receive; }

// Contiguous elements of one member.
struct collective_buffer {
  allocation* owner = nullptr;  // null: no elements
  std::byte* data = nullptr;
  std::size_t bytes = 0;
  byte_range range() const { return {data, data + bytes}; }
};

// The part of one member in a collective operation.
struct collective_call {
  collective_kind kind = collective_kind::all_reduce;
  element_type type = element_type::bytes;
  reduction op = reduction::sum;
  std::size_t member = 0;  // index among the members of this process
  std::size_t other = 0;   // the rank of the root, or of the peer of a send or receive
  std::size_t count = 0;   // elements of one member's share, which is the smaller of both buffers
  std::size_t element_bytes = 1;
  collective_buffer from, to;
  std::size_t bytes() const { return count * element_bytes; }
};

// Positions of a team's members among all ranks, which include those of other processes.
struct rank_layout {
  std::size_t ranks = 0;  // number of ranks in all processes
  std::size_t first = 0;  // rank of this process' first member; the others follow
  std::vector<device> members;
  bool is_local(std::size_t rank) const { return rank >= first && rank - first < members.size(); }
};

class transport {
 public:
  virtual ~transport() = default;
  virtual std::string_view name() const = 0;  // "nccl", "mpi" or "sim"
  // Enqueues checked calls on the streams of the members, as one operation that is ordered by the access histories of
  // the buffers. The calls of one operation are consecutive, one for each member of this process. Sends and receives
  // are single calls. If it throws, nothing has been enqueued, except if another process caused the error.
  virtual void submit(std::span<const collective_call> calls, std::span<const stream_ref> streams) = 0;
  // Throws process_error if enqueued work was ended because another process failed: its results are undefined.
  virtual void check() {}
};

// Returns the transport of a team of this process: NCCL on CUDA devices, else the simulator's. (FERRY_TRANSPORT applies
// to team::world() only.) Throws not_supported with what to install.
std::shared_ptr<transport> make_transport(const rank_layout& team);

}  // namespace ferry::inline FERRY_ABI::detail
