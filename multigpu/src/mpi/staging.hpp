// The buffers of calls as memory that the CPU can read and write.
#pragma once
#include <deque>

#include "ferry/core/array.hpp"
#include "ferry/multigpu/detail/transport/transport.hpp"

namespace ferry::mpi {

class staging {
 public:
  // Starts to bring what the calls read, and makes room for what they write.
  staging(std::span<const collective_call> calls, std::span<const stream_ref> streams);
  // Of call i. Blocks until it is there; for destinations, until nobody uses the old bytes.
  const std::byte* from(std::size_t i);
  std::byte* to(std::size_t i);
  // Gives what was written back to the members' streams.
  void put_back();

 private:
  struct side {
    collective_buffer buffer;
    host_array<std::byte, 1> pinned;  // empty: the buffer itself can be reached
    bool ready = false;
  };
  std::byte* reach(side& s, bool write);
  std::span<const collective_call> calls_;
  std::span<const stream_ref> streams_;
  std::vector<side> from_, to_;
};

}  // namespace ferry::mpi
