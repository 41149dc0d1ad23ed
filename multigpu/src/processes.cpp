#include "processes.hpp"

#include <cstdlib>
#include <cstring>

namespace ferry {

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

bool started_by_a_launcher() {
  for (const char* name : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "PMI_RANK", "PMIX_RANK", "MPI_LOCALNRANKS"})
    if (std::getenv(name)) return true;
  return false;
}

}  // namespace ferry
