// The buffers of calls, in memory that the CPU can access.
#pragma once
#include <deque>

#include "ferry/core/array.hpp"
#include "ferry/multigpu/detail/transport/transport.hpp"

namespace ferry::inline FERRY_ABI::detail::mpi {

class staging {
 public:
  // Starts to copy what the calls read, and allocates memory for what they write.
  staging(std::span<const collective_call> calls, std::span<const stream_ref> streams);
  // Returns a buffer of call i. Blocks until it has arrived; for destinations, until all uses of the previous bytes are
  // complete.
  const std::byte* from(std::size_t i);
  std::byte* to(std::size_t i);
  // Enqueues copies of the results on the members' streams.
  void put_back();

 private:
  struct side {
    collective_buffer buffer;
    host_array<std::byte, 1> pinned;  // empty: the CPU can access the buffer itself
    bool ready = false;
  };
  std::byte* reach(side& s, bool write);
  std::span<const collective_call> calls_;
  std::span<const stream_ref> streams_;
  std::vector<side> from_, to_;
};

}  // namespace ferry::inline FERRY_ABI::detail::mpi
