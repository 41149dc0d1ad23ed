// Checks that all processes make the same calls.
#include <algorithm>
#include <cstring>

#include "ferry/core/detail/support/concat.hpp"
#include "ferry/core/error.hpp"
#include "mpi_transport.hpp"

namespace ferry::inline FERRY_ABI::detail::mpi {
namespace {

// Values that must be equal in all processes; plain bytes.
struct header {
  std::uint64_t kind, type, op, root, count, element_bytes, number, of;
  bool operator==(const header&) const = default;
};

std::string in_words(const header& h) {
  const auto kind = static_cast<collective_kind>(h.kind);
  std::string text = name_of(kind);
  if (h.of == 0) return "no collective";
  text += concat(" of ", h.count, " elements of ", name_of(static_cast<element_type>(h.type)), " (", h.element_bytes,
                 " bytes)");
  using enum collective_kind;
  if (kind == all_reduce || kind == reduce || kind == reduce_scatter)
    text += concat(", ", name_of(static_cast<reduction>(h.op)));
  if (kind == reduce || kind == broadcast || kind == gather || kind == scatter) text += concat(", root ", h.root);
  return concat(text, ", number ", h.number + 1, " of ", h.of, " in its group");
}

}  // namespace

rank_table::rank_table(const rank_layout& team, detail::processes& all) {
  const std::uint64_t mine = team.members.size();
  const auto counts = all.all_gather(std::as_bytes(std::span(&mine, 1)), "making a team of all processes");
  first.push_back(0);
  for (std::size_t p = 0; p < all.size(); ++p) {
    std::uint64_t n = 0;
    std::memcpy(&n, counts.data() + p * sizeof n, sizeof n);
    first.push_back(first.back() + n);
  }
}

std::size_t rank_table::process_of(std::size_t rank) const {
  return static_cast<std::size_t>(std::upper_bound(first.begin(), first.end(), rank) - first.begin()) - 1;
}

void need_same_calls(std::span<const collective_call> calls, const rank_table& ranks, processes& all) {
  const std::size_t members = ranks.members(all.rank());
  std::vector<header> mine;
  for (std::size_t i = 0; i < calls.size();) {
    const collective_call& c = calls[i];
    if (c.kind == collective_kind::send || c.kind == collective_kind::receive) {
      ++i;
      continue;
    }
    mine.push_back({static_cast<std::uint64_t>(c.kind), static_cast<std::uint64_t>(c.type),
                    static_cast<std::uint64_t>(c.op), c.other, c.count, c.element_bytes, mine.size(), 0});
    i += members;
  }
  for (header& h : mine) h.of = mine.size();
  // The first header has the number of collectives.
  for (std::size_t i = 0, most = std::max<std::size_t>(mine.size(), 1); i < most; ++i) {
    const header h = i < mine.size() ? mine[i] : header{};
    const auto bytes = all.all_gather(std::as_bytes(std::span(&h, 1)), in_words(h));
    std::vector<header> theirs(all.size());
    std::memcpy(theirs.data(), bytes.data(), bytes.size());
    for (std::size_t p = 1; p < all.size(); ++p)
      if (!(theirs[p] == theirs[0]))
        throw invalid_argument(concat("the processes of a team call different collectives: process 0 ",
                                      in_words(theirs[0]), "; process ", p, " ", in_words(theirs[p]),
                                      ". All must make the same calls in the same order"));
    most = std::max<std::size_t>(theirs[0].of, 1);
  }
}

}  // namespace ferry::inline FERRY_ABI::detail::mpi
