// The seam of collectives: what ferry needs of a library that moves data between the members of a team. Implementations:
// src/sim, src/nccl and src/mpi.
#pragma once
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ferry/core/detail/ordering/allocation.hpp"
#include "ferry/core/stream.hpp"
#include "ferry/multigpu/detail/transport/element_type.hpp"

namespace ferry {

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
// Whether it is between two ranks only.
inline bool is_exchange(collective_kind k) { return k == collective_kind::send || k == collective_kind::receive; }

// Contiguous elements of one member.
struct collective_buffer {
  allocation* owner = nullptr;  // null: nothing here
  std::byte* data = nullptr;
  std::size_t bytes = 0;
  byte_range range() const { return {data, data + bytes}; }
};

// One member's part in a collective operation.
struct collective_call {
  collective_kind kind = collective_kind::all_reduce;
  element_type type = element_type::bytes;
  reduction op = reduction::sum;
  std::size_t member = 0;  // its place in this process
  std::size_t other = 0;   // the rank of the root, or of the peer of a send or receive
  std::size_t count = 0;   // elements of one member's share: of the smaller one of both buffers
  std::size_t element_bytes = 1;
  collective_buffer from, to;
  std::size_t bytes() const { return count * element_bytes; }
};

// Where a team's members are among all ranks: those of other processes included.
struct rank_layout {
  std::size_t ranks = 0;  // in all
  std::size_t first = 0;  // of this process' first member; the others follow
  std::vector<device> members;
  bool is_local(std::size_t rank) const { return rank >= first && rank - first < members.size(); }
};

class transport {
 public:
  virtual ~transport() = default;
  virtual std::string_view name() const = 0;  // "nccl", "mpi" or "sim"
  // Gives checked calls to the streams of the members, as one operation that is ordered by the logs of the buffers. Of one
  // operation all members of this process call, one after the other; sends and receives stand alone. Throws before
  // anything was submitted, except for what other processes did.
  virtual void submit(std::span<const collective_call> calls, std::span<const stream_ref> streams) = 0;
  // Throws process_error when what was submitted was ended because another process failed: its results are undefined.
  virtual void check() {}
};

// The transport of a team of this process: NCCL on CUDA devices, else the simulator's. FERRY_TRANSPORT says otherwise.
// Throws not_supported with what to install.
std::shared_ptr<transport> make_transport(const rank_layout& team);

}  // namespace ferry
