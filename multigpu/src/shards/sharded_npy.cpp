#include "ferry/multigpu/sharded_npy.hpp"

#include <cstdint>

namespace ferry::inline FERRY_ABI::detail {

std::string draft_for_all(const team& t, const npy_writer* mine, std::size_t& elements_at, const std::string& what) {
  struct place {
    std::uint64_t elements_at, name_bytes;
  };
  const std::string name = mine ? mine->draft() : std::string();
  std::string all;
  for_each_process(t, place{mine ? mine->written() : 0, name.size()}, what.c_str(), [&](const place& p) {
    elements_at += p.elements_at;  // of one process only
    all.resize(all.size() + p.name_bytes);
  });
  join_processes(t, std::as_bytes(std::span(name)), std::as_writable_bytes(std::span(all)), what.c_str());
  return all;
}

}  // namespace ferry::inline FERRY_ABI::detail
