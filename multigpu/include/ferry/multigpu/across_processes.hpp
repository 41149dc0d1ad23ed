// Small things that all processes of a team tell each other, on the CPU, and what they do together.
#pragma once
#include <cstring>
#include <functional>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "ferry/multigpu/team.hpp"

namespace ferry::detail {

inline bool spans_processes(const team& t) { return t.local_size() < t.size(); }

// Every process' bytes, in the order of processes; the same number from each, which all make this call. Blocks until they
// have. Throws process_error.
std::vector<std::byte> from_all_processes(const team& t, std::span<const std::byte> mine, const char* what);

// The same for any number of bytes from each: they fill `all` in every process, one behind the other. Throws
// invalid_argument, in all of them, when the bytes are not as many as each has room for.
void join_processes(const team& t, std::span<const std::byte> mine, std::span<std::byte> all, const char* what);

// Calls f in every process of the team, and waits for all. When it threw somewhere all throw: who failed what f threw,
// the others an error that quotes the first of these; the team goes on. Throws process_error.
void together(const team& t, const std::string& what, const std::function<void()>& f);

// What f(value of a process) is given for each process in order. For a team of this process: its own value alone.
template <class T, class F>
void for_each_process(const team& t, const T& mine, const char* what, F f) {
  static_assert(std::is_trivially_copyable_v<T>);
  if (!spans_processes(t)) return f(mine);
  const auto all = from_all_processes(t, std::as_bytes(std::span(&mine, 1)), what);
  for (std::size_t at = 0; at < all.size(); at += sizeof(T)) {
    T theirs = mine;
    std::memcpy(&theirs, all.data() + at, sizeof(T));
    f(theirs);
  }
}

}  // namespace ferry::detail
