#include "processes/processes.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <exception>

#include "ferry/core/detail/support/concat.hpp"
#include "ferry/core/detail/support/environment.hpp"
#include "ferry/core/error.hpp"

namespace ferry::inline FERRY_ABI::detail {

std::vector<std::byte> processes::all_gather(std::span<const std::byte> mine, std::string_view what) {
  std::vector<std::byte> all(mine.size() * size());
  std::vector<outgoing> out;
  std::vector<incoming> in;
  for (std::size_t p = 0; p < size(); ++p) {
    std::byte* const to = all.data() + p * mine.size();
    if (p == rank()) {
      if (!mine.empty()) std::memcpy(to, mine.data(), mine.size());
      continue;
    }
    out.push_back({p, usual_tag, mine.data(), mine.size()});
    in.push_back({p, usual_tag, to, mine.size()});
  }
  exchange(out, in, what);
  return all;
}

void processes::broadcast(std::span<std::byte> bytes, std::size_t root, std::string_view what) {
  std::vector<outgoing> out;
  std::vector<incoming> in;
  if (rank() != root)
    in.push_back({root, usual_tag, bytes.data(), bytes.size()});
  else
    for (std::size_t p = 0; p < size(); ++p)
      if (p != root) out.push_back({p, usual_tag, bytes.data(), bytes.size()});
  exchange(out, in, what);
}

void processes::together(const std::string& what, function_ref<void()> f) {
  using verdict = std::array<char, 500>;  // error of a process' call; empty: none
  std::exception_ptr own;
  verdict mine{};
  const auto failed = [&](const char* why) {
    own = std::current_exception();
    std::strncpy(mine.data(), *why ? why : "for an unknown reason", mine.size() - 1);
  };
  try {
    f();
  } catch (const std::exception& e) {
    failed(plain_what(e));
  } catch (...) {
    failed("with what is no std::exception");
  }
  const auto all = all_gather(std::as_bytes(std::span(mine)), what);
  if (own) std::rethrow_exception(own);
  for (std::size_t p = 0; p < size(); ++p) {
    verdict theirs{};
    std::memcpy(theirs.data(), all.data() + p * theirs.size(), theirs.size());
    if (theirs[0] != 0) throw error(concat(what, ": process ", p, " failed: ", theirs.data()));
  }
}

std::string name_processes(std::span<const std::size_t> ranks) {
  std::string text = ranks.size() == 1 ? "process " : "processes ";
  for (std::size_t i = 0; i < ranks.size(); ++i) text += concat(i ? ", " : "", ranks[i]);
  return text;
}

std::size_t processes::local_rank() const {
  const auto here = neighbours();
  return static_cast<std::size_t>(std::find(here.begin(), here.end(), rank()) - here.begin());
}

std::vector<std::size_t> processes_beside(std::size_t rank, std::span<const std::string> machines) {
  std::vector<std::size_t> beside;
  for (std::size_t p = 0; p < machines.size(); ++p)
    if (machines[p] == machines[rank]) beside.push_back(p);
  return beside;
}

bool started_by_a_launcher() {
  for (const char* name : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "PMI_RANK", "PMIX_RANK", "MPI_LOCALNRANKS"})
    if (environment(name)) return true;
  return false;
}

}  // namespace ferry::inline FERRY_ABI::detail
