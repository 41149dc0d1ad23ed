// Exchange of small data between all processes of a team, on the CPU, and operations that they execute together.
#pragma once
#include <cstring>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "ferry/core/detail/support/function_ref.hpp"
#include "ferry/core/detail/support/internal.hpp"
#include "ferry/multigpu/team.hpp"

namespace ferry::inline FERRY_ABI::detail {

inline bool spans_processes(const team& t) { return t.local_size() < t.size(); }

// Returns the bytes of every process, in the order of processes. All processes must call it, with the same number of
// bytes. Blocks until all have called it. Throws process_error.
std::vector<std::byte> from_all_processes(const team& t, std::span<const std::byte> mine, const char* what);

// As from_all_processes, for any number of bytes from each process: `all` receives them one after the other, in every
// process. Throws invalid_argument, in all processes, if the bytes do not fill `all` exactly.
void join_processes(const team& t, std::span<const std::byte> mine, std::span<std::byte> all, const char* what);

// Calls f in every process of the team, and blocks until all calls have ended. If one throws, all processes throw, and
// the team remains usable. A process whose f failed rethrows its exception; the others throw an error that quotes the
// first one. Throws process_error.
void together(const team& t, const std::string& what, function_ref<void()> f);

// Calls f(value of a process) for each process, in order. For a team of this process only, calls f with its own value.
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

}  // namespace ferry::inline FERRY_ABI::detail
