// Large buffers as messages of MPI, whose counts are of type int.
#pragma once
#include <algorithm>
#include <cstddef>

#include "ferry/version.hpp"

namespace ferry::inline FERRY_ABI::detail::mpi {

inline constexpr std::size_t most_bytes = std::size_t{1} << 30;  // of one message

// Calls post(first, count) for each piece, in order.
template <class Byte, class Post>
void each_piece(Byte* data, std::size_t bytes, Post post) {
  for (std::size_t done = 0; done < bytes; done += most_bytes)
    post(data + done, static_cast<int>(std::min(most_bytes, bytes - done)));
}

}  // namespace ferry::inline FERRY_ABI::detail::mpi
