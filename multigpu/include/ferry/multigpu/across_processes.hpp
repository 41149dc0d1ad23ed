// Small things that all processes of a team tell each other, on the CPU.
#pragma once
#include <cstring>
#include <span>
#include <type_traits>
#include <vector>

#include "ferry/multigpu/team.hpp"

namespace ferry::detail {

// Every process' bytes, in the order of processes; the same number from each, which all make this call. Blocks until they
// have. Throws process_error.
std::vector<std::byte> from_all_processes(const team& t, std::span<const std::byte> mine, const char* what);

// What f(value of a process) is given for each process in order. For a team of this process: its own value alone.
template <class T, class F>
void for_each_process(const team& t, const T& mine, const char* what, F f) {
  static_assert(std::is_trivially_copyable_v<T>);
  if (t.local_size() == t.size()) return f(mine);
  const auto all = from_all_processes(t, std::as_bytes(std::span(&mine, 1)), what);
  for (std::size_t at = 0; at < all.size(); at += sizeof(T)) {
    T theirs = mine;
    std::memcpy(&theirs, all.data() + at, sizeof(T));
    f(theirs);
  }
}

}  // namespace ferry::detail
